import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { silent } from '../../src/domain/work';
import { localEngine } from '../../src/engine/local/localEngine';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import { failureFrameInTest } from '../../src/editor/testing/testHints';
import { runStore } from '../../src/evaluation/testRun';
import { openSession } from '../../src/evaluation/session';
import { loadParser } from '../unit/python/loadParser';
import { useExample, type Example } from './exampleRepository';
import { environments } from '../../src/environments/environments';

const lines = [
  'import cat, unittest',
  'class A(unittest.TestCase):',
  '    def test_purr(self):',
  '        self.assertEqual(',
  '            2,',
  '            cat.purr(),',
  '        )',
  '    def test_true(self):',
  '        self.assertTrue(cat.purr() > 1)',
];
const candidate = `diff --git a/tests/test_new.py b/tests/test_new.py
new file mode 100644
--- /dev/null
+++ b/tests/test_new.py
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;

describe('what was expected and what there was', function () {
  let example: Example;
  useExample((made) => (example = made));

  it('comes with the failure of a test, on the side on which it failed', async () => {
    const storage = await example.storage();
    const trees = await example.prepare({ kind: 'commit', from: example.origin }, storage);
    const session = await openSession({
      instance: example.instance(),
      trees,
      engine: await localEngine({ environments, storage, tracer: resolve('src/engine/tracer') }),
      python: await loadParser(),
      store: runStore(storage),
    });
    try {
      const { tests } = await evaluateCandidate(
        session,
        { model: 'by hand', text: candidate, format: 'unified', mode: 'unit-test' },
        { timeoutSeconds: 60, reporter: silent, reuse: false },
      );
      const found = tests.map(({ test, transition, base, fixed }) => ({
        test: test.split('::').at(-1),
        transition,
        base: base.comparison,
        fixed: fixed.comparison,
      }));
      assert.deepEqual(found, [
        {
          test: 'test_purr',
          transition: 'F→P',
          base: { expected: '2', actual: '1' },
          fixed: undefined,
        },
        { test: 'test_true', transition: 'F→P', base: undefined, fixed: undefined },
      ]);
      // Before Python 3.8, a call over several lines has the line of its last argument.
      const line = tests[0] === undefined ? undefined : failureFrameInTest(tests[0].base)?.line;
      assert.ok(line === 4 || line === 6, String(line));
    } finally {
      await session.dispose();
    }
  });
});
