import type { Stepwise } from '../../domain/work';
import type { Definition } from '../../python/definitions';
import type { PythonModule } from '../../python/module';
import { insertLine, placeText, replaceLine, type CustomBlock } from './parseCustom';
import type { BlockCode, BlockDefinition } from './blockCode';
import type { CustomFile } from './customFile';
import { closestName, findClosest, findTarget, membersOf, nearestNames } from './findTarget';
import type { Fix } from '../diagnostic';
import {
  indentationOf,
  indentUnit,
  reindent,
  usesTabs,
  type IndentedCode,
} from '../reading/indentation';

interface Match {
  readonly own: BlockDefinition;
  readonly target: Definition;
}

/**
 * The definitions of a file that blocks name exactly. No other block can mean them by a similar
 * name.
 */
export function namedTargets(
  file: CustomFile,
  blocks: readonly { readonly block: CustomBlock; readonly code: BlockCode | undefined }[],
): Set<Definition> {
  const named = new Set<Definition>();
  for (const { block, code } of blocks) {
    for (const { definition } of code?.definitions ?? []) {
      const target = findTarget(file, block, definition, code?.code.indent !== '');
      if (target !== undefined) named.add(target.nearest[0]);
    }
  }
  return named;
}

/**
 * Replaces each function and class of the block that exists in the file, and adds the others beside
 * them. It yields after each part of the file that it reads, and before each definition.
 */
export function* rewrite(file: CustomFile, block: CustomBlock, code: BlockCode): Stepwise<void> {
  if (code.definitions.length === 0) {
    if (code.broken) return;
    file.tell({
      severity: 'error',
      code: 'no-definition',
      line: block.codeLine,
      message: 'The block to rewrite contains no function or class',
      hint: 'Write the whole function or class, with its "def" or "class" line',
    });
    return;
  }
  const indented = code.code.indent !== '';
  let matched = matchAll(file, block, code, indented);
  const found = new Set(matched.map(({ own }) => own));
  const unknown = code.definitions.filter((own) => !found.has(own));
  const [only] = unknown;
  if (matched.length === 0) yield* file.module.reading();
  if (matched.length === 0 && unknown.length === 1 && only !== undefined) {
    const target = findClosest(file, block, only.definition);
    if (target !== undefined) {
      tellClosest(file, block, only, code, target);
      matched = [{ own: only, target }];
    }
  }
  if (matched.length === 0) {
    for (const own of unknown) {
      yield;
      tellUnknown(file, block, own, code);
    }
  } else if (unknown.length > 0 && only !== matched[0]?.own) tellAdded(file, code, unknown);
  for (const [i, match] of matched.entries()) {
    yield;
    const before = matched[i - 1]?.own.to ?? 0;
    const after = i === matched.length - 1 ? code.code.lines.length : match.own.to;
    replace(file, block, code, match, before, after);
  }
}

/** The most other definitions of a name that fixes offer. */
const shownOthers = 3;

/**
 * Matches each definition of a block with one of the file. Several definitions of one name match as
 * many of the file, the nearest ones, in their order.
 */
function matchAll(
  file: CustomFile,
  block: CustomBlock,
  code: BlockCode,
  indented: boolean,
): Match[] {
  const groups = new Map<string, { own: BlockDefinition[]; count: number }>();
  for (const own of code.definitions) {
    const found = findTarget(file, block, own.definition, indented);
    if (found === undefined) continue;
    const { key, count } = found;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { own: [own], count });
    else group.own.push(own);
  }
  const matched: Match[] = [];
  for (const { own, count } of groups.values()) {
    const [first] = own;
    if (first === undefined) continue;
    const most = own.length + shownOthers;
    const all = findTarget(file, block, first.definition, indented, most)?.nearest ?? [];
    const targets = all.slice(0, own.length).sort((a, b) => a.range.start - b.range.start);
    for (const [i, best] of targets.entries()) {
      const each = own[i];
      if (each === undefined) continue;
      const others = all
        .slice(0, shownOthers + 1)
        .filter((d) => d !== best)
        .slice(0, shownOthers);
      if (own.length < count) tellSeveral(file, block, each, code, { best, others, count });
      matched.push({ own: each, target: best });
    }
  }
  return matched.sort((a, b) => a.own.from - b.own.from);
}

/** Replaces the target by the lines `from` to `to` of the code, which contain the definition. */
function replace(
  file: CustomFile,
  block: CustomBlock,
  code: BlockCode,
  { own, target }: Match,
  from: number,
  to: number,
): void {
  const { lines } = code.code;
  const isBlank = (at: number): boolean => (lines[at] ?? '').trim() === '';
  while (from < to && isBlank(from)) from += 1;
  while (to > from && isBlank(to - 1)) to -= 1;
  if (holdsMore(file, target)) {
    tellMore(file, block, own, code, target);
    return;
  }
  const start = target.range.startLine - 1;
  from += repeatedComments(lines.slice(from, own.from), file.lines, start);
  const defLine = file.lines[target.defLine - 1] ?? '';
  const indent = indentationOf(defLine);
  tellLost(file, block, code, { own, target });
  tellBare(file, code, { own, target });
  const inner = file.lines.slice(target.defLine, target.range.endLine);
  const unit = unitOf(file, target) ?? indentUnit(inner.map((line) => line.slice(indent.length)));
  file.edits.push({
    kind: 'rewrite',
    from: start,
    to: target.range.endLine,
    text: code.broken ? [] : reindent(code.code, from, to, indent, unit),
    block,
    source: { from: code.firstLine + from, to: code.firstLine + to },
    definition: target,
  });
}

const lineStarts = new WeakMap<readonly string[], readonly number[]>();

/** The offset of each line of a source. */
function startsOf(lines: readonly string[]): readonly number[] {
  let starts = lineStarts.get(lines);
  if (starts === undefined) {
    let at = 0;
    starts = lines.map((line) => (at += line.length + 1) - line.length - 1);
    lineStarts.set(lines, starts);
  }
  return starts;
}

/**
 * Whether the lines of a definition may contain other code as well. Python also ends lines at a
 * lone carriage return. Neither the parser nor a unified diff does that.
 */
function holdsMore({ lines }: CustomFile, { range }: Definition): boolean {
  const starts = startsOf(lines);
  const part = (line: number, from: number, to?: number): string => {
    const start = starts[line - 1] ?? 0;
    return (lines[line - 1] ?? '').slice(
      Math.max(0, from - start),
      to === undefined ? undefined : Math.max(0, to - start),
    );
  };
  const above = part(range.startLine, 0, range.start);
  const below = part(range.endLine, range.end);
  if (above.trim() !== '' || !/^[\s;]*(?:#|$)/.test(below)) return true;
  const own = lines.slice(range.startLine - 1, range.endLine);
  return own.some((line) => line.trim().includes('\r'));
}

function tellMore(
  file: CustomFile,
  block: CustomBlock,
  own: BlockDefinition,
  code: BlockCode,
  target: Definition,
): void {
  const { startLine, endLine } = target.range;
  const where = startLine === endLine ? `line ${startLine}` : `lines ${startLine} and ${endLine}`;
  file.tell({
    severity: 'error',
    code: 'does-not-apply',
    line: defLineOf(code, own),
    message: `${file.path} has other code on ${where} of ${target.qualifiedName}, which would be lost`,
    hint: 'A carriage return alone ends no line here; replace these lines by number, as in 3-5, with all of their code',
    fixes: [
      replaceLine(`Write ${startLine}-${endLine}`, block.placeLine, `${startLine}-${endLine}`),
    ],
  });
}

/** The indentation of a definition's body relative to the definition. */
function unitOf(file: CustomFile, { body, defLine }: Definition): string | undefined {
  if (body.startLine <= defLine) return undefined;
  const [outer, inner] = [defLine, body.startLine].map((line) =>
    indentationOf(file.lines[line - 1] ?? ''),
  );
  if (outer === undefined || inner === undefined || !inner.startsWith(outer)) return undefined;
  return inner.slice(outer.length) || undefined;
}

const units = new WeakMap<PythonModule, string>();

/**
 * The most frequent indentation of bodies in a file; four blanks if there is none. The file is read
 * only if it has tabs or the code uses tabs. Otherwise four blanks are enough.
 */
export function unitOfFile(file: CustomFile, code: IndentedCode): string {
  if (file.blanksOnly && !usesTabs(code)) return '    ';
  const known = units.get(file.module);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  for (const definition of file.module.definitions) {
    const unit = unitOf(file, definition);
    if (unit !== undefined) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  }
  const unit = [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '    ';
  units.set(file.module, unit);
  return unit;
}

/** Number of comment lines above a block's function that the file already has above its own. */
function repeatedComments(own: readonly string[], lines: readonly string[], at: number): number {
  if (own.length === 0 || !own.every((line) => line.trimStart().startsWith('#'))) return 0;
  const there = lines.slice(Math.max(0, at - own.length), at);
  return own.every((line, i) => line.trim() === there[i]?.trim()) ? own.length : 0;
}

function defLineOf(code: BlockCode, own: BlockDefinition): number {
  return code.firstLine + own.defLine;
}

const kindOf = (definition: Definition): string =>
  definition.kind === 'class' ? 'class' : 'function';

function asInsertion(block: CustomBlock, name: string): Fix {
  return replaceLine(`Insert ${name} as a new one`, block.actionLine, 'insert');
}

/** A fix that gives a block's definition the name of one in the file, and the place its line. */
function renamed(block: CustomBlock, own: BlockDefinition, code: BlockCode, to: Definition): Fix {
  const text = code.code.lines[own.defLine] ?? '';
  const now = text.replace(
    /^(\s*(?:async\s+)?(?:def|class)\s+)\w+/u,
    (_, head: string) => head + to.name,
  );
  const line = defLineOf(code, own);
  return {
    title: `Rewrite ${to.qualifiedName} (line ${to.defLine})`,
    edits: [
      { from: block.placeLine, to: block.placeLine + 1, lines: [String(to.defLine)] },
      { from: line, to: line + 1, lines: [now] },
    ],
  };
}

function tellSeveral(
  file: CustomFile,
  block: CustomBlock,
  own: BlockDefinition,
  code: BlockCode,
  { best, others, count }: { best: Definition; others: readonly Definition[]; count: number },
): void {
  file.tell({
    severity: 'info',
    code: 'several-of-the-name',
    line: defLineOf(code, own),
    message:
      `${file.path} has ${count} of the name ${best.name}; ` +
      `${best.qualifiedName} in line ${best.defLine} is the nearest to ${placeText(block.place)}`,
    fixes: others.map((d) =>
      replaceLine(
        `Rewrite ${d.qualifiedName} in line ${d.defLine} instead`,
        block.placeLine,
        String(d.defLine),
      ),
    ),
  });
}

function tellClosest(
  file: CustomFile,
  block: CustomBlock,
  own: BlockDefinition,
  code: BlockCode,
  target: Definition,
): void {
  const { name } = own.definition;
  file.tell({
    severity: 'warning',
    code: 'closest-name',
    line: defLineOf(code, own),
    message:
      `${file.path} has no ${kindOf(own.definition)} ${name}; ${target.qualifiedName} in line ` +
      `${target.defLine}, the closest name within ${closestName.lines} lines of ` +
      `${placeText(block.place)}, is rewritten`,
    hint: 'Use that name, or "insert" to add a new one',
    fixes: [renamed(block, own, code, target), asInsertion(block, name)],
  });
}

function tellUnknown(
  file: CustomFile,
  block: CustomBlock,
  own: BlockDefinition,
  code: BlockCode,
): void {
  const { name } = own.definition;
  const near = nearestNames(file, name);
  const named = near.map((d) => `${d.qualifiedName} (line ${d.defLine})`).join(', ');
  const same = near.filter((d) => (d.kind === 'class') === (own.definition.kind === 'class'));
  file.tell({
    severity: 'error',
    code: 'unknown-function',
    line: defLineOf(code, own),
    message: `${file.path} has no ${kindOf(own.definition)} ${name}`,
    hint: `${near.length === 0 ? '' : `Did you mean ${named}? `}Use "insert" to add a new one`,
    fixes: [...same.map((d) => renamed(block, own, code, d)), asInsertion(block, name)],
  });
}

function tellAdded(file: CustomFile, code: BlockCode, unknown: readonly BlockDefinition[]): void {
  const times = new Map<string, number>();
  for (const { definition } of code.definitions) {
    times.set(definition.name, (times.get(definition.name) ?? 0) + 1);
  }
  for (const own of unknown) {
    const { name } = own.definition;
    const twice = (times.get(name) ?? 0) > 1;
    file.tell({
      severity: 'warning',
      code: 'unknown-function',
      line: defLineOf(code, own),
      message: `${file.path} has no ${twice ? 'other ' : ''}${kindOf(own.definition)} ${name}`,
      hint: 'It is added beside the one that is rewritten',
    });
  }
}

/**
 * Warns of decorators that the block's function lacks. Blocks omit them since the prompt numbers
 * the line of `def`.
 */
function tellBare(file: CustomFile, code: BlockCode, { own, target }: Match): void {
  if (own.definition.decorators.length > 0 || target.decorators.length === 0) return;
  const above = file.lines.slice(target.range.startLine - 1, target.defLine - 1);
  const indent = indentationOf(file.lines[target.defLine - 1] ?? '');
  const line = defLineOf(code, own);
  const margin = indentationOf(code.code.lines[own.defLine] ?? '');
  const lines = above.map((text) => margin + text.slice(indent.length));
  const names = target.decorators.map((text) => `@${text.split('\n', 1)[0] ?? ''}`).join(', ');
  file.tell({
    severity: 'warning',
    code: 'loses-decorators',
    line,
    message: `${target.qualifiedName} loses ${names}`,
    hint: 'A function is rewritten with its decorators; write them above "def" to keep them',
    fixes: [{ title: 'Keep the decorators', edits: [{ from: line, to: line, lines }] }],
  });
}

/** Warns of methods that a rewritten class loses. */
function tellLost(
  file: CustomFile,
  block: CustomBlock,
  code: BlockCode,
  { own, target }: Match,
): void {
  if (own.definition.kind !== 'class') return;
  const lost = membersOf(file.module.around(target.defLine), target)
    .map((d) => d.name)
    .filter((name) => !own.methods.includes(name));
  if (lost.length === 0) return;
  const line = code.firstLine + own.from;
  const fixes: Fix[] = [];
  if (own.firstMember !== undefined && code.definitions.length === 1) {
    fixes.push({
      title: `Rewrite only ${own.methods.join(', ')}`,
      edits: [
        { from: block.placeLine, to: block.placeLine + 1, lines: [String(target.defLine)] },
        { from: line, to: code.firstLine + own.firstMember, lines: [] },
      ],
    });
  }
  const names = `${lost.slice(0, 5).join(', ')}${lost.length > 5 ? ', …' : ''}`;
  if (block.cut === true) {
    const end = insertLine('Write "end diff" after the code', block.endLine + 1, 'end diff');
    file.tell({
      severity: 'error',
      code: 'incomplete',
      line: defLineOf(code, own),
      message: `The text ends inside the block, and class ${target.name} would lose ${names}`,
      hint: 'Provide the complete answer; if the class is complete, write "end diff" after it',
      fixes: [end, ...fixes],
    });
    return;
  }
  file.tell({
    severity: 'warning',
    code: 'class-loses-methods',
    line: defLineOf(code, own),
    message: `Class ${target.name} loses ${names}`,
    hint: 'A class is rewritten as a whole; give the method alone to change only that',
    fixes,
  });
}
