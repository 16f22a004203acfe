import { hasErrors } from '../diagnostic';
import { makeUnified } from '../makeUnified';
import { failed, type Conversion } from '../reading/conversion';
import type { ConversionWork } from '../reading/formatDescriptor';
import { customEdits } from './customEdits';
import { parseCustom } from './parseCustom';

/**
 * Converts the blocks of the custom format: all of them, or none if there is any error.
 *
 * @throws Cancelled
 */
export async function convertCustom(
  text: string,
  { tree, python, turns }: Pick<ConversionWork, 'tree' | 'python' | 'turns'>,
): Promise<Conversion> {
  const { blocks, diagnostics } = parseCustom(text);
  if (blocks.length === 0 && !hasErrors(diagnostics)) {
    diagnostics.push({
      severity: 'error',
      code: 'no-patch',
      line: 1,
      message: 'The text contains no block of the custom format',
      hint: 'Write "diff", path, "rewrite" or "insert", place, code and "end diff", each on its own line',
    });
  }
  const result = await customEdits(blocks, { tree, python, turns });
  const all = [...diagnostics, ...result.diagnostics].sort((a, b) => a.line - b.line);
  if (hasErrors(all)) return failed('custom', all);
  const files = new Map(result.edits.map((edit) => [edit.path, edit.after]));
  await turns.pause();
  return { patch: makeUnified(result.edits), format: 'custom', diagnostics: all, files, left: [] };
}
