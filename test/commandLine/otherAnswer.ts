/** The fields of a row of the bundled dataset that tests change. */
export interface Row {
  readonly instance_id: string;
  readonly patch: string;
  readonly test_patch: string;
  readonly FAIL_TO_PASS: string;
  readonly PASS_TO_PASS: string;
  readonly hints_text: string;
}

/** The same instance with another answer: X*, T*, both lists and hints differ, and nothing else does. */
export const withOtherAnswer = (row: Row): Row => ({
  ...row,
  patch: `diff --git a/tallybook/money.py b/tallybook/money.py
--- a/tallybook/money.py
+++ b/tallybook/money.py
@@ -50,2 +50,4 @@
         missing = self.cents - sum(shares)
         for index in range(missing):
+            if weights[index] == 0:
+                continue  # whoever takes no part pays nothing
`,
  test_patch: `diff --git a/tests/test_allocated.py b/tests/test_allocated.py
new file mode 100644
--- /dev/null
+++ b/tests/test_allocated.py
@@ -0,0 +1,8 @@
+import unittest
+
+from tallybook import Money
+
+
+class AllocatedTest(unittest.TestCase):
+    def test_who_takes_no_part_pays_nothing(self):
+        self.assertEqual(Money(1000).allocate([0, 1, 1, 1])[0].cents, 0)
`,
  FAIL_TO_PASS: JSON.stringify([
    'tests/test_allocated.py::AllocatedTest::test_who_takes_no_part_pays_nothing',
  ]),
  PASS_TO_PASS: JSON.stringify(['tests/test_money.py::ParseTest::test_sign']),
  hints_text: 'Skip those that have no share at all, and be done with it.',
});
