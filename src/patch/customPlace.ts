import type { Definition } from '../python/definitions';
import type { ImportStatement, PythonModule } from '../python/module';
import type { CustomBlock } from './custom';
import type { CustomFile } from './customFile';

/** The function or class of the file that a block means: by name, then nearest to its line. */
export function findTarget(
  file: CustomFile,
  block: CustomBlock,
  wanted: Definition,
): Definition | undefined {
  const isClass = wanted.kind === 'class';
  const narrow = (all: Definition[], keep: (d: Definition) => boolean): Definition[] => {
    const kept = all.filter(keep);
    return kept.length > 0 ? kept : all;
  };
  let found = file.module.definitions.filter(
    (d) => d.name === wanted.name && (d.kind === 'class') === isClass,
  );
  found = narrow(found, (d) => !d.local);
  found = narrow(found, (d) => takesSelf(d) === takesSelf(wanted));
  const line = block.place === 'BOF' ? 1 : block.place === 'EOF' ? file.lines.length : block.place;
  const distance = ({ range }: Definition): number =>
    Math.max(0, range.startLine - line, line - range.endLine);
  const [best] = [...found].sort((a, b) => distance(a) - distance(b));
  if (best !== undefined && found.length > 1) {
    file.tell(
      'info',
      block.codeLine,
      `${file.path} has ${found.length} of the name ${wanted.name}; ` +
        `${best.qualifiedName} in line ${best.defLine} is the nearest to ${block.place}`,
    );
  }
  return best;
}

/** Whether a function can only be a method. */
export function takesSelf(definition: Definition): boolean {
  return /^(self|cls)$/.test(definition.parameters[0] ?? '');
}

/** Up to three names of the file that are much like a name, for a hint. */
export function nearestNames(module: PythonModule, name: string): string {
  return module.definitions
    .map((d) => ({ d, away: editDistance(d.name, name) / Math.max(d.name.length, name.length) }))
    .filter(({ away }) => away <= 0.5)
    .sort((a, b) => a.away - b.away)
    .slice(0, 3)
    .map(({ d }) => `${d.qualifiedName} (line ${d.defLine})`)
    .join(', ');
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** The class that a method belongs into: around the line, or the one that ends right before it. */
export function findHome(file: CustomFile, block: CustomBlock): Definition | undefined {
  const { module, lines } = file;
  if (block.place === 'BOF') return undefined;
  const line = block.place === 'EOF' ? lines.length : Math.min(block.place, lines.length);
  const classes = module.definitions.filter((d) => d.kind === 'class' && !d.local);
  const open = classes.filter((d) => d.body.startLine > d.defLine);
  const around = open.filter((d) => d.range.startLine <= line && line <= d.range.endLine);
  if (around.length > 0) return around.at(-1);
  const before = module.statements.filter((s) => s.range.startLine <= line).at(-1);
  return open.find((d) => d.parent === undefined && d.range.endLine === before?.range.endLine);
}

/** The line before which to insert in a class: between members, never inside one. */
export function classLine(file: CustomFile, block: CustomBlock, home: Definition): number {
  const members = file.module.definitions.filter((d) => d.parent === home);
  if (block.place === 'EOF' || block.place === 'BOF') return home.range.endLine;
  return (
    between(
      file,
      members.map((d) => d.range),
      block.place,
    ) ?? home.range.endLine
  );
}

/** The line before which to insert at the margin: between statements, behind the first imports. */
export function moduleLine(file: CustomFile, block: CustomBlock): number {
  const { lines, module } = file;
  const head = headEnd(file);
  if (block.place === 'EOF' || (block.place !== 'BOF' && block.place > lines.length))
    return lines.length;
  if (block.place === 'BOF') return head;
  const at = between(
    file,
    module.statements.map((s) => s.range),
    block.place,
  );
  return Math.max(head, at ?? lines.length);
}

/** Before the span that begins at the line or next after it, behind the span that holds it. */
function between(
  file: CustomFile,
  spans: readonly { startLine: number; endLine: number }[],
  line: number,
): number | undefined {
  const around = spans.find((span) => span.startLine < line && line <= span.endLine);
  if (around !== undefined) return around.endLine;
  const next = spans.find((span) => span.startLine >= line);
  if (next === undefined) return undefined;
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
  if (end === 0) while ((lines[end] ?? '').startsWith('#')) end += 1;
  return end;
}
