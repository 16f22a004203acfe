import { Cancelled, HumanError, throwIfAborted } from '../../domain/work';
import { asShown } from '../../patch/bytes';
import { unsafePath } from '../../patch/unsafePath';
import type { FolderTree } from '../../repository/folderTree';
import { git, GitError } from '../../repository/git';
import { posixPattern } from './posixPattern';

/** The files of R, for reading only: no `.git`, no history, and nothing behind a link. */
export interface TreeOfR {
  /**
   * Object id of the git tree: trees with equal ids are equal. Use it as a key for what is computed
   * from the tree.
   */
  readonly digest: string;
  /** Paths of all files, sorted, with `/` between their parts. */
  paths(): Promise<readonly string[]>;
  /**
   * The text of a file, with U+FFFD for bytes that are not UTF-8. Undefined when R has no such
   * file, for a path that leaves the tree, and for a link.
   */
  read(path: string): Promise<string | undefined>;
  /** Why `read` returns undefined for a path, as text for the caller; undefined for a file of R. */
  whyNotRead(path: string): Promise<string | undefined>;
  /**
   * Lines of text files that match, in the order of paths and lines.
   *
   * @throws HumanError when the pattern is invalid or takes too long, Cancelled
   */
  search(query: TextQuery, signal?: AbortSignal): Promise<readonly FoundLine[]>;
}

interface TextQuery {
  readonly pattern: string;
  /** Whether the pattern is a regular expression (Perl syntax) instead of plain text. */
  readonly isRegex?: boolean;
  /** The file or folder of R to search in. */
  readonly within?: string | undefined;
  /** Search only files whose names end so, such as `.py`. */
  readonly ending?: string;
}

/** One line of a file of R. */
export interface FoundLine {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/** Milliseconds after which a search is given up, since a model's pattern may never finish. */
const searchMilliseconds = 20_000;

/**
 * @param folder the pristine tree of R
 * @param files the files of that folder, from `folderTree`
 * @param digest object id of its git tree
 */
export function treeOfR(folder: string, files: FolderTree, digest: string): TreeOfR {
  return {
    digest,
    paths: () => files.paths(),
    async read(path) {
      const text = await files.read(path);
      return text === undefined || files.links.has(path) ? undefined : asShown(text);
    },
    async whyNotRead(path) {
      const unsafe = unsafePath(path);
      if (unsafe !== undefined) return unsafe;
      const text = await files.read(path);
      if (files.links.has(path)) return 'it is a link, and links are not followed';
      if (text !== undefined) return undefined;
      const link = files.beyondLinks.get(path);
      if (link !== undefined) return `${link} is a link, and links are not followed`;
      const isFolder = (await files.paths()).some((each) => each.startsWith(`${path}/`));
      return isFolder ? 'it is a folder' : 'the repository has no such file';
    },
    async search({ pattern, isRegex = false, within, ending }, signal) {
      const unsafe = within === undefined ? undefined : unsafePath(within);
      if (unsafe !== undefined) {
        throw new HumanError(
          `${JSON.stringify(within)} cannot be searched: ${unsafe}`,
          "Use the file's or folder's path in the repository",
        );
      }
      // git grep searches only tracked files: neither .git nor what a link leads to.
      const place = within === undefined ? [] : ['--', `:(top,literal)${within}`];
      const search = isRegex ? grepRegex : grep;
      const found = await search(
        folder,
        { pattern: [isRegex ? '--perl-regexp' : '--fixed-strings', '-e', pattern], place },
        signal,
      );
      return found.split('\n').flatMap((each) => {
        const [, path = '', line, text = ''] = /^([^\0]+)\0(\d+)\0(.*)$/s.exec(each) ?? [];
        if (line === undefined || (ending !== undefined && !path.endsWith(ending))) return [];
        return [{ path, line: Number(line), text: asShown(text) }];
      });
    },
  };
}

interface GrepArguments {
  /** The pattern, after the option that says what it is. */
  readonly pattern: readonly string[];
  readonly place: readonly string[];
}

/** As `grep`, also with a git that is built without PCRE. */
async function grepRegex(
  folder: string,
  { pattern, place }: GrepArguments,
  signal: AbortSignal | undefined,
): Promise<string> {
  try {
    return await grep(folder, { pattern, place }, signal);
  } catch (error) {
    if (!(error instanceof NoPerlPatterns)) throw error;
    const posix = posixPattern(pattern.at(-1) ?? '');
    const options = ['--extended-regexp', ...(posix.ignoresCase ? ['--ignore-case'] : [])];
    return grep(folder, { pattern: [...options, '-e', posix.pattern], place }, signal);
  }
}

/** This git is built without PCRE. */
class NoPerlPatterns extends Error {}

async function grep(
  folder: string,
  { pattern, place }: GrepArguments,
  signal: AbortSignal | undefined,
): Promise<string> {
  throwIfAborted(signal);
  const limit = AbortSignal.timeout(searchMilliseconds);
  const either = signal === undefined ? limit : AbortSignal.any([signal, limit]);
  const options = ['--line-number', '--null', '-I', '--no-color', '--full-name'];
  try {
    return await git(['grep', ...options, ...pattern, ...place], { cwd: folder, signal: either });
  } catch (error) {
    // Nothing found.
    if (error instanceof GitError && error.status === 1 && error.stderr.trim() === '') return '';
    if (error instanceof GitError) throw problemOfPattern(error.stderr);
    if (error instanceof Cancelled && signal?.aborted !== true) {
      throw new HumanError(
        `The search was stopped after ${searchMilliseconds / 1000} seconds`,
        'Search for plain text, or in one folder',
      );
    }
    throw error;
  }
}

function problemOfPattern(stderr: string): Error {
  if (/not compiled with USE_LIBPCRE/.test(stderr)) return new NoPerlPatterns();
  if (/^fatal: pcre2_(?:jit_)?match failed with error code -(?:46|47|53)\b/m.test(stderr)) {
    return new HumanError(
      'The search was stopped: the pattern can match a line in too many ways',
      'Search for plain text, or avoid nested repetition such as (a+)+',
    );
  }
  // Of git's error messages, only those about the pattern are safe to show.
  const why = /^fatal: (?:command line|-e option), (.*)$/m.exec(stderr)?.[1];
  return new HumanError(
    `The pattern is invalid${why === undefined ? '' : ` (${why})`}`,
    'Write it as plain text with kind "text", or as a regular expression (Perl syntax)',
  );
}
