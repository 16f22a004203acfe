/**
 * Bodies of tests that search for the answer and print what they find. They look where this program
 * could have left it, beside their sandbox and in its repository. With the local engine a test may
 * also read the user's own files, the dataset among them. Nothing prevents that, and their content
 * is not filtered.
 */
export const lookingForAnswers: readonly (readonly string[])[] = [
  [
    'import glob',
    "names = [name for name in glob.glob('../../**/*.py', recursive=True) if 'look' not in name]",
    "self.fail(''.join(open(name).read() for name in names if 'money' in name))",
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
