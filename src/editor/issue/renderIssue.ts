import {
  findReferences,
  type Reference,
  type ReferenceTarget,
  type ResolveReference,
} from '../../python/references';
import { escapeAttribute, escapeHtml, sanitise } from './sanitise';

/** Maximum number of references that are looked up in one text. A hostile text may hold any number. */
const maxReferences = 500;

/**
 * Sanitises the HTML of an untrusted text and links its references to files of R.
 *
 * @param html output of the Markdown renderer; untrusted
 * @param resolve finds the place of a reference; undefined when there is no tree
 * @param places receives the places of the links. A link holds the index of its place, never a
 * path, so that messages of the page can only name places found here.
 * @returns well-formed HTML
 */
export async function renderIssue(
  html: string,
  resolve: ResolveReference | undefined,
  places: ReferenceTarget[],
): Promise<string> {
  // The style sheet shows the line ends in paragraphs, so a break before one would count twice.
  const safe = sanitise(html).replaceAll('<br />\n', '<br />');
  if (resolve === undefined) return safe;
  const pieces = split(safe);
  const links: Link[] = [];
  for (const run of runsOf(pieces)) {
    for (const reference of findReferences(run.text)) {
      if (links.length >= maxReferences) break;
      const place = resolve(reference).catch(() => undefined);
      links.push({ run, reference, place: await place });
    }
  }
  for (const { run, reference, place } of links) {
    if (place === undefined) continue;
    const known = places.findIndex(({ path, line }) => path === place.path && line === place.line);
    const index = known >= 0 ? known : places.push(place) - 1;
    insert(run, reference, openingTag(index, place));
  }
  return pieces.map((piece) => (piece.kind === 'tag' ? piece.html : textOf(piece))).join('');
}

interface Tag {
  readonly kind: 'tag';
  html: string;
  readonly name: string;
  readonly closing: boolean;
}

interface Text {
  readonly kind: 'text';
  /** With entities decoded. */
  readonly text: string;
  /** Parts of the text that become links, in order. */
  readonly links: { readonly start: number; readonly end: number; readonly opening: string }[];
}

/** Text that is read as one piece across tags: a paragraph, a block of code, a link. */
interface Run {
  text: string;
  readonly parts: { readonly offset: number; readonly piece: Text }[];
  /** The opening tag of the external link around the run. */
  readonly anchor: Tag | undefined;
}

interface Link {
  readonly run: Run;
  readonly reference: Reference;
  readonly place: ReferenceTarget | undefined;
}

/** Tags that do not end a run. */
const inline = new Set(
  'span code kbd samp var tt sub sup em strong b i u s del ins mark small q cite abbr'.split(' '),
);

/** Cuts the output of `sanitise` into tags and text. */
function split(html: string): (Tag | Text)[] {
  return (html.match(/<[^>]*>|[^<]+/g) ?? []).map((piece) => {
    const tag = /^<(\/?)([a-z0-9]+)/.exec(piece);
    return tag === null
      ? { kind: 'text', text: unescape(piece), links: [] }
      : { kind: 'tag', html: piece, name: tag[2] ?? '', closing: tag[1] === '/' };
  });
}

function runsOf(pieces: readonly (Tag | Text)[]): Run[] {
  const runs: Run[] = [];
  let anchor: Tag | undefined;
  let run: Run | undefined;
  for (const piece of pieces) {
    if (piece.kind === 'text') {
      if (run === undefined) {
        run = { text: '', parts: [], anchor };
        runs.push(run);
      }
      run.parts.push({ offset: run.text.length, piece });
      run.text += piece.text;
    } else if (!inline.has(piece.name)) {
      run = undefined;
      if (piece.name === 'a') anchor = piece.closing ? undefined : piece;
    }
  }
  return runs.map((each) => (each.anchor === undefined ? each : targetOf(each, each.anchor)));
}

/** The reference of an external link is read from its address, whatever its text is. */
function targetOf(run: Run, anchor: Tag): Run {
  const address = /\bhref="([^"]*)"/.exec(anchor.html)?.[1] ?? '';
  return { ...run, text: unescape(address) };
}

function insert(run: Run, reference: Reference, opening: string): void {
  if (run.anchor !== undefined) {
    // Links do not nest, so the existing link now leads into R and loses its attributes.
    run.anchor.html = opening;
    return;
  }
  for (const { offset, piece } of run.parts) {
    const start = Math.max(0, reference.start - offset);
    const end = Math.min(piece.text.length, reference.end - offset);
    if (start >= end) continue;
    // Tags inside a reference cut its link into several. The keyboard stops only at the first.
    const continued = reference.start < offset;
    piece.links.push({
      start,
      end,
      opening: continued ? opening.replace(' tabindex="0"', '') : opening,
    });
  }
}

function openingTag(index: number, place: ReferenceTarget): string {
  const where = place.line === 1 ? place.path : `${place.path}:${place.line}`;
  return `<a class="reference" role="link" tabindex="0" data-reference="${index}" title="${escapeAttribute(where)}">`;
}

function textOf({ text, links }: Text): string {
  let html = '';
  let at = 0;
  for (const { start, end, opening } of links) {
    html += `${escapeHtml(text.slice(at, start))}${opening}${escapeHtml(text.slice(start, end))}</a>`;
    at = end;
  }
  return html + escapeHtml(text.slice(at));
}

function unescape(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Maximum number of lines of a diff that are drawn. Longer pages are slow and nobody reads them. */
const maxLines = 5000;

type LineKind = 'file' | 'hunk' | 'added' | 'removed' | 'context';

interface DiffHtml {
  readonly html: string;
  readonly added: number;
  readonly removed: number;
}

/** A unified diff as escaped HTML, with a class for each kind of line. */
export function diffHtml(diff: string): DiffHtml {
  const lines = diff.replaceAll('\r\n', '\n').replace(/\n$/, '').split('\n');
  let [old, next, added, removed] = [0, 0, 0, 0];
  const drawn: string[] = [];
  for (const line of lines) {
    // Inside a hunk, `--- x` is a removed line.
    const kind: LineKind = old > 0 || next > 0 ? inHunk(line) : outside(line);
    if (kind === 'hunk') {
      const counts = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
      old = counts === null ? 0 : Number(counts[1] ?? 1);
      next = counts === null ? 0 : Number(counts[2] ?? 1);
    } else if (kind !== 'file' && !line.startsWith('\\')) {
      if (kind !== 'added') old--;
      if (kind !== 'removed') next--;
      if (kind === 'added') added++;
      if (kind === 'removed') removed++;
    }
    if (drawn.length < maxLines) drawn.push(`<span class="${kind}">${escapeHtml(line)}\n</span>`);
  }
  const rest = lines.length - drawn.length;
  if (rest > 0) drawn.push(`<span class="file">… ${rest} more lines</span>`);
  return { html: `<pre class="diff"><code>${drawn.join('')}</code></pre>`, added, removed };
}

function inHunk(line: string): LineKind {
  return line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'context';
}

function outside(line: string): LineKind {
  return line.startsWith('@@') ? 'hunk' : 'file';
}

/*
 * Each part can begin at few places only, so that no text makes the search take quadratic time.
 */

/** Fences of code, up to the closing one or the end of the text, as CommonMark has them. */
const fenced = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))[^\n]*\n(?:[^]*?^ {0,3}\1[`~]*[ \t]*$|[^]*)/;
/** A line of indented code. */
const indented = /^(?: {4}|\t)[^\n]*/;
/** Code between equal runs of backticks, within a paragraph. */
const code = /(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n)[^])*?(?<!`)\1(?!`)/;
/** Tags and addresses, whose text must stay as it is. */
const markup = /<\/?[A-Za-z][^<>\n]*>|(?<!\S)\S*:\/\/\S*/;
/** What a backslash escapes is literal already. */
const escaped = /\\./;
const dunder = /(?<!\w)__(?<name>[A-Za-z]\w*?)__(?!\w)/;

const parts = new RegExp(
  [fenced, indented, code, markup, escaped, dunder]
    .map(({ source }, index) => renumbered(source, index))
    .join('|'),
  'gm',
);

/** Names the only group that a part refers to, since numbers change when parts are joined. */
function renumbered(source: string, index: number): string {
  return source.replace(/\((?=`|~)/, `(?<mark${index}>`).replaceAll('\\1', `\\k<mark${index}>`);
}

/**
 * Keeps `__init__` and other dunder names of Python as they are written. Markdown would make them
 * bold. Code is left alone, as are `__two words__`, which are meant to be bold.
 *
 * @returns Markdown in which the underscores are entities, which text and HTML both show as such
 */
export const literalDunders = (markdown: string): string =>
  markdown.replace(parts, (whole: string, ...rest: unknown[]) => {
    const { name } = rest.at(-1) as { readonly name?: string };
    return name === undefined ? whole : `${line}${name}${line}`;
  });

const line = '&#95;&#95;';
