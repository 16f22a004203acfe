import fc from 'fast-check';

/** Lines of a small module: classes, decorators, nested functions, strings, comments. */
const name = fc.constantFrom('test_a', 'test_b', 'helper', 'setUp');
const statement = fc.constantFrom(
  'x = 1',
  'assert f(1) == 2  # why',
  'text = """',
  "s = 'end diff'",
  'pass',
  '',
  'if x:\n    y = 2',
  't = """\nflush\n  diff\nend diff\n"""',
  'def inner():\n    return 1',
);
const indented = (text: string, by: string): string =>
  text
    .split('\n')
    .map((line) => (line === '' ? '' : by + line))
    .join('\n');
const functionOf = (self: string): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom('', '@dec\n', '@mark("x", [\n    1,\n])\n', '# about\n'),
      fc.constantFrom('', 'async '),
      name,
      fc.array(statement, { minLength: 1, maxLength: 3 }),
    )
    .map(
      ([above, kind, called, body]) =>
        `${above}${kind}def ${called}(${self}):\n${indented([...body, 'return x'].join('\n'), '    ')}`,
    );
const classOf = fc
  .tuple(
    fc.constantFrom('TestA', 'TestB'),
    fc.array(functionOf('self'), { minLength: 1, maxLength: 3 }),
  )
  .map(([called, all]) => `class ${called}(Base):\n${indented(all.join('\n\n'), '    ')}`);
const part = fc.oneof(
  functionOf(''),
  classOf,
  fc.constantFrom('LIMIT = 3', 'import os', 'from m import (\n    a,\n    b,\n)', '# alone', ''),
);
/** A small module. */
export const moduleText = fc
  .tuple(fc.array(part, { maxLength: 6 }), fc.constantFrom('\n', '\n\n', '\n\n\n'))
  .map(([parts, gap]) => `${parts.join(gap)}\n`);
/**
 * Texts in the forms of real files: line ends of either kind, none at the end, odd bytes, form
 * feeds, tabs.
 */
export const dressed = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(text, fc.constantFrom('plain', 'crlf', 'cut', 'mixed', 'odd', 'tabs', 'feed'))
    .map(([plain, how]) => {
      switch (how) {
        case 'crlf':
          return plain.replaceAll('\n', '\r\n');
        case 'cut':
          return plain.replace(/\n+$/, '');
        case 'mixed':
          return plain.replace(/\n(?=.*\n)/, '\r\n');
        case 'odd':
          return plain.replace('x', '\udcff');
        case 'tabs':
          return plain.replaceAll('    ', '\t');
        case 'feed':
          return plain.replace('\n\n', '\n\f\n');
        case 'plain':
          return plain;
      }
    });
/** A text with lines left out, doubled, changed or moved. */
export const damaged = (text: string, damage: readonly [number, string][]): string => {
  let lines = text.split('\n');
  for (const [seed, how] of damage) {
    const i = seed % lines.length;
    const line = lines[i] ?? '';
    const put: Record<string, string[]> = {
      cut: [],
      double: [line, line],
      change: [`${line}  # changed`],
      add: [line, 'def test_new(self):', '    assert 1', ''],
      blank: [line, ''],
    };
    lines = [...lines.slice(0, i), ...(put[how] ?? []), ...lines.slice(i + 1)];
  }
  return lines.join('\n');
};
/** The changes that {@link damaged} applies to a text. */
export const damage = fc.array(
  fc.tuple(fc.nat(200), fc.constantFrom('cut', 'double', 'change', 'add', 'blank')),
  { minLength: 1, maxLength: 4 },
);
