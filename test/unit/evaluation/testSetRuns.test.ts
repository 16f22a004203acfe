import assert from 'node:assert/strict';
import type { Outcome, Side, TestResult } from '../../../src/domain/outcome';
import { gradeStrict } from '../../../src/domain/verdict';
import type { TestPlan } from '../../../src/engine/runners';
import type { CandidateLines } from '../../../src/evaluation/coverage/candidateLines';
import type { OwnTests } from '../../../src/evaluation/prepareCandidate';
import type { InstanceSession } from '../../../src/evaluation/session';
import {
  coverageOf,
  sideCounts,
  stoppedBy,
  strictEvidence,
  transitionsOf,
  type SetRun,
} from '../../../src/evaluation/testSetRuns';
import { runRecord } from './examples';

const file = 'tests/test_a.py';
const own = `${file}::test_own`;
const old = `${file}::test_old`;

const plan = (...files: string[]): TestPlan => ({
  ...{ runner: 'pytest', args: [], env: {}, cwd: '.', files, notRun: [] },
});
const unmoved: CandidateLines = { with: (at) => at, without: (at) => at };
type Record = Parameters<typeof runRecord>[0];

const setRun = (base: Record, fixed: Record, more: Partial<SetRun> = {}): SetRun => ({
  ...{ plan: plan(file), faults: {}, environment: 'e', notes: [] },
  lines: { base: unmoved, fixed: unmoved },
  records: { base: runRecord(base), fixed: runRecord(fixed) },
  ...more,
});

/** What a side recorded: outcomes, and the tests that ran line 1 of `cat.py`. */
const ran = (
  outcomes: Readonly<{ [test: string]: Outcome }>,
  ...by: readonly string[]
): Record => ({
  // pytest ends with 1 where a test fails.
  exitCode: Object.values(outcomes).some((each) => each === 'failed' || each === 'error') ? 1 : 0,
  trace: {
    outcomes: Object.entries(outcomes).map(([test, outcome]): TestResult => ({ test, outcome })),
    counts:
      by.length === 0
        ? []
        : [{ path: 'cat.py', line: 1, shared: 0, byTest: new Map(by.map((test) => [test, 1])) }],
  },
});

const known = (more: Partial<OwnTests> = {}): OwnTests => ({
  ...{ functions: [own], removed: [], all: [own, old], before: [old], filesOfR: [file] },
  ...{ renamed: new Map(), lost: { removed: [], emptied: [] }, moved: new Map() },
  ...more,
});

describe('the evidence of a candidate', () => {
  it('takes a test that only appears in a run for its own, unless R has it', () => {
    const made = `${file}::test_made`;
    const skipped = `${file}::test_skipped`;
    const candidate = setRun(
      ran({ [own]: 'failed', [old]: 'passed', [made]: 'failed', [skipped]: 'failed' }),
      ran({ [own]: 'passed', [old]: 'passed', [made]: 'passed', [skipped]: 'failed' }),
    );
    const base = setRun(ran({ [old]: 'passed' }), ran({ [old]: 'passed' }));
    const evidence = strictEvidence(candidate, base, known({ before: [old, skipped] }));
    assert.deepEqual([...evidence.ownFunctions], [own, made]);
  });

  it('says where its run on R∘X* broke off, not where that on R did', () => {
    const cut = { killedBy: 'SIGKILL' } as const;
    const base = setRun(ran({}), ran({}));
    const of = (onR: Record, onFixed: Record) =>
      strictEvidence(setRun(onR, onFixed), base, known()).brokenOff;
    assert.match(of(ran({ [own]: 'passed' }), { ...ran({}), ...cut }) ?? '', /killed by SIGKILL/);
    assert.equal(of({ ...ran({}), ...cut }, ran({ [own]: 'passed' })), undefined);
  });

  it('names the side on which a limit stopped it, R first', () => {
    const stopped = { ending: 'timed out', seconds: 9 } as const;
    const of = (base: Record, fixed: Record) =>
      stoppedBy(setRun(base, fixed).records).stopped?.explanation;
    const why = 'stopped at the time limit after 9 s';
    assert.equal(of(ran({}), stopped), `on R∘X*, ${why}`);
    assert.equal(of(stopped, stopped), `on R, ${why}`);
    assert.equal(of(ran({}), ran({})), undefined);
    const verdict = gradeStrict(
      strictEvidence(
        setRun(ran({ [own]: 'failed' }), { ...ran({ [own]: 'passed' }), ...stopped }),
        setRun(ran({}), ran({})),
        known(),
      ),
    );
    assert.equal(verdict.reason, 'timed out');
  });

  it('has tests of files that cannot run here as missing, not as failing', () => {
    const broken = setRun({ exitCode: 4 }, { exitCode: 4 });
    const tests = [own, 'tests/test_b.py::test_b'];
    assert.deepEqual(
      transitionsOf(broken, tests).map(({ test, transition }) => [test, transition]),
      [[own, 'F→F']],
    );
  });
});

describe('the counts of changed lines', () => {
  const line = { path: 'cat.py', line: 1, text: 'x' };
  const session = (removed: (typeof line)[], added: (typeof line)[]): InstanceSession =>
    ({ changed: { removed, added } }) as unknown as InstanceSession;
  const both = session([line], [line]);
  const none = setRun(ran({}), ran({}));
  const tests = { own: new Set([own]), removed: new Set<string>() };
  const statesOf = (
    candidate: SetRun,
    base: SetRun,
    golden: { golden: SetRun; goldenBase: SetRun },
  ): readonly string[] =>
    coverageOf(both, candidate, base, golden, tests).lines.map(
      ({ change, state }) => `${change}: ${state}`,
    );

  it('are those of R for removed lines, and of R∘X* for added ones', () => {
    const golden = { golden: setRun(ran({}, 'g'), ran({}, 'g')), goldenBase: none };
    const onFixed = setRun(ran({}), ran({}, own));
    assert.deepEqual(statesOf(onFixed, none, golden), ['removed: missed', 'added: newly covered']);
    const onR = setRun(ran({}, own), ran({}));
    assert.deepEqual(statesOf(onR, none, golden), ['removed: newly covered', 'added: missed']);
  });

  it('take what the files of T* ran without T* for what T^R runs', () => {
    const golden = { golden: none, goldenBase: setRun(ran({}, 'g'), ran({})) };
    assert.deepEqual(statesOf(none, none, golden), [
      'removed: already covered',
      'added: not executable',
    ]);
  });

  it('stand where a candidate that edits the code moves them, on each side by itself', () => {
    const golden = { golden: setRun(ran({}, 'g'), ran({}, 'g')), goldenBase: none };
    // On R∘X* the candidate puts ten lines before the line, so that line 1 there is its own.
    const gone: CandidateLines = { with: () => undefined, without: () => undefined };
    const moved = setRun(ran({}, own), ran({}, own), { lines: { base: unmoved, fixed: gone } });
    assert.deepEqual(statesOf(moved, none, golden), ['removed: newly covered', 'added: missed']);
  });

  it('are searched for an F→P test by side, with the lines of that side', () => {
    const counts = sideCounts(
      session([line], [{ ...line, line: 7 }]),
      setRun(ran({}, 'on R'), ran({}, 'on R∘X*')),
      none,
      { golden: none, goldenBase: none },
    );
    const seen = (side: Side): unknown => {
      const at = counts[side === 'base' ? 0 : 1];
      return [
        at?.lines.map((each) => each.line),
        [...(at?.candidate.get('cat.py')?.get(1)?.byTest.keys() ?? [])],
      ];
    };
    assert.deepEqual(seen('base'), [[1], ['on R']]);
    assert.deepEqual(seen('fixed'), [[7], ['on R∘X*']]);
  });
});
