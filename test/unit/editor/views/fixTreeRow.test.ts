import assert from 'node:assert/strict';
import {
  distinctFixes,
  fixNodes,
  fixTreeRow,
  type FixNode,
  type ShownFixes,
  placesOfStage,
} from '../../../../src/editor/generate/fixTreeRow';
import type { Generation } from '../../../../src/editor/generate/generations';
import type { RepairRanking } from '../../../../src/method/method';
import type { MethodCandidate } from '../../../../src/method/method';

const step = { key: 'k', at: '2026-11-23T00:00:00Z', instance: 'octo__cat-1' };

const fix = (sample: number, patch: string, ranking?: RepairRanking): MethodCandidate => ({
  sample,
  answer: {
    ...step,
    ...{ step: 'answer', purpose: 'fix', method: 'rag', model: 'm', sample, prompt: '' },
    ...{ text: 'x', finish: 'stop', inputTokens: 1, outputTokens: 1, seconds: 1 },
    parameters: { temperature: 0, maxOutputTokens: 1 },
  },
  patch: { ...step, step: 'patch', applies: patch !== '', patch, ownTests: [], diagnostics: [] },
  ...(ranking !== undefined && { ranking }),
});

const generation = (more: Partial<Generation> = {}): Generation => ({
  ...{
    id: 'g',
    acts: [],
    stages: [],
    sessions: [],
    writing: new Map(),
    state: 'done',
    failure: undefined,
  },
  cost: undefined,
  record: {
    ...{ method: 'rag', model: 'openai/some', samples: 1, contextTokens: 1, maxOutputTokens: 1 },
    ...{ engine: 'local', timeoutSeconds: 1, startedAt: step.at },
  },
  candidates: new Map(),
  chosen: undefined,
  ...more,
});
const of = (fixes: readonly MethodCandidate[], more: Partial<Generation> = {}): Generation =>
  generation({ candidates: new Map(fixes.map((each) => [each.sample, each])), ...more });
const shown = (
  generations: readonly Generation[],
  testsOn: ShownFixes['testsOn'] = () => undefined,
): ShownFixes => ({ generations, testsOn });
const rowOf = (of: ShownFixes, node: FixNode) => fixTreeRow(of, node);

describe('rows of fixes in the Generated view', () => {
  it('lists each different fix once, best first, and none that does not apply', () => {
    const alike = { votes: 2, regressions: [] };
    const fixes = [
      fix(1, ''),
      fix(2, 'b', { ...alike, rank: 3 }),
      fix(3, 'a', { ...alike, rank: 1 }),
      fix(4, 'a', { ...alike, rank: 2 }),
    ];
    assert.deepEqual(
      distinctFixes(of(fixes)).map(({ sample }) => sample),
      [3, 2],
    );
    assert.deepEqual(
      distinctFixes(of([fix(2, 'y'), fix(1, 'x')])).map(({ sample }) => sample),
      [1, 2],
      'without a ranking',
    );
  });

  it('says why a fix has its place', () => {
    const ranking = {
      ...{ rank: 1, votes: 3, regressions: ['tests/a.py::test_a'] },
      reproduction: 'Issue resolved',
    } as const;
    const run = of([fix(1, 'a', ranking), fix(2, 'b', { rank: 2, votes: 1 })], {
      chosen: { sample: 1, why: 'fewest regressions' },
    });
    const row = rowOf(shown([run]), { kind: 'fix', generation: run, fix: fix(1, 'a', ranking) });
    assert.equal(
      row.description,
      '3 of 2 alike · 1 regression · its script reports: Issue resolved',
    );
    assert.match(row.tooltip ?? '', /^Chosen: fewest regressions\n/);
    assert.match(row.tooltip ?? '', /fails with it: tests\/a\.py::test_a/);
    assert.equal(row.icon?.id, 'star-full');
    assert.match(row.spoken ?? '', /chosen\. 3 of 2 alike/);
  });

  it('shows what the tests of the author do on a fix', () => {
    const one = fix(1, 'a');
    const run = of([one]);
    const tests = [
      { test: 'tests/a.py::A::test_a', base: 'fails', fixed: 'passes' },
      { test: 'tests/a.py::A::test_b', base: 'fails', fixed: undefined },
    ] as const;
    const view = shown([run], (patch) =>
      patch === 'a' ? { found: { tests }, isCurrent: true } : undefined,
    );
    const node: FixNode = { kind: 'fix', generation: run, fix: one };
    assert.equal(rowOf(view, node).description, '1 of 2 of your tests pass');
    assert.deepEqual(
      fixNodes(view, node).map((each) => {
        const { label, description, icon } = rowOf(view, each);
        return [label, description, icon?.id];
      }),
      [
        ['test_a', 'A · with the fix: passes; on R: fails', 'pass'],
        ['test_b', 'A · with the fix: did not run; on R: fails', 'circle-slash'],
      ],
    );
    const edited = shown([run], () => ({ found: { tests }, isCurrent: false }));
    assert.equal(
      rowOf(edited, node).description,
      'out of date, run again · was 1 of 2 of your tests pass',
    );
    const [stale] = fixNodes(edited, node).map((each) => rowOf(edited, each));
    assert.equal(stale?.icon?.id, 'history', 'neither green nor red');
    assert.match(
      stale?.description ?? '',
      /^A · out of date, run again · was with the fix: passes;/,
    );
    const broken = shown([run], () => ({ found: { problem: 'no test ran' }, isCurrent: true }));
    assert.equal(rowOf(broken, node).description, 'your tests could not run');
    assert.deepEqual(fixNodes(broken, node), []);
  });

  it('says on how many fixes of a run all of the tests pass', () => {
    const run = of([fix(1, 'a'), fix(2, 'b'), fix(3, 'c')]);
    const tests = (fixed: 'passes' | 'fails') => ({
      found: { tests: [{ test: 't', base: 'fails' as const, fixed }] },
      isCurrent: true,
    });
    const described = (...ran: readonly (readonly [string, 'passes' | 'fails'])[]) => {
      const known = new Map(ran.map(([patch, fixed]) => [patch, tests(fixed)]));
      const node: FixNode = { kind: 'generation', of: 'fixes', generation: run };
      return rowOf(
        shown([run], (patch) => known.get(patch)),
        node,
      ).description;
    };
    assert.equal(described(['a', 'passes']), 'some · 3 fixes', 'one says so itself');
    assert.equal(
      described(['a', 'passes'], ['b', 'fails']),
      'some · 3 fixes · all your tests pass with 1 of 2',
    );
  });

  it('has what a run cost, and what of it are vectors', () => {
    const run = generation({
      cost: {
        ...{ requests: 3, inputTokens: 900, embeddedTokens: 400, outputTokens: 100 },
        ...{ reasoningTokens: 0, cachedInputTokens: 0, emptyAnswers: 0, isEstimate: false },
        dollars: 0.5,
      },
    });
    const tooltipOf = (of: Generation): string =>
      rowOf(shown([of]), { kind: 'generation', of: 'fixes', generation: of }).tooltip ?? '';
    assert.match(tooltipOf(run), /\n3 requests, 1000 tokens, \$0\.5000$/);
    const record = { ...run.record, method: 'agentless', embedding: { name: 'openai/e' } };
    assert.match(
      tooltipOf({ ...run, record }),
      /\$0\.5000\n400 of the tokens are embeddings by openai\/e$/,
    );
  });

  it('leads from retrieval without an embedding model to its setting', () => {
    const stage = { ...step, ...({ step: 'stage', stage: 'retrieval' } as const), output: [] };
    const run = generation({ stages: [stage] });
    const row = rowOf(shown([run]), { kind: 'stage', generation: run, stage });
    assert.equal(row.description, 'skipped: no embedding model is set');
    assert.deepEqual(
      [row.command?.command, row.command?.arguments],
      ['swt-bench.openSetting', ['swt-bench.repair.embedding.model']],
    );
    const record = { ...run.record, embedding: { name: 'openai/e' } };
    const withModel = { ...run, record };
    const other = rowOf(shown([withModel]), { kind: 'stage', generation: withModel, stage });
    assert.deepEqual(
      [other.label, other.description, other.command],
      ['no retrieved files', '', undefined],
    );
    const given = { ...stage, isGiven: true as const, output: ['a.py'] };
    const told = rowOf(shown([run]), { kind: 'stage', generation: run, stage: given });
    assert.equal(told.description, 'given · 1 place');
  });

  it('says in words that a stage has found nothing, and how many stages there are', () => {
    const none = (stage: string) => ({ ...step, step: 'stage' as const, stage, output: [] });
    const run = generation({ stages: [none('folders'), none('regression')] });
    const rows = fixNodes(shown([run]), { kind: 'stages', generation: run }).map((node) => {
      const { label, description } = rowOf(shown([run]), node);
      return [label, description];
    });
    assert.deepEqual(rows, [
      ['no folders', ''],
      ['regression', 'none'],
    ]);
    const { label, description } = rowOf(shown([run]), { kind: 'stages', generation: run });
    assert.deepEqual([label, description], ['2 stages', undefined]);
  });

  it('tells the output of a stage in words where it lists no places', () => {
    const telling = (stage: string, output: unknown) => ({
      ...{ ...step, step: 'stage' as const, stage, output },
    });
    const run = generation({
      stages: [
        telling('repair', [{ sample: 1, set: 1 }]),
        telling('regression', { files: ['tests/test_a.py'], tests: 12, isAll: true }),
        telling('script on R', 'Issue\n reproduced'),
      ],
    });
    const view = shown([run]);
    assert.deepEqual(
      fixNodes(view, { kind: 'stages', generation: run }).map(
        (node) => rowOf(view, node).description,
      ),
      ['1 entry', 'files 1 · tests 12 · isAll true', 'Issue reproduced'],
    );
  });

  it('links the places that stages have found', () => {
    const stage = {
      ...step,
      ...({ step: 'stage', stage: 'lines' } as const),
      output: [
        {
          path: 'a.py',
          intervals: [
            [3, 5],
            [9, 9],
          ],
        },
        'b.py',
      ],
    };
    const run = generation({ stages: [stage], state: 'running' });
    const view = shown([run]);
    const [stages] = fixNodes(view, { kind: 'generation', of: 'fixes', generation: run });
    assert.ok(stages?.kind === 'stages');
    assert.equal(rowOf(view, stages).children, 'unfolded', 'while it runs');
    const [node] = fixNodes(view, stages);
    assert.ok(node);
    assert.equal(rowOf(view, node).description, '3 places');
    assert.deepEqual(
      fixNodes(view, node).map((each) => {
        const { label, description } = rowOf(view, each);
        return [label, description];
      }),
      [
        ['a.py', 'lines 3–5'],
        ['a.py', 'line 9'],
        ['b.py', undefined],
      ],
    );
  });
});

describe('the places of a stage', () => {
  it('are files, lines and names, each once, and nothing else', () => {
    assert.deepEqual(
      placesOfStage([
        ...['a.py', 'a.py', 7, null, { file: 'x' }],
        { path: 'b.py', score: 0.5 },
        { path: 'c.py', kind: 'class', name: 'C' },
        [{ path: 'd.py', intervals: [[1, 2]] }],
      ]),
      [
        { path: 'a.py' },
        { path: 'b.py' },
        { path: 'c.py', name: 'C' },
        { path: 'd.py', lines: [1, 2] },
      ],
    );
    assert.deepEqual(placesOfStage({ path: 'a.py' }), []);
    assert.equal(placesOfStage(Array.from({ length: 900 }, (_, at) => `${at}.py`)).length, 200);
  });
});
