/**
 * Bodies of tests that look for the answer wherever a test can, and print what they find.
 *
 * @param dataset the file that the row of the instance is in
 */
export const lookingForAnswers = (dataset: string): readonly (readonly string[])[] => [
  [
    'import json',
    `row = json.loads(open(${JSON.stringify(dataset)}).readline())`,
    "self.fail(row['patch'] + row['test_patch'] + row['FAIL_TO_PASS'])",
  ],
  [
    'import glob',
    "names = [name for name in glob.glob('../../**/*.py', recursive=True) if 'look' not in name]",
    "self.fail(''.join(open(name).read() for name in names if 'money' in name))",
  ],
  [
    'import glob, os',
    "parts = os.getcwd().split('/pairs/')[0]",
    "names = glob.glob(parts + '/instances/**/fixed/**/*.py', recursive=True)",
    "self.fail(''.join(open(name).read() for name in names))",
  ],
  [
    'import subprocess',
    "self.fail(subprocess.run(['git', 'log', '--all', '-p'], capture_output=True, text=True).stdout)",
  ],
  [
    'from tallybook import Money',
    'self.assertEqual(Money(2000).allocate([1, 1, 1])[2].cents, 666)',
  ],
];
