import assert from 'node:assert/strict';
import {
  generatedNodes,
  generatedTreeRow,
  generationOfRow,
  type GeneratedNode,
  type ShownGenerated,
} from '../../../../src/editor/generate/generatedTreeRow';
import type { Generation } from '../../../../src/editor/generate/generations';

const run = (id: string, method: string): Generation => ({
  ...{ id, candidates: new Map(), acts: [], stages: [], sessions: [], writing: new Map() },
  ...{ state: 'partial', chosen: undefined, failure: undefined, cost: undefined },
  record: {
    ...{ method, model: 'openai/some', samples: 1, contextTokens: 1, maxOutputTokens: 1 },
    ...{ engine: 'local', timeoutSeconds: 1, startedAt: '2026-11-23T00:00:00Z' },
  },
});
const shown = (tests: readonly Generation[], fixes: readonly Generation[]): ShownGenerated => ({
  tests: {
    generations: tests,
    knowledge: { gradeOf: () => undefined, isShown: () => false },
  },
  fixes: { generations: fixes, testsOn: () => undefined },
});
const labels = (of: ShownGenerated, node?: GeneratedNode): string[] =>
  generatedNodes(of, node).map((each) => generatedTreeRow(of, each).label);

describe('the Generated view', () => {
  const tests = [run('t1', 'zero-shot'), run('t2', 'zero-shot-plus')];
  const fixes = [run('f1', 'rag')];
  const both = shown(tests, fixes);

  it('has a section for each kind of run that exists', () => {
    assert.deepEqual(labels(shown([], [])), []);
    assert.deepEqual(labels(shown(tests, [])), ['Tests']);
    assert.deepEqual(labels(shown([], fixes)), ['Fixes']);
    const rows = generatedNodes(both).map((node) => generatedTreeRow(both, node));
    assert.deepEqual(
      rows.map(({ label, description, contextValue }) => [label, description, contextValue]),
      [
        ['Tests', '2 runs', 'section.tests'],
        ['Fixes', '1 run', 'section.fixes'],
      ],
    );
  });

  it('has the runs of a kind in its section, with what menus test', () => {
    const [ofTests, ofFixes] = generatedNodes(both);
    assert.deepEqual(labels(both, ofTests), ['ZeroShot', 'ZeroShotPlus']);
    assert.deepEqual(labels(both, ofFixes), ['RAG']);
    const [test] = generatedNodes(both, ofTests);
    const [fix] = generatedNodes(both, ofFixes);
    assert.ok(test !== undefined && fix !== undefined);
    assert.equal(generatedTreeRow(both, test).contextValue, 'tests.partial');
    assert.equal(generatedTreeRow(both, fix).contextValue, 'fixes.partial');
  });

  it('takes the run of a command from a row of its kind, else the last one', () => {
    const [, second] = generatedNodes(both, { kind: 'section', of: 'tests' });
    const [fix] = generatedNodes(both, { kind: 'section', of: 'fixes' });
    assert.equal(generationOfRow('tests', [undefined, second], tests)?.id, 't2');
    assert.equal(generationOfRow('tests', [undefined, fix], tests)?.id, 't1');
    assert.equal(generationOfRow('fixes', [second, fix], fixes)?.id, 'f1');
    assert.equal(generationOfRow('fixes', [second], []), undefined);
  });
});
