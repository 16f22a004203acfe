import type { Node, PythonParser } from '../../../python/parser';
import { reproductionAnswers, type ReproductionAnswer } from '../../../domain/ranking';

/** How a reproduction script is written down: as a test of either style, or as a script. */
type TestForm = 'pytest' | 'unittest' | 'script';

const resolved: ReproductionAnswer = 'Issue resolved';
const answers = reproductionAnswers.filter((each) => each !== 'none');

/**
 * A reproduction script as a test that fails unless the script says `Issue resolved` and nothing
 * else. What the script prints is collected and asserted at the end: a failed assertion within the
 * script could be caught by the script itself. As a script it asserts the same, so that its exit
 * status tells.
 *
 * @returns undefined where the script is no Python, or prints its answers in a way that this does
 *   not see
 */
export function scriptAsTest(
  python: PythonParser,
  script: string,
  form: TestForm,
): string | undefined {
  const said = unusedName(script, 'said');
  const collecting = python.parseSound(script, (root) => withAnswersCollected(root, script, said));
  if (collecting === undefined) return undefined;
  const isScript = form === 'script';
  const inRunner = isScript
    ? collecting
    : python.parse(collecting, (root) => withSettingsOfRunner(root, collecting));
  const unguarded = isScript
    ? inRunner
    : python.parse(inRunner, (root) => withoutGuard(root, inRunner));
  const { top, body, globals } = python.parse(unguarded, (root) =>
    parted(root, unguarded, isScript),
  );
  const depth = { pytest: 1, unittest: 2, script: 0 }[form];
  const exits = /\b(?:exit|quit)\s*\(|\bSystemExit\b/.test(script);
  const inner = python.parse(body, (root) => indented(root, body, depth + (exits ? 1 : 0)));
  const at = (line: string): string => `${'    '.repeat(depth)}${line}`;
  const lines = [
    ...(globals.length > 0 && !isScript ? [at(`global ${globals.join(', ')}`)] : []),
    at(`${said} = []`),
    ...(exits ? [at('try:')] : []),
    inner.trimEnd(),
    ...(exits ? [at('except SystemExit:'), at('    pass')] : []),
    at(
      form === 'unittest'
        ? `self.assertEqual(set(${said}), {"${resolved}"})`
        : `assert set(${said}) == {"${resolved}"}, ${said}`,
    ),
  ];
  return `${[...top, ...headOf(form, top.length > 0), ...lines].join('\n')}\n`;
}

/** The lines before the body. */
function headOf(form: TestForm, isAfterImports: boolean): string[] {
  const gap = isAfterImports ? ['', ''] : [];
  if (form === 'script') return [];
  if (form === 'pytest') return [...gap, 'def test_issue_is_resolved():'];
  return [
    ...['import unittest', '', '', 'class IssueTest(unittest.TestCase):'],
    '    def test_issue_is_resolved(self):',
  ];
}

/** A name that the source does not have. */
function unusedName(source: string, name: string): string {
  const isUsed = (each: string): boolean => new RegExp(`\\b${each}\\b`).test(source);
  let free = name;
  for (let number = 1; isUsed(free); number += 1) free = `${name}_${number}`;
  return free;
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly by: string;
}

/** A source with its edits, which do not overlap. */
function edited(source: string, edits: readonly Edit[]): string {
  let text = source;
  for (const { start, end, by } of [...edits].sort((one, other) => other.start - one.start)) {
    text = text.slice(0, start) + by + text.slice(end);
  }
  return text;
}

/**
 * A script that collects its answers in a list instead of printing them; undefined where it does not
 * print both that the issue is reproduced and that it is resolved.
 */
function withAnswersCollected(root: Node, source: string, said: string): string | undefined {
  const edits: Edit[] = [];
  let collected = '';
  for (const call of root.descendantsOfType('call')) {
    if (call?.childForFieldName('function')?.text !== 'print') continue;
    const answer = answerPrinted(call);
    if (answer === undefined) continue;
    collected += answer;
    edits.push({ start: call.startIndex, end: call.endIndex, by: `${said}.append(${answer})` });
  }
  const isWhole = collected.includes('Issue reproduced') && collected.includes(resolved);
  return isWhole ? edited(source, edits) : undefined;
}

/** The answer that a call prints, as an expression. */
function answerPrinted(call: Node): string | undefined {
  const [first, ...others] = (call.childForFieldName('arguments')?.namedChildren ?? []).filter(
    (each) => each !== null && each.type !== 'comment',
  );
  if (first === undefined || first === null) return undefined;
  if (first.type === 'string') {
    const said = answers.find((each) => textOfString(first).startsWith(each));
    return said === undefined ? undefined : JSON.stringify(said);
  }
  // Such as "Issue resolved" if done else "Issue reproduced".
  const strings = first.descendantsOfType('string').filter((each) => each !== null);
  const said = strings
    .map(textOfString)
    .filter((text) => answers.some((each) => text.includes(each)));
  const isPlain = said.length > 0 && said.every((text) => answers.some((each) => text === each));
  const onlyKeywords = others.every((each) => each?.type === 'keyword_argument');
  return isPlain && onlyKeywords ? first.text : undefined;
}

const textOfString = (node: Node): string =>
  (/^[A-Za-z]*('''|"""|'|")([\s\S]*)\1$/.exec(node.text)?.[2] ?? '').trim();

/**
 * A source that configures Django only where nobody has. Django's runner does so before any test, and
 * refuses a second time.
 */
function withSettingsOfRunner(root: Node, source: string): string {
  if (!/\bdjango\.conf\b/.test(source)) return source;
  const edits = root.descendantsOfType('call').flatMap((call): Edit[] => {
    const called = call?.childForFieldName('function');
    const object = called?.childForFieldName('object')?.text ?? '';
    const isSetting = called?.childForFieldName('attribute')?.text === 'configure';
    if (call === null || !isSetting || !/(?:^|\.)settings$/.test(object)) return [];
    const by = `(${object}.configured or ${call.text})`;
    return [{ start: call.startIndex, end: call.endIndex, by }];
  });
  return edited(source, edits);
}

/** A source whose `if __name__ == "__main__":` is replaced by what is below it. */
function withoutGuard(root: Node, source: string): string {
  const guard = root.namedChildren.find((each) => each !== null && isGuard(each));
  const body = guard?.childForFieldName('consequence');
  if (guard === undefined || guard === null || body === null || body === undefined) return source;
  const inner = source.slice(body.startIndex, body.endIndex);
  const { column } = body.startPosition;
  const inStrings = linesInStrings(body, body.startPosition.row);
  const lines = inner
    .split('\n')
    .map((line, at) =>
      at === 0 || inStrings.has(at) || line.slice(0, column).trim() !== ''
        ? line
        : line.slice(column),
    );
  return edited(source, [
    { start: guard.startIndex, end: guard.endIndex, by: `${lines.join('\n')}\n` },
  ]);
}

const isGuard = (node: Node): boolean =>
  node.type === 'if_statement' &&
  node.childForFieldName('alternative') === null &&
  /^\(?\s*__name__\s*==\s*(['"])__main__\1\s*\)?$/.test(
    node.childForFieldName('condition')?.text ?? '',
  );

/** The rows, from `row` on, that begin within a string of several lines. */
function linesInStrings(root: Node, row: number): Set<number> {
  const rows = new Set<number>();
  for (const string of root.descendantsOfType('string')) {
    if (string === null) continue;
    for (let at = string.startPosition.row + 1; at <= string.endPosition.row; at += 1) {
      rows.add(at - row);
    }
  }
  return rows;
}

/**
 * The statements that only the top of a module may have, the rest, and the names that functions
 * declare as global.
 */
function parted(
  root: Node,
  source: string,
  isScript: boolean,
): { readonly top: string[]; readonly body: string; readonly globals: readonly string[] } {
  const moved = root.namedChildren.filter(
    (each): each is Node =>
      each !== null &&
      (each.type === 'future_import_statement' ||
        (!isScript &&
          each.type === 'import_from_statement' &&
          each.namedChildren.some((child) => child?.type === 'wildcard_import'))),
  );
  const globals = root
    .descendantsOfType('global_statement')
    .flatMap((each) => each?.namedChildren ?? [])
    .flatMap((each) => each?.text ?? []);
  return {
    top: moved.map(({ text }) => text),
    body: edited(
      source,
      moved.map(({ startIndex: start, endIndex: end }) => ({ start, end, by: '' })),
    ),
    globals: [...new Set(globals)],
  };
}

/** A source with all lines indented that do not begin within a string. */
function indented(root: Node, source: string, depth: number): string {
  const inStrings = linesInStrings(root, 0);
  return source
    .replace(/^\n+/, (blank) => (inStrings.size > 0 ? blank : ''))
    .split('\n')
    .map((line, at) =>
      line.trim() === '' || inStrings.has(at) ? line : `${'    '.repeat(depth)}${line}`,
    )
    .join('\n');
}
