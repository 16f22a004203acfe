import type { LocationLink, Position, Range } from 'vscode-languageserver';
import type { PlanPart } from '../../patch/customFormat';
import { blockAction, isIn, blockLine, namesIn, blockPath, blockRole } from './blocks';
import { partAt, planAt, type CheckedDiff, type CheckContext } from './check';
import { positionInDiff, rangeIn } from '../customDiffs';

/**
 * The target in the tree of a position of a custom diff. A path leads to its file, and a place to
 * its line. Code leads to the function or class that it replaces, or to the place of its insertion.
 */
export async function definition(
  checked: CheckedDiff,
  position: Position,
  { tree, uriOf }: CheckContext,
): Promise<LocationLink[]> {
  const { diff } = checked;
  const { line, column } = positionInDiff(diff, position);
  const { role, block } = blockRole(diff.lines, diff.blocks, line);
  const path = block === undefined ? undefined : blockPath(block);
  if (block === undefined || path === undefined) return [];
  const source = await tree.read(path);
  if (source === undefined) return [];
  const { lead, toPart } = linksInto(source, uriOf(path));
  const plan = planAt(checked, line);
  const field = { path: block.path, place: block.place }[role as 'path'];
  if (field !== undefined) {
    if (!isIn(field, line, column)) return [];
    const origin = rangeIn(diff, line, field.column, field.column + field.value.length);
    if (role === 'path') return lead(origin, 1, 1);
    const at = blockLine(block);
    const part = plan?.parts.find((each) => each.kind !== 'imports');
    // An insertion goes near its line. A rewritten function has its link on its own name.
    if (part !== undefined && (at === undefined || blockAction(block) === 'insert')) {
      return toPart(origin, part);
    }
    return at === undefined ? [] : lead(origin, at, at);
  }
  if (role !== 'code' || plan === undefined) return [];
  const part = partAt(plan, line);
  if (part === undefined) return [];
  const name = namesIn(diff.lines, block).find((each) => each.line === line);
  const end = diff.lines[line - 1]?.length ?? 0;
  const origin = rangeIn(diff, line, name?.from ?? 0, name?.to ?? end);
  return name === undefined && part.kind !== 'imports' ? [] : toPart(origin, part);
}

/** Links into a file of the tree. Lines are 1-based, and `to` is excluded. */
function linksInto(source: string, uri: string) {
  const count = source.split('\n').length;
  const within = (at: number): number => Math.min(Math.max(1, at), count) - 1;
  const lead = (
    origin: Range,
    from: number,
    to: number,
    name = { at: from, from: 0, to: 0 },
  ): LocationLink[] => [
    {
      originSelectionRange: origin,
      targetUri: uri,
      targetRange: {
        start: { line: within(from), character: 0 },
        end: { line: Math.max(within(from), Math.min(to - 1, count)), character: 0 },
      },
      targetSelectionRange: {
        start: { line: within(name.at), character: name.from },
        end: { line: within(name.at), character: name.to },
      },
    },
  ];
  const toPart = (origin: Range, part: PlanPart): LocationLink[] => {
    const { from, to, definition: target } = part;
    if (part.kind !== 'rewrite' || target === undefined) return lead(origin, from, to);
    const text = source.split(/\r?\n/)[target.defLine - 1] ?? '';
    const start = Math.max(target.column, text.indexOf(target.name, target.column));
    return lead(origin, from, to, {
      at: target.defLine,
      from: start,
      to: start + target.name.length,
    });
  };
  return { lead, toPart };
}
