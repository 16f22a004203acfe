import assert from 'node:assert/strict';
import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { silent } from '../../src/domain/work';
import { localEngine } from '../../src/engine/local/localEngine';
import { engines } from '../../src/engine/engines';
import { openEngine } from '../../src/engine/sandbox';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import type { CandidateResult } from '../../src/evaluation/candidateResult';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import type { Trees } from '../../src/repository/trees';
import { bareEnvironment, sitePackagesOf } from '../environments';
import { loadParser } from '../unit/python/loadParser';
import { plain, useExample, write, type Example } from './exampleRepository';
import { environments } from '../../src/environments/environments';

const tracer = resolve('src/engine/tracer');

const source = (result: number): string =>
  `from water import quote\n\n\ndef purr():\n    return ${result}\n`;

const goldenPatch = `diff --git a/cat.py b/cat.py
--- a/cat.py
+++ b/cat.py
@@ -2,4 +2,4 @@
 
 
 def purr():
-    return 1
+    return 2
`;

const goldenTests = `diff --git a/tests/test_golden.py b/tests/test_golden.py
new file mode 100644
--- /dev/null
+++ b/tests/test_golden.py
@@ -0,0 +1,5 @@
+import unittest
+from cat import purr
+class A(unittest.TestCase):
+    def test_a(self):
+        self.assertEqual(purr(), 2)
`;

/** The example's package needs another package, of which the installed version is too new. */
describe('an environment that is mended', function () {
  let example: Example;
  let trees: Trees;
  let storage = '';
  let folder = '';
  let python = '';
  let site = '';
  let baseCommit = '';
  useExample((made) => (example = made));
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'broken-test-'));
    python = join(bareEnvironment(folder), 'bin', 'python');
    site = sitePackagesOf(python);
    const { origin, base } = example;
    plain(origin, 'checkout', '-q', base);
    await write(origin, { 'cat.py': source(1) });
    plain(origin, 'commit', '-qam', 'needs water');
    baseCommit = plain(origin, 'rev-parse', 'HEAD');
    storage = await example.storage();
    trees = await example.prepare({ kind: 'commit', from: origin }, storage, {
      baseCommit,
      goldenPatch,
      goldenTests,
    });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  // Both versions have the same size, and no metadata that names a version.
  const tooNew = () => install('quota = str\n');
  const right = () => install('quote = str\n');
  let installed = 0;
  /** Python compares whole seconds to decide whether a compiled file matches its source. */
  const install = async (text: string): Promise<void> => {
    await write(site, { 'water/__init__.py': text });
    const seconds = 1_600_000_000 + 10 * installed++;
    await utimes(join(site, 'water', '__init__.py'), seconds, seconds);
  };
  const during = async <T>(work: (session: InstanceSession) => Promise<T>): Promise<T> => {
    const engine = await localEngine({ environments, storage, tracer, python });
    const session = await openSession({
      instance: example.instance({ baseCommit, goldenPatch, goldenTests }),
      trees,
      engine,
      python: await loadParser(),
      store: runStore(storage),
    });
    try {
      return await work(session);
    } finally {
      await session.dispose();
      await engine.dispose();
    }
  };
  const gold = (session: InstanceSession): Promise<CandidateResult> =>
    evaluated(session, goldenTests);
  const evaluated = (session: InstanceSession, text: string): Promise<CandidateResult> =>
    evaluateCandidate(
      session,
      { model: 'gold', text, format: 'unified', mode: 'unit-test' },
      { timeoutSeconds: 60, reporter: silent, reuse: true },
    );
  const told = ({ tests, changeCoverage }: CandidateResult): string =>
    `${tests.map(({ transition }) => transition).join()} ${changeCoverage?.covered}/${changeCoverage?.executable}`;

  const isBroken = (result: CandidateResult): void => {
    // The golden tests ask for nothing that is missing: no test is shown as failing.
    assert.equal(told(result), ' undefined/undefined');
    assert.equal(result.strict.reason, 'could not run');
    assert.match(
      result.strict.explanation,
      /environment lacks water .*, which R's cat\.py needs; .*bare\/bin\/python: install/,
    );
    assert.match(result.notes.join('\n'), /ΔC.* unknown: .*in this environment/);
    // The notes do not repeat what the verdict says.
    assert.match(result.strict.explanation, /cannot import name '?quote/);
    assert.doesNotMatch(result.notes.join('\n'), /cannot import name/);
  };

  it('gives the right ΔC, in the process that saw it broken and in those after', async () => {
    await tooNew();
    await during(async (session) => {
      // More often than a session retries a run that is not kept.
      for (let again = 0; again < 4; again++) isBroken(await gold(session));
      await right();
      assert.equal(told(await gold(session)), 'F→P 2/2');
      await tooNew();
      isBroken(await gold(session));
    });
    await during(async (session) => {
      isBroken(await gold(session));
      await right();
      assert.equal(told(await gold(session)), 'F→P 2/2');
    });
    assert.equal(told(await during(gold)), 'F→P 2/2');
  });

  it('blames a candidate that alone imports what is not installed', async () => {
    await right();
    const text = goldenTests.replaceAll('import unittest', 'import unittest, wine');
    const result = await during((session) => evaluated(session, text));
    assert.equal(result.strict.reason, 'unrelated failure');
    assert.equal(told(result), 'F→F 0/2');
  });

  it('runs again where the environment changes between the look at it and the run', async () => {
    await tooNew();
    await during(async (session) => {
      isBroken(await gold(session));
      // A second has not passed since the last look, so that the run itself finds the change.
      await right();
      const [one, other] = await Promise.all([gold(session), gold(session)]);
      assert.deepEqual([told(one), told(other)], ['F→P 2/2', 'F→P 2/2']);
    });
  });

  it('is described as it is now', async () => {
    await right();
    const engine = await openEngine({
      engines,
      environments,
      name: 'local',
      storage,
      assets: dirname(tracer),
      values: { local: { python } },
    });
    try {
      const instance = example.instance({ baseCommit, goldenPatch, goldenTests });
      const place = await engine.prepare(instance, trees, { reporter: silent });
      assert.match(engine.description, /pytest not installed/);
      const before = engine.environment?.digest;
      await write(site, {
        'pytest/__init__.py': '',
        'pytest-7.3.0.dist-info/METADATA': 'Metadata-Version: 2.1\nName: pytest\nVersion: 7.3.0\n',
      });
      await place.current?.();
      assert.match(engine.description, /pytest 7\.3\.0/);
      assert.notEqual(engine.environment?.digest, before);
      assert.equal(place.environment.digest, engine.environment?.digest);
    } finally {
      await engine.dispose();
      await rm(join(site, 'pytest'), { recursive: true });
      await rm(join(site, 'pytest-7.3.0.dist-info'), { recursive: true });
    }
  });
});
