import type { Definition } from '../python/definitions';
import type { ImportStatement, PythonModule, Statement } from '../python/module';
import type { CustomBlock } from './custom';
import type { CustomFile } from './customFile';
import { placeLine } from './customNames';

/** The class that a method belongs into: around the line, or the one that ends right before it. */
export function findHome(file: CustomFile, block: CustomBlock): Definition | undefined {
  const { module, lines } = file;
  if (block.place === 'BOF') return undefined;
  const line = Math.min(placeLine(file, block.place), lines.length);
  const open = openClasses(module);
  const around = open.filter((d) => d.range.startLine <= line && line <= d.range.endLine);
  if (around.length > 0) return around.at(-1);
  const at = module.statements.findLastIndex((s) => s.range.startLine <= line);
  const last = module.statements[at];
  // A class at the end of a file often has the call below it that runs its tests.
  const isGuard =
    last !== undefined &&
    last === module.statements.at(-1) &&
    /^if\s*\(?\s*__name__\b/.test(lines[last.range.startLine - 1] ?? '');
  const before = isGuard ? module.statements[at - 1] : last;
  return open.find((d) => d.parent === undefined && d.range.endLine === before?.range.endLine);
}

const classesOf = new WeakMap<PythonModule, readonly Definition[]>();

/** The classes of a module that can be added to. */
function openClasses(module: PythonModule): readonly Definition[] {
  let classes = classesOf.get(module);
  if (classes === undefined) {
    // A class in one line has no body to add to.
    classes = module.definitions.filter(
      (d) => d.kind === 'class' && !d.local && d.body.startLine > d.defLine,
    );
    classesOf.set(module, classes);
  }
  return classes;
}

/** The line before which to insert in a class: between its members, never inside one. */
export function classLine(file: CustomFile, block: CustomBlock, home: Definition): number {
  if (typeof block.place !== 'number') return home.range.endLine;
  const statements = file.module.bodies.get(home.body.start) ?? [];
  const inside = file.module.definitions.filter(
    (d) => home.range.start < d.range.start && d.range.end <= home.range.end,
  );
  const members = statements.filter((s) =>
    inside.some((d) => s.range.start <= d.range.start && d.range.end <= s.range.end),
  );
  return between(file, members, block.place) ?? home.range.endLine;
}

/** The line before which to insert at the margin: between statements, behind the first imports. */
export function moduleLine(file: CustomFile, block: CustomBlock): number {
  const { lines, module } = file;
  const head = headEnd(file);
  const line = placeLine(file, block.place);
  if (block.place === 'EOF' || line > lines.length) return lines.length;
  if (block.place === 'BOF') return head;
  return Math.max(head, between(file, module.statements, line) ?? lines.length);
}

/** Before the statement that begins at the line or next after it, behind the one that holds it. */
function between(
  file: CustomFile,
  statements: readonly Statement[],
  line: number,
): number | undefined {
  // They stand in order, and a file can have thousands of them and of blocks.
  let [low, high] = [0, statements.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((statements[middle]?.range.endLine ?? 0) < line) low = middle + 1;
    else high = middle;
  }
  const next = statements[low]?.range;
  if (next === undefined) return undefined;
  if (next.startLine < line) return next.endLine;
  let at = next.startLine - 1;
  // Comments right above belong to what they stand above.
  while (at > 0 && (file.lines[at - 1] ?? '').trimStart().startsWith('#')) at -= 1;
  return at;
}

/** How many lines the docstring and the imports at the top take, or else the comments there. */
export function headEnd(file: CustomFile, only?: (statement: ImportStatement) => boolean): number {
  const { module, lines } = file;
  let end = 0;
  for (const [i, statement] of module.statements.entries()) {
    const found = module.imports.find((s) => s.range.start === statement.range.start);
    const inHead =
      found !== undefined ? (only?.(found) ?? true) : i === 0 && statement.type === 'string';
    if (!inHead) break;
    end = statement.range.endLine;
  }
  // A line may go on behind the import: `import a; x = 1`.
  if (end === 0) while ((lines[end] ?? '').startsWith('#')) end += 1;
  return end;
}
