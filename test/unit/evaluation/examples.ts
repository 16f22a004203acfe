import type { CandidateResult } from '../../../src/evaluation/candidateResult';
import type { RunRecord } from '../../../src/engine/engine';
import type { ExecutionTrace } from '../../../src/engine/tracer/readTrace';
import { changeCoverage } from '../../../src/domain/changeCoverage';
import { gradeHarness } from '../../../src/domain/harness';
import { pairResults } from '../../../src/domain/outcome';
import { gradeStrict } from '../../../src/domain/verdict';

/** A run that ended by itself without any records, with a test's changes. */
export function runRecord(
  more: Partial<Omit<RunRecord, 'trace'>> & { readonly trace?: Partial<ExecutionTrace> } = {},
): RunRecord {
  return {
    ending: 'exited',
    exitCode: 0,
    killedBy: undefined,
    startError: undefined,
    log: '',
    seconds: 1.25,
    ...more,
    trace: {
      processes: [],
      techniques: ['monitoring'],
      counts: [],
      outcomes: [],
      collected: [],
      collecting: [],
      sessions: [{ runner: 'pytest' }],
      files: [],
      elsewhere: [],
      acts: [],
      problems: [],
      contradictions: [],
      unfinished: [],
      ...more.trace,
    },
  };
}

/** A candidate with one F→P and one P→P that covers one of two executable lines. */
export function candidateResult(more: Partial<CandidateResult> = {}): CandidateResult {
  const own = 'tests/test_cat.py::test_purr';
  const candidate = pairResults(
    [
      { test: own, outcome: 'failed', exception: 'AssertionError', message: '1 != 2' },
      { test: `${own}_twice`, outcome: 'passed' },
    ],
    [
      { test: own, outcome: 'passed', seconds: 0.5 },
      { test: `${own}_twice`, outcome: 'passed' },
    ],
  );
  const ownFunctions = new Set([own]);
  const nothing = {
    candidate: new Map(),
    base: new Map(),
    goldenBase: new Map(),
    golden: new Map(),
  };
  const at = (test: string) =>
    new Map([['cat.py', new Map([[2, { shared: 0, byTest: new Map([[test, 3]]) }]])]]);
  const line = { path: 'cat.py', line: 2, text: '    return 2' };
  const coverage = changeCoverage({
    removed: [line],
    added: [line, { ...line, line: 3 }],
    base: { ...nothing, golden: at('g') },
    fixed: { ...nothing, golden: at('g'), candidate: at(own) },
    ownFunctions,
  });
  const statuses = { pre: new Map([[own, 'FAILED']]), post: new Map([[own, 'PASSED']]) };
  const runs = (side: 'pre' | 'post') => ({ statuses: statuses[side], counts: new Map() });
  const none = { statuses: new Map(), counts: new Map() };
  const summary = {
    ending: 'exited',
    exit_code: 1,
    seconds: 0.7,
    runner: 'pytest',
    techniques: ['monitoring'],
    problems: [],
    log: 'FAILED tests/test_cat.py::test_purr',
  };
  return {
    instance: 'octo__cat-1',
    model: 'some/model',
    source: { kind: 'snapshot', from: '/cat-1.0' },
    diagnostics: [],
    notes: ['edits outside tests: setup.py'],
    findings: [],
    patch: 'diff --git a/tests/test_cat.py b/tests/test_cat.py\n',
    ownTests: [own],
    tests: candidate,
    strict: gradeStrict({ candidate, base: [], ownFunctions }),
    harness: gradeHarness({
      removed: [],
      added: [],
      candidate: { pre: runs('pre'), post: runs('post') },
      golden: { pre: none, post: none },
      base: { pre: none, post: none },
    }),
    difference: undefined,
    changeCoverage: coverage,
    goldenCoverage: coverage,
    runs: { base: summary, fixed: { ...summary, exit_code: 0, log: 'PASSED' } },
    ...more,
  };
}
