import type { Definition } from '../../python/definitions';
import type { ImportStatement, PythonModule, Statement } from '../../python/module';
import type { PartedModule } from '../../python/partedModule';
import type { CustomBlock } from './parseCustom';
import type { CustomFile } from './customFile';
import { placeLine } from './findTarget';

/**
 * The class that receives a method: the one around the line, or the one that ends right before it.
 */
export function findHome(file: CustomFile, block: CustomBlock): Definition | undefined {
  const { module, lines } = file;
  if (block.place === 'BOF') return undefined;
  const line = Math.min(placeLine(file, block.place), lines.length);
  const around = openClasses(module.around(line)).filter(
    (d) => d.range.startLine <= line && line <= d.range.endLine,
  );
  if (around.length > 0) return around.at(-1);
  const [last, above] = statementsAbove(module, line);
  const [end] = statementsAbove(module, lines.length);
  // A class at the end of a file is often followed by the call that runs its tests.
  const isGuard =
    last !== undefined &&
    last.range.start === end?.range.start &&
    /^if\s*\(?\s*__name__\b/.test(lines[last.range.startLine - 1] ?? '');
  const before = isGuard ? above : last;
  if (before === undefined) return undefined;
  return openClasses(module.around(before.range.startLine)).find(
    (d) => d.parent === undefined && d.range.endLine === before.range.endLine,
  );
}

/** The last two statements of a module that begin at or above a line, the lower one first. */
function statementsAbove(module: PartedModule, line: number): Statement[] {
  const found: Statement[] = [];
  for (const { statements } of module.modules(line, 'up')) {
    const from = found.length > 0 ? statements.length : firstBehind(statements, line);
    for (let at = from - 1; at >= 0 && found.length < 2; at -= 1) {
      const statement = statements[at];
      if (statement !== undefined) found.push(statement);
    }
    if (found.length === 2) break;
  }
  return found;
}

/** Index of the first statement that begins after a line. */
function firstBehind(statements: readonly Statement[], line: number): number {
  let [low, high] = [0, statements.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((statements[middle]?.range.startLine ?? 0) <= line) low = middle + 1;
    else high = middle;
  }
  return low;
}

const classesOf = new WeakMap<PythonModule, readonly Definition[]>();

/** The classes of a part of a module that can receive methods. */
function openClasses(module: PythonModule): readonly Definition[] {
  let classes = classesOf.get(module);
  if (classes === undefined) {
    // A class on a single line has no body that can grow.
    classes = module.definitions.filter(
      (d) => d.kind === 'class' && !d.local && d.body.startLine > d.defLine,
    );
    classesOf.set(module, classes);
  }
  return classes;
}

const membersIn = new WeakMap<Definition, readonly Statement[]>();

/** The line of a class before which to insert: between its members, never inside one. */
export function classLine(file: CustomFile, block: CustomBlock, home: Definition): number {
  if (typeof block.place !== 'number') return home.range.endLine;
  let members = membersIn.get(home);
  if (members === undefined) {
    const part = file.module.around(home.defLine);
    members = definingStatements(part.bodies.get(home.body.start) ?? [], part.definitions);
    membersIn.set(home, members);
  }
  return between(file, members, block.place) ?? home.range.endLine;
}

/** The statements that contain a definition. Both lists are in order. */
function definingStatements(
  statements: readonly Statement[],
  definitions: readonly Definition[],
): Statement[] {
  let next = 0;
  return statements.filter(({ range }) => {
    while ((definitions[next]?.range.start ?? Infinity) < range.start) next += 1;
    return (definitions[next]?.range.start ?? Infinity) < range.end;
  });
}

/** The line before which to insert top-level code: between statements, after the first imports. */
export function moduleLine(file: CustomFile, block: CustomBlock): number {
  const { lines, module } = file;
  const line = placeLine(file, block.place);
  if (block.place === 'EOF' || line > lines.length) return lines.length;
  const head = headEnd(file);
  if (block.place === 'BOF') return head;
  for (const { statements } of module.modules(line)) {
    const at = between(file, statements, line);
    if (at !== undefined) return Math.max(head, at);
  }
  return lines.length;
}

/**
 * The line of the statement that begins at or after the given one. If a statement contains that
 * line, the line after that statement.
 */
function between(
  file: CustomFile,
  statements: readonly Statement[],
  line: number,
): number | undefined {
  // Binary search, since a file can have thousands of ordered statements and of blocks.
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
  // Comments directly above a statement belong to it.
  while (at > 0 && (file.lines[at - 1] ?? '').trimStart().startsWith('#')) at -= 1;
  return at;
}

/** How many lines the docstring and the imports at the top take, or else the comments there. */
export function headEnd(file: CustomFile, only?: (statement: ImportStatement) => boolean): number {
  const { module, lines } = file;
  let end = 0;
  let isFirst = true;
  reading: for (const { statements, imports } of module.modules(1)) {
    for (const statement of statements) {
      const inHead =
        statement.type === 'import'
          ? only === undefined ||
            imports.some((s) => s.range.start === statement.range.start && only(s))
          : isFirst && statement.type === 'string';
      if (!inHead) break reading;
      end = statement.range.endLine;
      isFirst = false;
    }
  }
  // The line of an import may hold more code: `import a; x = 1`.
  if (end === 0) while ((lines[end] ?? '').startsWith('#')) end += 1;
  return end;
}
