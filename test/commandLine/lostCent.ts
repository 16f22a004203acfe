/** A test that reproduces the bundled issue, as models write it. */
export const lostCent = `import unittest

from tallybook.money import Money


class LostCentTest(unittest.TestCase):
    def test_no_cent_is_lost(self):
        parts = Money(2000).allocate([1, 1, 1])
        self.assertEqual(sum(part.cents for part in parts), 2000)`;

/** The file of this test. */
export const lostCentPath = 'tests/test_lost_cent.py';

/** The patch that adds it. */
export const lostCentPatch = `--- /dev/null
+++ b/${lostCentPath}
@@ -0,0 +1,${lostCent.split('\n').length} @@
${lostCent.replace(/^/gm, '+')}
`;
