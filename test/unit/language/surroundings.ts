import type { Position } from 'vscode-languageserver';
import {
  checkDiff,
  type CheckedDiff,
  type CheckContext,
} from '../../../src/language/features/check';
import { customDiffsIn, type CustomDiff } from '../../../src/language/customDiffs';
import type { PythonParser } from '../../../src/python/parser';

/** Surroundings of a custom diff whose tree has these files. */
export function surroundingsOf(
  files: Readonly<Record<string, string>>,
  python: PythonParser,
): CheckContext {
  return {
    python,
    tree: {
      read: (path) => Promise.resolve(files[path]),
      paths: () => Promise.resolve(Object.keys(files)),
    },
    uriOf: (path) => `file:///tree/${path}`,
  };
}

/** The only custom diff of a text. */
export function only(text: string, languageId = 'swt-custom-diff'): CustomDiff {
  const [diff, ...more] = customDiffsIn(text, languageId);
  if (diff === undefined || more.length > 0) throw new Error(`not one custom diff in ${text}`);
  return diff;
}

/** Splits a text with the mark `|` into the text without it and the position. */
export function marked(text: string): { text: string; position: Position } {
  const at = text.indexOf('|');
  const above = text.slice(0, at).split('\n');
  return {
    text: text.slice(0, at) + text.slice(at + 1),
    position: { line: above.length - 1, character: above.at(-1)?.length ?? 0 },
  };
}

export const check = (
  text: string,
  surroundings: CheckContext,
  languageId?: string,
): Promise<CheckedDiff> => checkDiff(only(text, languageId), surroundings);

/** Lines from 1 to 8: two tests in a class, then a function. */
export const testFile = [
  'class TestThing:',
  '    def test_one(self):',
  '        assert 1',
  '',
  '    def test_two(self):',
  '        assert 2',
  '',
  '',
  'def test_alone():',
  '    assert 3',
  '',
].join('\n');
