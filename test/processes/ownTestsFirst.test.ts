import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import type { Instance } from '../../src/domain/instance';
import { Cancelled, silent } from '../../src/domain/work';
import { localEngine } from '../../src/engine/local/localEngine';
import { evaluateCandidate, type CandidateOptions } from '../../src/evaluation/candidate';
import type { FirstResult } from '../../src/evaluation/firstResult';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession, type TestSet } from '../../src/evaluation/session';
import { bareEnvironment, pytestEnvironment } from '../environments';
import { loadParser } from '../unit/python/loadParser';
import { useExample, type Example } from './exampleRepository';
import { environments } from '../../src/environments/environments';

const tracer = resolve('src/engine/tracer');

/** A patch that appends lines to R's `tests/test_cat.py`. */
const appended = (...lines: string[]): string => `diff --git a/tests/test_cat.py b/tests/test_cat.py
--- a/tests/test_cat.py
+++ b/tests/test_cat.py
@@ -1,2 +1,${lines.length + 2} @@
 def test_purr():
     pass
${lines.map((line) => `+${line}\n`).join('')}`;

/** A patch that adds a file. */
const added = (path: string, ...lines: string[]): string => `diff --git a/${path} b/${path}
new file mode 100644
--- /dev/null
+++ b/${path}
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;

const two = ['import cat', 'def test_two():', '    assert cat.purr() == 2'];
const goldenTests = added('tests/test_golden.py', ...two);

describe('the tests of a candidate, before the files they are in', function () {
  let example: Example;
  let python = '';
  let storage = '';
  useExample((made) => (example = made));
  before(async function () {
    python = await pytestEnvironment(this);
  });
  beforeEach(async () => {
    storage = await example.storage();
  });

  /** A session that records which runs it is asked for, each of which took some seconds. */
  const open = async (
    ran: TestSet[],
    more: Partial<Instance> = {},
    interpreter = python,
    seconds = 5,
  ): Promise<InstanceSession> => {
    const session = await openSession({
      instance: example.instance({ goldenTests, ...more }),
      trees: await example.prepare({ kind: 'commit', from: example.origin }, storage),
      engine: await localEngine({ environments, storage, tracer, python: interpreter }),
      python: await loadParser(),
      store: runStore(storage),
    });
    return {
      ...session,
      async run(set, options) {
        ran.push(set);
        const run = await session.run(set, options);
        const { base, fixed } = run.records;
        if (base === undefined || fixed === undefined) return run;
        return { ...run, records: { base: { ...base, seconds }, fixed: { ...fixed, seconds } } };
      },
    };
  };
  const request = (text: string) =>
    ({ model: 'workspace', text, format: 'unified', mode: 'unit-test' }) as const;
  const usual = { timeoutSeconds: 60, reporter: silent, reuse: false };

  /** Evaluates candidates one after the other in one session. */
  const evaluate = async (
    candidates: readonly string[],
    more: {
      instance?: Partial<Instance>;
      interpreter?: string;
      options?: CandidateOptions;
      seconds?: number;
    } = {},
  ) => {
    const ran: TestSet[] = [];
    const session = await open(ran, more.instance, more.interpreter, more.seconds);
    const firsts: FirstResult[] = [];
    const results = [];
    try {
      for (const text of candidates) {
        results.push(
          await evaluateCandidate(session, request(text), {
            ...usual,
            onFirst: (first) => {
              firsts.push(first);
              // At this moment no other run of the candidate has begun.
              assert.equal(ran.at(-1)?.patch, text);
            },
            ...more.options,
          }),
        );
      }
    } finally {
      await session.dispose();
    }
    return { firsts, results, ran };
  };
  const transitions = (tests: FirstResult['tests']): string[] =>
    tests.map((each) => `${each.test} ${each.transition}`);

  describe('of a new file and of one of R', () => {
    const fresh = added('tests/test_new.py', ...two);
    const candidate = appended(
      'import cat, pytest',
      "@pytest.mark.parametrize('n', [1, 2])",
      'def test_each(n):',
      '    assert cat.purr() == n',
      'class TestMore:',
      '    def test_two(self):',
      '        assert cat.purr() == 2',
    );
    let all: Awaited<ReturnType<typeof evaluate>>;
    before(async () => {
      storage = await example.storage();
      all = await evaluate([fresh, candidate, candidate]);
    });

    it('give a preliminary verdict, with ΔC once golden and base runs are known', () => {
      const { ran, results } = all;
      const firsts = all.firsts.slice(1);
      const own = [
        ['tests/test_cat.py::test_each', 'tests/test_cat.py::TestMore::test_two'],
        undefined,
      ];
      assert.deepEqual(
        ran.filter((set) => set.patch === candidate).map((set) => set.select),
        [...own, ...own],
      );
      assert.equal(firsts.length, 2);
      for (const first of firsts) {
        assert.deepEqual(transitions(first.tests), [
          'tests/test_cat.py::test_each[1] P→F',
          'tests/test_cat.py::test_each[2] F→P',
          'tests/test_cat.py::TestMore::test_two F→P',
        ]);
        assert.equal(first.strict?.reason, 'breaks a test');
        assert.equal(first.problem, undefined);
        assert.equal(first.whole, false);
        assert.doesNotMatch(first.runs.base?.log ?? '', /test_purr/);
      }
      assert.equal(firsts[0]?.changeCoverage, undefined);
      const result = results[2];
      assert.equal(firsts[1]?.changeCoverage?.delta, 1);
      assert.deepEqual(firsts[1].changeCoverage.delta, result?.changeCoverage?.delta);
      assert.equal(result?.strict.reason, 'breaks a test');
      assert.ok(result.tests.some((each) => each.test === 'tests/test_cat.py::test_purr'));
    });

    it('do not run twice where they are all tests of the files', () => {
      const { firsts, results, ran } = all;
      assert.equal(ran[0]?.patch, fresh);
      assert.equal(ran.filter((set) => set.patch === fresh).length, 1);
      assert.equal(firsts[0]?.whole, true);
      assert.equal(firsts[0].strict?.success, true);
      assert.equal(results[0]?.strict.success, true);
      assert.equal(results[0].changeCoverage?.delta, 1);
    });
  });

  it('do not run apart where the whole files are known to be quick', async () => {
    const candidate = appended(...two);
    const { firsts, ran } = await evaluate([candidate, candidate], { seconds: 0.5 });
    assert.deepEqual(
      ran.filter((set) => set.patch === candidate).map((set) => set.select),
      [['tests/test_cat.py::test_two'], undefined, undefined],
    );
    assert.equal(firsts.length, 1);
  });

  it('leave out those that pytest does not know, and say so @full', async () => {
    const candidate = appended(
      'import cat',
      'if cat is None:',
      '    def test_never():',
      '        pass',
      'def test_two():',
      '    assert cat.purr() == 2',
    );
    const { firsts, results } = await evaluate([candidate]);
    const [first] = firsts;
    assert.deepEqual(transitions(first?.tests ?? []), ['tests/test_cat.py::test_two F→P']);
    assert.deepEqual(first?.notSeen, ['tests/test_cat.py::test_never']);
    assert.equal(first?.strict?.success, true);
    assert.match(first.problem ?? '', /not found when run on their own: .*test_never/);
    assert.equal(results[0]?.strict.success, true);
  });

  it('give no verdict where none can be run by its name, and the files follow @full', async () => {
    const candidate = appended(
      'import cat',
      'def test_two():',
      '    assert cat.purr() == 2',
      "globals()['test_other'] = test_two",
      'del test_two',
    );
    const { firsts, results } = await evaluate([candidate]);
    assert.equal(firsts[0]?.strict, undefined);
    assert.match(firsts[0]?.problem ?? '', /ended before the first test, with exit status 4/);
    assert.deepEqual(
      results[0]?.strict.failToPass,
      ['tests/test_cat.py::test_other'],
      results[0]?.strict.explanation,
    );
  });

  it('are named in dots to unittest, and what nothing here can run is said @full', async () => {
    const bare = bareEnvironment(storage);
    const unittest = appended(
      'import unittest, cat',
      'class A(unittest.TestCase):',
      '    def test_two(self):',
      '        for n in (2, 2):',
      '            with self.subTest(n):',
      '                self.assertEqual(cat.purr(), n)',
      'class B(A):',
      '    def test_never(self): pass',
      '    del test_never',
    );
    const { firsts, results } = await evaluate([unittest, appended(...two)], { interpreter: bare });
    assert.deepEqual(transitions(firsts[0]?.tests ?? []), ['tests/test_cat.py::A::test_two F→P']);
    assert.deepEqual(firsts[0]?.notSeen, ['tests/test_cat.py::B::test_never']);
    assert.match(firsts[0]?.problem ?? '', /B::test_never/);
    assert.deepEqual(results[0]?.strict.failToPass, [
      'tests/test_cat.py::A::test_two',
      'tests/test_cat.py::B::test_two',
    ]);
    assert.equal(firsts[1]?.strict, undefined);
    assert.match(firsts[1]?.problem ?? '', /pytest, which is not installed/);
    assert.equal(results[1]?.strict.reason, 'could not run');
  });

  it('are stopped with the whole evaluation, and by no listener @full', async () => {
    const abort = new AbortController();
    const ran: TestSet[] = [];
    const session = await open(ran);
    try {
      const stopped = evaluateCandidate(session, request(appended(...two)), {
        ...usual,
        signal: abort.signal,
        onOutput: () => abort.abort(),
        onFirst: () => assert.fail('it was cancelled'),
      });
      await assert.rejects(stopped, Cancelled);
      assert.equal(ran.length, 1);
      const result = await evaluateCandidate(session, request(appended(...two)), {
        ...usual,
        onFirst: () => {
          throw new Error('the window has gone');
        },
      });
      assert.equal(result.strict.success, true);
    } finally {
      await session.dispose();
    }
  });

  it('are asked for by nobody without a listener @full', async () => {
    const candidate = appended(...two);
    const { ran } = await evaluate([candidate], { options: { ...usual, onFirst: undefined } });
    assert.deepEqual(
      ran.filter((set) => set.patch === candidate).map((set) => set.select),
      [undefined],
    );
  });

  it('do not wait for golden tests that broke off twice @full', async () => {
    const goldenTests = added(
      'tests/test_golden.py',
      'import os',
      'def test_a():',
      '    os._exit(3)',
    );
    const candidates = [1, 2, 3].map((n) => added(`tests/test_${n}.py`, ...two));
    const goldenRuns = async (fresh: boolean): Promise<number> => {
      const { ran, results } = await evaluate(candidates, {
        instance: { goldenTests },
        options: { ...usual, fresh },
      });
      for (const { notes, strict } of results) {
        assert.match(notes.join(), /ΔC.* unknown: the golden tests did not finish on R/);
        assert.equal(strict.success, true);
      }
      return ran.filter((set) => set.patch === goldenTests).length;
    };
    assert.equal(await goldenRuns(false), 2);
    assert.equal(await goldenRuns(true), 3);
  });
});
