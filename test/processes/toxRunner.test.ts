import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { silent } from '../../src/domain/work';
import { pytest } from '../../src/engine/runners/pytest';
import { tox as toxRunner } from '../../src/engine/runners/tox';
import type { PlanRequest } from '../../src/engine/runners/testRunner';
import type { TestPlan } from '../../src/engine/runners/testPlan';
import { recipeOf } from '../../src/environments/recipes';
import { parseLog } from '../../src/engine/runners/parseLog';
import { localEngine } from '../../src/engine/local/localEngine';
import type { RunRecord } from '../../src/engine/engine';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import type { FirstResult } from '../../src/evaluation/firstResult';
import { runStore } from '../../src/evaluation/testRun';
import { openSession } from '../../src/evaluation/session';
import { environment } from '../environments';
import { loadParser } from '../unit/python/loadParser';
import { plain, useExample, write, type Example } from './exampleRepository';
import { environments } from '../../src/environments/environments';

const tracer = resolve('src/engine/tracer');

/**
 * The strictest form of Sphinx's configuration: every warning is an error, also that of an open
 * without encoding.
 */
const tox = `[tox]
minversion = 2.4.0
envlist = docs,py{39,310}
isolated_build = True

[testenv]
usedevelop = True
passenv =
    https_proxy
    PYTEST_ADDOPTS
setenv =
    PYTHONWARNINGS = error
    PYTEST_ADDOPTS = {env:PYTEST_ADDOPTS:} --color yes
commands=
    python -X dev -X warn_default_encoding -m pytest --durations 25 {posargs}
`;
const tests = `import os, subprocess, sys
import cat


def test_purr():
    assert [cat.purr() for n in range(3)] == [1, 1, 1]


def test_child():
    subprocess.check_call([sys.executable, '-c', 'import cat; cat.purr()'])


def test_seed():
    assert os.environ['PYTHONHASHSEED'] == '7'


def test_bad():
    assert cat.purr() == 2
`;

describe('tests that tox runs in the environment as it is @full', function () {
  let example: Example;
  useExample((made) => (example = made));

  /** Makes the example hold `tox.ini` and its tests; the commit. */
  const commit = async (): Promise<string> => {
    plain(example.origin, 'checkout', '-q', '-f', '-B', 'tox', example.base);
    await write(example.origin, { 'tox.ini': tox, 'tests/test_cat.py': tests });
    plain(example.origin, 'add', '-A', '-f');
    plain(example.origin, 'commit', '-qm', 'tox');
    return plain(example.origin, 'rev-parse', 'HEAD');
  };

  it('are graded as under pytest, whose base run is empty where a file is new', async function () {
    const python = await environment(this, 'python3', [
      ...['pytest==8.3.5', 'tox==4.16.0', 'tox-current-env==0.0.11'],
    ]);
    const more = { repo: 'sphinx-doc/sphinx', version: '7.2', baseCommit: await commit() };
    const storage = await example.storage();
    const session = await openSession({
      instance: example.instance(more),
      trees: await example.prepare({ kind: 'commit', from: example.origin }, storage, more),
      engine: await localEngine({ environments, storage, tracer, python }),
      python: await loadParser(),
      store: runStore(storage),
    });
    const text = `diff --git a/tests/test_cat.py b/tests/test_cat.py
--- a/tests/test_cat.py
+++ b/tests/test_cat.py
@@ -1,2 +1,3 @@
+import re
 import os, subprocess, sys
 import cat
diff --git a/tests/test_new.py b/tests/test_new.py
new file mode 100644
--- /dev/null
+++ b/tests/test_new.py
@@ -0,0 +1,3 @@
+import cat
+def test_new():
+    assert cat.purr() == 2
`;
    const firsts: FirstResult[] = [];
    try {
      const { runs, strict, harness } = await evaluateCandidate(
        session,
        { model: 'm', text, format: 'unified', mode: 'unit-test' },
        {
          timeoutSeconds: 100,
          reporter: silent,
          reuse: false,
          onFirst: (first) => firsts.push(first),
        },
      );
      assert.deepEqual([runs.base?.runner, runs.fixed?.runner], ['tox', 'tox']);
      assert.deepEqual(firsts[0]?.strict?.failToPass, ['tests/test_new.py::test_new']);
      assert.equal(firsts[0].problem, undefined);
      assert.equal(strict.success, true, strict.explanation);
      // Both fail on both sides, also without the candidate; the harness has no base run that shows
      // this.
      assert.deepEqual(harness.tests_pred?.FAIL_TO_FAIL, ['tests/test_cat.py::test_seed']);
      assert.deepEqual(harness.tests_base?.FAIL_TO_FAIL, []);
      assert.equal(harness.resolved, false);
    } finally {
      await session.dispose();
    }
  });

  for (const [name, packages] of [
    ['tox 3.28, whose plug-in hands nothing on', ['tox==3.28.0', 'tox-current-env==0.0.4']],
    ['tox 3.28', ['tox==3.28.0', 'tox-current-env==0.0.16']],
    ['tox 4', ['tox==4.16.0', 'tox-current-env==0.0.11']],
  ] as const) {
    it(`are counted, recorded and logged as without it: ${name}`, async function () {
      const python = await environment(this, 'python3', ['pytest==8.3.5', ...packages]);
      const baseCommit = await commit();
      const storage = await example.storage();
      const trees = await example.prepare({ kind: 'commit', from: example.origin }, storage, {
        baseCommit,
      });
      const engine = await localEngine({ environments, storage, tracer, python });
      const place = await engine.prepare(example.instance(), trees, { reporter: silent });
      const pair = await place.openPair({ reporter: silent });
      const request: PlanRequest = {
        repo: 'octo/cat',
        version: '',
        files: [
          { path: 'tests/test_cat.py', importsPytest: false, unittestTests: 0, pytestTests: 4 },
        ],
        environment: place.environment,
        readFileOfR: (path) => Promise.resolve(path === 'tox.ini' ? tox : undefined),
      };
      const planning = { ...request, recipe: recipeOf('octo/cat', '') };
      const run = async (plan: TestPlan | undefined): Promise<RunRecord> => {
        assert(plan !== undefined);
        await pair.base.load('');
        return pair.base.run({
          plan,
          countLines: new Map([['cat.py', [2]]]),
          timeoutSeconds: 120,
          hashSeed: 7,
        });
      };
      try {
        const withTox = await toxRunner.plan(planning);
        assert.equal(withTox?.runner, 'tox');
        const record = await run(withTox);
        const without = await run(await pytest.plan(planning));

        const outcomes = ({ trace }: RunRecord): string[] =>
          trace.outcomes.map(({ test, outcome }) => `${test} ${outcome}`);
        assert.deepEqual(
          outcomes(record),
          ['purr passed', 'child passed', 'seed passed', 'bad failed'].map(
            (each) => `tests/test_cat.py::test_${each}`,
          ),
          record.log,
        );
        assert.deepEqual(outcomes(record), outcomes(without));
        // The child of a test has no key of the run, with tox and without.
        assert.deepEqual(record.trace.problems, without.trace.problems);
        assert.equal(record.trace.problems.length, 1, record.trace.problems.join('; '));
        assert.deepEqual(
          record.trace.sessions.map((each) => each.version),
          ['8.3.5'],
          'the pytest of the environment, not that of the interpreter behind it',
        );
        const [line] = record.trace.counts;
        assert.deepEqual(
          line?.byTest,
          new Map([
            ['tests/test_cat.py::test_purr', 3],
            ['tests/test_cat.py::test_child', 1],
            ['tests/test_cat.py::test_bad', 1],
          ]),
        );
        assert.deepEqual(record.trace.counts, without.trace.counts);
        // tox 3 adds a line of its own, `ERROR: InvocationError …`, which the harness reads too.
        const statuses = [...parseLog(record.log, 'sphinx-doc/sphinx')].filter(
          ([, status]) => status !== 'ERROR:',
        );
        assert.deepEqual(statuses, [...parseLog(without.log, 'sphinx-doc/sphinx')]);
        assert.equal(statuses.length, 4);
      } finally {
        await pair.dispose();
        await engine.dispose();
      }
    });
  }
});
