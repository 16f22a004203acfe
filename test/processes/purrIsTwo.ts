import { runRecord } from '../unit/evaluation/examples';
import type { SimulatedOptions } from './simulatedEngine';

/** What a simulated engine does at a step. */
export type At = NonNullable<SimulatedOptions['at']>;

/** The only test of {@link purrIsTwo}. */
export const idOfPurrIsTwo = 'tests/test_mine.py::test_two';

/** A candidate on the example repository that fails on R and passes with the golden patch. */
export const purrIsTwo = `diff --git a/tests/test_mine.py b/tests/test_mine.py
new file mode 100644
--- /dev/null
+++ b/tests/test_mine.py
@@ -0,0 +1,3 @@
+import cat
+def test_two():
+    assert cat.purr() == 2
`;

/** The test passes where the golden patch is loaded, and fails elsewhere. */
export const passesWhereFixed: At = (step, { patch = '' }) => {
  if (step !== 'run') return undefined;
  const passes = patch.includes('+    return 2');
  return runRecord({
    exitCode: passes ? 0 : 1,
    log: `${passes ? 'PASSED' : 'FAILED'} ${idOfPurrIsTwo}`,
    trace: {
      outcomes: [{ test: idOfPurrIsTwo, outcome: passes ? 'passed' : 'failed' }],
      counts: [],
    },
  });
};
