/** A test about the bundled issue, as models write it. On R the parts of 20.00 have 2001 cents. */
export const testOfCents = (
  assertion: string,
  module = 'tallybook.money',
): string => `import unittest

from ${module} import Money


class LostCentTest(unittest.TestCase):
    def test_no_cent_is_lost(self):
        parts = Money(2000).allocate([1, 1, 1])
        self.${assertion}`;

/** A test that reproduces the bundled issue. */
export const lostCent = testOfCents('assertEqual(sum(part.cents for part in parts), 2000)');

/** The file of this test. */
export const lostCentPath = 'tests/test_lost_cent.py';

/** The patch that adds it. */
export const lostCentPatch = `--- /dev/null
+++ b/${lostCentPath}
@@ -0,0 +1,${lostCent.split('\n').length} @@
${lostCent.replace(/^/gm, '+')}
`;
