import { plural } from '../../domain/text';
import type { Definition } from '../../python/definitions';
import { placeText, replaceLine, type CustomBlock } from './parseCustom';
import type { BlockCode } from './blockCode';
import type { CustomFile } from './customFile';
import { accessor, isStatic, placeLine, takesSelf } from './findTarget';
import { classLine, findHome, moduleLine } from './findHome';
import { unitOfFile } from './rewrite';
import { indentationOf, reindent } from '../reading/indentation';

/** Inserts the code of a block at its place: a method into a class, other code at the top level. */
export function insert(file: CustomFile, block: CustomBlock, code: BlockCode): void {
  const { lines } = file;
  const { indent } = code.code;
  const first = code.definitions[0]?.definition;
  const isMethod = first !== undefined && (takesSelf(first) || isStatic(first));
  const home = indent !== '' || isMethod ? findHome(file, block) : undefined;
  if (first === undefined && indent !== '' && home === undefined && !code.broken) {
    file.tell({
      severity: 'error',
      code: 'no-definition',
      line: block.codeLine,
      message: `The block contains indented statements, but there is no class at ${placeText(block.place)}`,
      hint: 'Rewrite the whole function that they belong to',
    });
    return;
  }
  if (isMethod && (home === undefined || indent === '')) {
    tellHome(file, block, code, first, home);
    if (home === undefined && indent !== '') return;
  }
  tellTwins(file, block, code, home);
  if (typeof block.place === 'number' && block.place > lines.length + 1) {
    file.tell({
      severity: 'info',
      code: 'outside-file',
      line: block.placeLine,
      message: `${file.path} has only ${plural(lines.length, 'line')}; the code is added at the end`,
      fixes: [replaceLine('Write EOF', block.placeLine, 'EOF')],
    });
  }
  const at = home === undefined ? moduleLine(file, block) : classLine(file, block, home);
  const into = home === undefined ? '' : indentationOf(lines[home.body.startLine - 1] ?? '');
  const count = code.code.lines.length;
  file.edits.push({
    kind: 'insert',
    from: at,
    to: at,
    text: code.broken ? [] : reindent(code.code, 0, count, into, unitOfFile(file, code.code)),
    block,
    source: { from: code.firstLine, to: code.firstLine + count },
    ...(home !== undefined && { definition: home }),
    apart: home === undefined ? 2 : 1,
  });
}

/** Reports which class receives a method that is not indented as one, or that there is no class. */
function tellHome(
  file: CustomFile,
  block: CustomBlock,
  code: BlockCode,
  first: Definition,
  home: Definition | undefined,
): void {
  const line = code.firstLine + (code.definitions[0]?.defLine ?? 0);
  const what = takesSelf(first)
    ? `${first.name} takes ${first.parameters[0]}`
    : `${first.name} is a ${first.decorators.find((text) => /method\b/.test(text)) ?? 'method'}`;
  if (home !== undefined) {
    file.tell({
      severity: 'warning',
      code: 'moved-into-class',
      line,
      message: `${what}, so it goes into class ${home.qualifiedName}`,
      hint: 'Indent it as a method',
      fixes: [
        {
          title: 'Indent the code',
          edits: [
            {
              from: code.firstLine,
              to: code.firstLine + code.code.lines.length,
              lines: reindent(code.code, 0, code.code.lines.length, '    ', '    '),
            },
          ],
        },
      ],
    });
    return;
  }
  const near = placeLine(file, block.place);
  const classes = file.module.definitions
    .filter((d) => d.kind === 'class' && d.parent === undefined && d.body.startLine > d.defLine)
    .sort((a, b) => Math.abs(a.range.endLine - near) - Math.abs(b.range.endLine - near));
  file.tell({
    // Indented code is meant as a method, so it cannot become a top-level function.
    severity: code.code.indent === '' ? 'warning' : 'error',
    code: 'no-class-here',
    line,
    message: `${what}, but there is no class at ${placeText(block.place)}`,
    hint: 'Use a line inside the class as the place',
    fixes: classes
      .slice(0, 3)
      .map((d) =>
        replaceLine(
          `Insert it into class ${d.qualifiedName}`,
          block.placeLine,
          String(d.range.endLine),
        ),
      ),
  });
}

/**
 * Warns of a name that this block or another one adds at the same place, since the later one hides
 * the other.
 */
function tellTwice(
  file: CustomFile,
  block: CustomBlock,
  code: BlockCode,
  { definition, defLine }: BlockCode['definitions'][number],
  home: Definition | undefined,
): void {
  // Accessors of a property and overloads may share their name.
  if (accessor(definition) !== '') return;
  const key = `${home?.range.start ?? ''} ${definition.name}`;
  const line = code.firstLine + defLine;
  const first = file.added.get(key);
  if (first === undefined) {
    file.added.set(key, { block, line });
    return;
  }
  const alone = first.block !== block && code.definitions.length === 1;
  const title = `Remove the block that adds ${definition.name} again`;
  const edits = [{ from: block.line, to: block.endLine + 1, lines: [] }];
  file.tell({
    severity: 'warning',
    code: 'name-exists',
    line,
    message: `${definition.name} is added in line ${first.line} as well as in line ${line}; the later one hides the other`,
    hint: 'Remove one of them, or rename it',
    ...(alone && { fixes: [{ title, edits }] }),
  });
}

/** Warns of functions that exist in the file. */
function tellTwins(
  file: CustomFile,
  block: CustomBlock,
  code: BlockCode,
  home: Definition | undefined,
): void {
  for (const own of code.definitions) {
    const { definition, defLine } = own;
    tellTwice(file, block, code, own, home);
    const twin = file.module.named(definition.name).find((d) => d.parent === home);
    if (twin === undefined) continue;
    file.tell({
      severity: 'warning',
      code: 'name-exists',
      line: code.firstLine + defLine,
      message: `${file.path} has ${twin.qualifiedName} in line ${twin.defLine} already; the later one hides the other`,
      hint: 'Use "rewrite" to replace it, or rename the new one',
      fixes: [
        {
          title: `Rewrite ${twin.qualifiedName}`,
          edits: [
            { from: block.actionLine, to: block.actionLine + 1, lines: ['rewrite'] },
            { from: block.placeLine, to: block.placeLine + 1, lines: [String(twin.defLine)] },
          ],
        },
      ],
    });
  }
}
