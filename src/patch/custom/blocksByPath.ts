import type { CustomBlock } from './parseCustom';
import { nearestPaths } from './findTarget';
import type { Diagnostic, Fix } from '../diagnostic';
import type { PatchTree } from '../reading/patchTree';

/** Groups blocks by file, and drops those that repeat an earlier block word for word. */
export function blocksByPath(
  blocks: readonly CustomBlock[],
  tell: (diagnostic: Diagnostic) => void,
): Map<string, CustomBlock[]> {
  const byPath = new Map<string, CustomBlock[]>();
  const seen = new Map<string, CustomBlock>();
  for (const block of blocks) {
    const { path, line, endLine } = block;
    const key = keyOf(block);
    const first = seen.get(key);
    if (first !== undefined) {
      const title = 'Remove the block';
      tell({
        severity: 'warning',
        code: 'duplicate',
        line,
        endLine,
        message: `The block repeats the one in line ${first.line} and is used once`,
        hint: title,
        fixes: [{ title, edits: [{ from: line, to: endLine + 1, lines: [] }] }],
      });
      continue;
    }
    seen.set(key, block);
    const own = byPath.get(path);
    if (own === undefined) byPath.set(path, [block]);
    else own.push(block);
  }
  return byPath;
}

/** A key that only equal blocks share. */
function keyOf({ path, action, place, code, noNewline }: CustomBlock): string {
  const where = typeof place === 'object' ? Object.values(place).join('-') : place;
  return [path, action, where, noNewline, ...code].join('\n');
}

/** Fixes that replace the path in all blocks of one file by a similar path. */
export async function pathFixes(
  tree: PatchTree,
  blocks: readonly CustomBlock[],
  only?: 'same name',
): Promise<{ fixes?: Fix[] }> {
  const path = blocks[0]?.path ?? '';
  const name = path.slice(path.lastIndexOf('/') + 1);
  const usual = /^(__init__|conftest|tests?|models|views|urls)\.py$/.test(name);
  if (only !== undefined && usual) return {};
  const near = nearestPaths((await tree.paths?.()) ?? [], path).filter(
    (found) => only === undefined || found.endsWith(`/${path}`) || path.endsWith(`/${found}`),
  );
  const fixes = near.map((found) => ({
    title: `Write ${found}`,
    edits: blocks.map(({ pathLine }) => ({ from: pathLine, to: pathLine + 1, lines: [found] })),
  }));
  return fixes.length > 0 ? { fixes } : {};
}

/** Errors of blocks that rewrite a file that does not exist. */
export function reportNewFile(path: string, blocks: readonly CustomBlock[]): Diagnostic[] {
  const isWhole = ({ place }: CustomBlock): boolean =>
    typeof place === 'object' && place.from === 1 && place.to === 0;
  const wrong = blocks.find((block) => block.action === 'rewrite' && !isWhole(block));
  if (wrong === undefined) return [];
  return [
    {
      severity: 'error',
      code: 'unknown-file',
      line: wrong.pathLine,
      message: `There is no file ${path}`,
      hint: 'Only functions and classes in existing files can be rewritten; use "insert" to create a file',
    },
  ];
}
