/** A file that a text names, wherever the file was when the text was written. */
export interface PathReference {
  readonly kind: 'path';
  /**
   * UTF-16 offsets into the text, `end` excluded. They include a line number that follows the path.
   */
  readonly start: number;
  readonly end: number;
  /**
   * As written, with `/` between the segments. Untrusted: only `referenceResolver` maps it to a
   * file.
   */
  readonly path: string;
  /** 1-based. */
  readonly line?: number;
  /** The name inside the file: `TestA.test_b` for pytest's `a.py::TestA::test_b`. */
  readonly name?: string;
  /** Name of the repository without its owner, if the text is a GitHub link to one of its files. */
  readonly repository?: string;
}

/** A dotted Python name, such as `sympy.core.basic.Basic.subs`. */
interface DottedReference {
  readonly kind: 'dotted';
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

export type Reference = PathReference | DottedReference;

/**
 * Candidates for references: links, quoted files of a traceback (which may contain spaces), and
 * runs of characters of paths and names. No alternative is ambiguous, and those without an end of
 * their own are bounded. So the time is linear in the text.
 */
const tokens =
  /(?<url>(?:https?|file):\/\/[^\s<>"'`|]+)|File "(?<quoted>[^"\n]{1,500})"|[\p{L}\p{N}_.\-+~@/\\$]+/gu;

/** Endings of a path with slashes that show that it is a file. */
const fileName =
  /\.(?:py|pyi|pyx|pxd|pyw|py_t|rst|rst_t|txt|md|cfg|toml|ini|in|ya?ml|json|ipynb|html?|css|m?js|ts|c|cc|cpp|h|hpp|f90|sql|csv|xml|svg|po|sh|bat|conf|j2|jinja|tex|mplstyle|g4|lark|template)$/iu;

/**
 * Endings of a word without slashes that show that it is a file. Other endings are as often
 * attributes or modules.
 */
const bareFileName =
  /^[\p{L}\p{N}_-][\p{L}\p{N}_.-]*\.(?:py|pyi|pyx|pxd|cfg|toml|ini|rst|md|txt|ya?ml|ipynb)$/iu;

const dottedName = /^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)+$/u;

/** Suffixes that belong to a path. Each is tried only at the end of the path. */
const followers: readonly RegExp[] = [
  /::(?<name>[A-Za-z_]\w{0,199}(?:::[A-Za-z_]\w{0,199}){0,4})/y,
  /:L?(?<line>\d{1,7})(?:[-–]L?\d{1,7}|:\d{1,4})?(?!\d)/y,
  /#L?(?<line>\d{1,7})(?:C\d{1,4})?(?:-L?\d{1,7})?(?!\d)/y,
  /\((?<line>\d{1,7})\)/y,
  /["'`]?,?[ \t]{1,3}\(?(?:(?:at|on|in) )?lines? (?:no\.? |number )?(?<line>\d{1,7})(?!\d)/y,
];

/** Text before a path that gives its line: `line 12 of a/b.py`. */
const lineBefore =
  /\blines? (\d{1,7})(?:[-–]\d{1,7})? (?:of|in) (?:the )?(?:file |module )?["'`]?$/i;

/**
 * Finds the files and Python names that a text such as an issue mentions. These are paths with
 * either kind of slash and their line numbers, files of tracebacks, links to files on GitHub, and
 * dotted names. `referenceResolver` finds out whether they exist.
 *
 * @returns references in the order of the text, none overlapping another
 */
export function findReferences(text: string): Reference[] {
  const found: Reference[] = [];
  const search = new RegExp(tokens);
  for (let match = search.exec(text); match !== null; match = search.exec(text)) {
    const { url, quoted } = match.groups ?? {};
    const references =
      url !== undefined
        ? inUrl(url, match.index)
        : quoted !== undefined
          ? quoted.startsWith('<') // <stdin>, <string>
            ? []
            : path(text, quoted, match.index + 'File "'.length)
          : inToken(text, match[0], match.index);
    for (const reference of references) {
      // A drive letter may belong to the text before it: `a.py::C:/b.py`.
      const start = Math.max(reference.start, found.at(-1)?.end ?? 0);
      found.push({ ...reference, start });
    }
    const end = references.at(-1)?.end ?? 0;
    if (end > search.lastIndex) search.lastIndex = end;
  }
  return found;
}

function inUrl(whole: string, start: number): Reference[] {
  const url = withoutTail(whole, '.,;:!?)]}*_');
  const end = start + url.length;
  const github =
    /^https?:\/\/(?:www\.)?github\.com\/[\w.-]+\/([\w.-]+)\/(?:blob|blame|raw|edit)\/[^/#?]+\/([^#?]+)(?:\?[^#]*)?(?:#L(\d{1,7}))?/i.exec(
      url,
    ) ??
    /^https?:\/\/raw\.githubusercontent\.com\/[\w.-]+\/([\w.-]+)\/[^/#?]+\/([^#?]+)/i.exec(url);
  const local = /^file:\/\/\/?([^#?]+)(?:#L?(\d{1,7}))?/i.exec(url);
  const name = decoded(github?.[2] ?? local?.[1] ?? '');
  const line = github?.[3] ?? local?.[2];
  if (name === undefined || !fileName.test(name)) return [];
  return [
    {
      kind: 'path',
      start,
      end,
      path: name,
      ...(line !== undefined && { line: Number(line) }),
      ...(github?.[1] !== undefined && { repository: github[1] }),
    },
  ];
}

function inToken(text: string, token: string, index: number): Reference[] {
  const head = /^(?:[-+@$]|~(?![/\\]))*/.exec(token)?.[0].length ?? 0;
  const word = withoutTail(token.slice(head), '.-+~@/\\$');
  const start = index + head;
  if (word === '' || word.startsWith('//')) return [];
  if (/[\p{L}\p{N}_]@[\p{L}\p{N}_]/u.test(word)) return []; // an e-mail address
  const hasSlash = /[/\\]/.test(word);
  if (hasSlash ? fileName.test(word) : bareFileName.test(word)) return path(text, word, start);
  const found: Reference[] = [];
  for (const piece of word.matchAll(/[^/\\+\-~@$]+/g)) {
    const name = withoutTail(piece[0], '.');
    if (!dottedName.test(name) || isNoGlobalName(name)) continue;
    const from = start + piece.index;
    const end = from + name.length;
    found.push({
      kind: 'dotted',
      start: from,
      end: text.startsWith('()', end) ? end + 2 : end,
      name,
    });
  }
  return found;
}

function path(text: string, written: string, index: number): PathReference[] {
  let start = index;
  // The colon after a drive letter ends the run of characters before it.
  if (
    /^[/\\]/.test(written) &&
    /(?:^|[^\p{L}\p{N}_])[A-Za-z]:$/u.test(text.slice(Math.max(0, start - 3), start))
  )
    start -= 2;
  let end = index + written.length;
  const details: { line?: number; name?: string } = {};
  for (const follower of followers) {
    follower.lastIndex = end;
    const groups = follower.exec(text)?.groups;
    if (groups === undefined) continue;
    end = follower.lastIndex;
    const { line, name } = groups;
    if (line !== undefined) details.line = Number(line);
    if (name !== undefined) details.name = name.replaceAll('::', '.');
    break;
  }
  const before = lineBefore.exec(text.slice(Math.max(0, start - 60), start))?.[1];
  if (before !== undefined && details.line === undefined) details.line = Number(before);
  if (details.line === 0) delete details.line;
  return [{ kind: 'path', start, end, path: written.replaceAll('\\', '/'), ...details }];
}

/**
 * Whether a dotted name is no global name: `e.g`, `i.e`, a web address without its scheme, or a
 * name on `self`, `cls` or `super`.
 */
function isNoGlobalName(name: string): boolean {
  const parts = name.split('.');
  return (
    parts.every((part) => part.length === 1) ||
    /^(?:www|self|cls|super)$/i.test(parts[0] ?? '') ||
    /^(?:com|org|net)$/.test(parts.at(-1) ?? '')
  );
}

/**
 * Removes the characters of `tail` from the end. A loop, since a regular expression may take
 * quadratic time.
 */
function withoutTail(text: string, tail: string): string {
  let end = text.length;
  while (end > 0 && tail.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function decoded(address: string): string | undefined {
  try {
    return decodeURIComponent(address);
  } catch {
    return undefined;
  }
}
