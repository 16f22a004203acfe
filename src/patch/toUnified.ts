import { turnsOf } from '../domain/work';
import { hasErrors, type Diagnostic } from './diagnostic';
import { failed, type Conversion } from './reading/conversion';
import type { ConversionWork, FormatDescriptor } from './reading/formatDescriptor';
import { judgeHtmlEntities, withoutEntities } from './reading/htmlEntities';
import { belowFile, fileAbove, type PatchTree } from './reading/patchTree';
import { recognise } from './reading/recognise';
import { keepTests } from './testFiles';
import { unified } from './unified/unifiedDescriptor';
import { withoutLinks } from './unsafePath';

export type { Conversion } from './reading/conversion';
export type { FormatDescriptor } from './reading/formatDescriptor';
export { fileAbove, type PatchTree } from './reading/patchTree';

/** What a caller may request, as in `--format`; `auto` detects the format. */
export const askedFormats = (further: readonly FormatDescriptor[]): readonly string[] => [
  ...['auto', unified.name],
  ...further.map(({ name }) => name),
];

interface ConversionOptions extends Omit<ConversionWork, 'turns'> {
  /** One of {@link askedFormats}. */
  readonly format: string;
  /** Leave out edits outside tests, and report each. */
  readonly testsOnly?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The options of a conversion, with its turns with other work. */
interface Work extends ConversionWork {
  /** The requested format; undefined to detect it. */
  readonly asked: FormatDescriptor | undefined;
  readonly testsOnly: boolean;
}

/**
 * Converts what the user or a model wrote into a unified diff for a tree. It writes no file. The
 * parts of the patch convert together or not at all. If a text does not convert as it is, damage
 * from copying is repaired: a byte order mark, Windows line ends, no-break spaces, HTML entities.
 *
 * A text may be long and malicious, so other work gets its turn in between, and the signal cancels
 * the conversion.
 *
 * @throws Cancelled, and any error of `tree.read`
 */
export async function toUnified(text: string, asked: ConversionOptions): Promise<Conversion> {
  const { format, testsOnly = false, signal, ...work } = asked;
  const options: Work = {
    ...{ ...work, testsOnly, turns: turnsOf(signal) },
    asked: format === 'auto' ? undefined : formatNamed(format, asked.formats),
  };
  await options.turns.pause();
  const plain = withoutLineEnds(text.replace(/^\ufeff/, ''));
  if (isGarbled(plain)) {
    const mended = ungarbled(plain);
    return told(await convert(mended?.text ?? plain, options), mended?.diagnostics ?? []);
  }
  const converted = await convert(plain, options);
  const isSound =
    converted.patch !== '' && !converted.diagnostics.some((each) => each.code === 'white-space');
  const mended = isSound ? undefined : ungarbled(plain);
  const again = mended === undefined ? undefined : await convert(mended.text, options);
  if (mended !== undefined && again !== undefined && again.patch !== '') {
    return told(again, mended.diagnostics);
  }
  return unescaped(plain, converted, options);
}

function formatNamed(name: string, further: readonly FormatDescriptor[]): FormatDescriptor {
  const found = [unified, ...further].find((each) => each.name === name);
  if (found === undefined) throw new Error(`there is no patch format named ${name}`);
  return found;
}

/** A conversion with decoded HTML entities in added lines, or with a warning about them. */
async function unescaped(text: string, converted: Conversion, options: Work): Promise<Conversion> {
  await options.turns.pause();
  const judged = await judgeHtmlEntities(text, converted.files, options.tree);
  if (judged === undefined) return converted;
  const mended = judged.isEscaped ? withoutEntities(text) : undefined;
  const again = mended === undefined ? undefined : await convert(mended.text, options);
  return mended !== undefined && again !== undefined && again.patch !== ''
    ? told(again, [mended.diagnostic])
    : told(converted, [judged.warning]);
}

function told(converted: Conversion, before: readonly Diagnostic[]): Conversion {
  return before.length === 0
    ? converted
    : { ...converted, diagnostics: [...before, ...converted.diagnostics] };
}

/**
 * If every line of a text ends with CRLF, the transport added it. Later steps take line ends from
 * the tree.
 */
function withoutLineEnds(text: string): string {
  return text.includes('\r\n') && !/(^|[^\r])\n/.test(text) ? text.replaceAll('\r\n', '\n') : text;
}

async function convert(text: string, options: Work): Promise<Conversion> {
  const { tree, turns, formats, asked, testsOnly } = options;
  await turns.pause();
  const found = recognise(text, [unified, ...formats], asked);
  if (found.format === 'empty') {
    const message = 'The patch is empty';
    return failed('empty', [{ severity: 'info', line: 1, message, code: 'empty' }]);
  }
  if (found.format === 'unknown') return failed('unknown', [noPatch(text, formats)]);
  if (hasErrors(found.diagnostics)) return failed(found.format, found.diagnostics);

  await turns.pause();
  const format = formatNamed(found.format, formats);
  const kept = testsOnly
    ? keepTests(found.text, format)
    : { text: found.text, left: [], diagnostics: [] };
  const before = [...found.diagnostics, ...kept.diagnostics];
  const cut = format.cutOff?.(kept.text);
  if (cut !== undefined) before.push(cut);
  if (hasErrors(before)) return failed(found.format, before, kept.left);
  await turns.pause();
  const fitting = withoutLinks(await format.convert(kept.text, options), tree, kept.text);
  const converted = await withoutFilesAsFolders(fitting, tree);
  const diagnostics = [...before, ...converted.diagnostics].sort((a, b) => a.line - b.line);
  return { ...converted, diagnostics, left: kept.left };
}

/** Git cannot make a file below another file. */
async function withoutFilesAsFolders(converted: Conversion, tree: PatchTree): Promise<Conversion> {
  const { files } = converted;
  const told: Diagnostic[] = [];
  for (const [path, after] of files) {
    if (after === undefined || (await tree.read(path)) !== undefined) continue;
    const above = await fileAbove(path, tree, files);
    if (above !== undefined) told.push({ ...belowFile(path, above), line: 1 });
  }
  if (told.length === 0) return converted;
  return failed(converted.format, [...converted.diagnostics, ...told], converted.left);
}

/** Formats of other tools, with a line by which each is recognised. */
const foreign: readonly [RegExp, string][] = [
  [
    /^\*\*\* (?:Begin Patch|Update File: |Add File: )/m,
    'the apply_patch format ("*** Begin Patch")',
  ],
  [/^\*{15}$/m, 'a context diff ("***************")'],
  [
    /^\s*<(?:str_replace|invoke|function_calls|edit_file)\b|"old_str(?:ing)?"\s*:/m,
    'editing tool calls',
  ],
  [/^@@@ /m, "a merge's combined diff"],
];

function noPatch(text: string, further: readonly FormatDescriptor[]): Diagnostic {
  const written = [unified, ...further].flatMap((each) => each.written ?? []);
  const last = written.length > 1 ? `or ${written.pop()}` : [];
  const hint = `Write ${written.concat(last).join(', ')}`;
  for (const [pattern, name] of foreign) {
    const at = pattern.exec(text)?.index;
    if (at === undefined) continue;
    const line = text.slice(0, at).split('\n').length;
    const message = `The text contains ${name}, which is not supported`;
    return { severity: 'error', code: 'unknown-format', line, message, hint };
  }
  return {
    severity: 'error',
    code: 'no-patch',
    line: 1,
    message: 'The text contains no patch',
    hint,
  };
}

/** Blanks other than the plain one, as web pages and chat windows insert them. */
const oddBlanks = '\u00a0\u2007\u202f';
const oddIndent = new RegExp(`^([+-]?)([ \\t]*[${oddBlanks}][ \\t${oddBlanks}]*)`);

/**
 * Whether a line begins with a blank that no format or language uses, so that the text is garbled.
 */
function isGarbled(text: string): boolean {
  return new RegExp(`^[${oddBlanks}]`, 'm').test(text);
}

/**
 * Repairs what a web page or a chat window does to a text. Odd blanks before the code become plain
 * ones. HTML entities become characters, unless the text also has plain `<` or `>`.
 *
 * @returns undefined if there is nothing to repair
 */
function ungarbled(text: string): { text: string; diagnostics: readonly Diagnostic[] } | undefined {
  const diagnostics: Diagnostic[] = [];
  let lines = text.split('\n');
  const odd = lines.findIndex((line) => oddIndent.test(line));
  if (odd >= 0) {
    lines = lines.map((line) =>
      line.replace(
        oddIndent,
        (_, mark: string, blanks: string) => mark + blanks.replace(/[^\t]/g, ' '),
      ),
    );
    diagnostics.push({
      severity: 'warning',
      code: 'white-space',
      line: odd + 1,
      message: 'Lines start with no-break spaces, which are read as spaces',
      hint: 'Copy the text from its source, not from a web page',
    });
  }
  const shown = lines.join('\n');
  const plain = /[<>]/.test(text) ? undefined : withoutEntities(shown);
  if (plain !== undefined) diagnostics.push(plain.diagnostic);
  return diagnostics.length === 0 ? undefined : { text: plain?.text ?? shown, diagnostics };
}
