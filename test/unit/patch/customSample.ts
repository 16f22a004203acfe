import assert from 'node:assert/strict';
import { parseCustom } from '../../../src/patch/custom/parseCustom';
import { planCustom, type CustomPlan } from '../../../src/patch/custom/customEdits';
import type { Diagnostic } from '../../../src/patch/diagnostic';
import type { PythonParser } from '../../../src/python/parser';
import { applyLineEdits } from './lineEdits';

export type Files = Record<string, string | undefined>;

/** The path of {@link file} in the trees of the tests. */
export const at = 'tests/test_f.py';

export const file = [
  '#!/usr/bin/env python',
  '"""Doc."""',
  'import os',
  'from m import a, b  # names',
  '',
  'LIMIT = 3   # stays',
  '',
  '# about one',
  '@dec',
  'def test_one(x):',
  '    return 1  # old',
  '    # end of one',
  '',
  '',
  'class TestA(Base):',
  '    """Doc of A."""',
  '',
  '    @mark("x")',
  '    async def test_two(self):',
  '        text = """',
  'flush left',
  '"""',
  '        return text',
  '',
  '    def test_one(self):',
  '        return 2',
  '',
  '',
  'class TestB:',
  '    def test_two(self):',
  '        pass',
  '',
].join('\n');

export const block = (path: string, action: string, place: string | number, code: string): string =>
  `diff\n${path}\n${action}\n${place}\n${code}\nend diff\n`;

export interface Placed extends CustomPlan {
  /** Diagnostics of reading and of placing. */
  readonly diagnostics: Diagnostic[];
}

/** The effect of a text in the custom format on files. */
export async function place(
  python: PythonParser,
  files: Files,
  text: string,
  outsideTests = false,
): Promise<Placed> {
  const { blocks, diagnostics } = parseCustom(text);
  const tree = {
    read: (path: string) => Promise.resolve(files[path]),
    paths: () => Promise.resolve(Object.keys(files)),
  };
  const plan = await planCustom(blocks, { tree, python, outsideTests });
  return { ...plan, diagnostics: [...diagnostics, ...plan.diagnostics] };
}

/** The content of `at` after a text that must convert without errors. */
export async function edited(python: PythonParser, text: string, before = file): Promise<string> {
  const { edits, diagnostics } = await place(python, { [at]: before }, text);
  const [edit] = edits.filter((each) => each.path === at);
  assert.ok(edit?.after !== undefined, JSON.stringify(diagnostics, undefined, 2));
  return edit.after;
}

/** The only diagnostic with a code. */
export function the(diagnostics: readonly Diagnostic[], code: Diagnostic['code']): Diagnostic {
  const found = diagnostics.filter((diagnostic) => diagnostic.code === code);
  assert.equal(found.length, 1, `${code}: ${JSON.stringify(diagnostics, undefined, 2)}`);
  const [only] = found;
  assert.ok(only !== undefined);
  return only;
}

/** A text after a diagnostic's fix of this title. */
export function fixed(text: string, { fixes = [] }: Diagnostic, title: string): string {
  const fix = fixes.find((each) => each.title === title);
  assert.ok(fix !== undefined, `no fix "${title}" among ${fixes.map((f) => f.title).join(' | ')}`);
  return applyLineEdits(text, fix.edits);
}
