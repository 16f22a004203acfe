import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Number of blocks that the golden patch replaces; `perBlock` is the number of lines in each. */
const blocks = 100;
const perBlock = 10;

/**
 * Makes an instance from the bundled one whose golden patch removes and adds 1,000 lines.
 * @param {string} sample folder of the bundled instance
 * @param {string} folder to make it in
 * @returns {{ id: string, dataset: string, source: string }}
 */
export function makeLargeChange(sample, folder) {
  const source = join(folder, 'large-repository');
  cpSync(join(sample, 'repository'), source, { recursive: true });
  const lines = ['def total():', '    found = 0'].map((text) => ({ kind: ' ', text }));
  for (let block = 0; block < blocks; block++) {
    const numbers = Array.from({ length: perBlock }, (_, i) => block * perBlock + i);
    lines.push(...numbers.map((i) => ({ kind: '-', text: `    found += 1  # ${i}` })));
    lines.push(...numbers.map((i) => ({ kind: '+', text: `    found += 2  # ${i}` })));
    for (let i = 0; i < 3; i++) lines.push({ kind: ' ', text: `    found += 0  # ${block}` });
  }
  lines.push({ kind: ' ', text: '    return found' });
  const before = lines.filter(({ kind }) => kind !== '+');
  writeFileSync(join(source, 'tallybook', 'large.py'), `${before.map(textOf).join('\n')}\n`);
  const test = [
    'import unittest',
    '',
    'from tallybook.large import total',
    '',
    '',
    'class LargeTest(unittest.TestCase):',
    '    def test_total(self):',
    `        self.assertEqual(total(), ${2 * blocks * perBlock})`,
  ];
  const row = JSON.parse(readFileSync(join(sample, 'instance.jsonl'), 'utf8').split('\n')[0]);
  const id = 'tallybook__tallybook-2000';
  const dataset = join(folder, 'large.jsonl');
  const count = before.length;
  const instance = {
    ...row,
    instance_id: id,
    patch:
      'diff --git a/tallybook/large.py b/tallybook/large.py\n' +
      '--- a/tallybook/large.py\n+++ b/tallybook/large.py\n' +
      `@@ -1,${count} +1,${count} @@\n` +
      lines.map(({ kind, text }) => `${kind}${text}\n`).join(''),
    test_patch:
      'diff --git a/tests/test_large.py b/tests/test_large.py\nnew file mode 100644\n' +
      `--- /dev/null\n+++ b/tests/test_large.py\n@@ -0,0 +1,${test.length} @@\n` +
      test.map((line) => `+${line}\n`).join(''),
    FAIL_TO_PASS: '["tests/test_large.py::LargeTest::test_total"]',
    PASS_TO_PASS: '[]',
  };
  writeFileSync(dataset, `${JSON.stringify(instance)}\n`);
  return { id, dataset, source };
}

const textOf = ({ text }) => text;
