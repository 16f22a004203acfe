// A dataset for the tests of the Instances view: the bundled instance, copies of it under other
// names and repositories, and unusable rows.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @param {string} sample folder of the bundled instance
 * @param {string} path of the JSONL file to write
 */
export function writeInstancesDataset(sample, path) {
  const row = JSON.parse(
    readFileSync(join(sample, 'instance.jsonl'), 'utf8').trim().split('\n')[0],
  );
  const copies = Array.from({ length: 30 }, (_, index) => ({
    ...row,
    instance_id: `octo__ledger-${index + 1}`,
    repo: 'octo/ledger',
    created_at: `${2015 + Math.floor(index / 5)}-03-0${(index % 5) + 1}T00:00:00Z`,
    problem_statement: `Ledger ${index + 1} does not balance\n\nSee tallybook/money.py:40 and tallybook.money.Money.allocate.`,
  }));
  // A valid row, but its golden tests fail on both sides.
  const unsound = {
    ...row,
    instance_id: 'pond__duck-9',
    repo: 'pond/duck',
    problem_statement: '# Ducks sink\n\n**Bold** <script>window.broken = 1</script> and `code`.',
    // For unittest, which every Python has.
    test_patch:
      'diff --git a/tests/test_duck.py b/tests/test_duck.py\nnew file mode 100644\n--- /dev/null\n' +
      '+++ b/tests/test_duck.py\n@@ -0,0 +1,6 @@\n+import unittest\n+\n+\n' +
      '+class DuckTest(unittest.TestCase):\n+    def test_duck(self):\n+        self.fail("sinks")\n',
  };
  const rows = [row, ...copies, unsound].map((each) => JSON.stringify(each));
  writeFileSync(path, `${[...rows, '{"instance_id": "octo__broken-1",'].join('\n')}\n`);
}
