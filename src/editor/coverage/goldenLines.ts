import type { TestResult } from '../../domain/outcome';
import { isTestPath } from '../../patch/testFiles';
import { parseUnified } from '../../patch/parseUnified';

/** The parts of the golden patch that the output of tests on R∘X* could show. */
export interface GoldenLines {
  /** Files that it changes, relative to the tree. */
  readonly paths: ReadonlySet<string>;
  /** Lines that it adds, trimmed; without lines that any code has, such as `else:`. */
  readonly texts: ReadonlySet<string>;
}

/** @param patch the golden patch, as a unified diff */
export function goldenLinesOf(patch: string): GoldenLines {
  const { files } = parseUnified(patch);
  return {
    paths: new Set(
      files.flatMap(({ oldPath, newPath }) => [oldPath, newPath].filter((path) => path !== null)),
    ),
    texts: new Set(
      files
        .flatMap(({ hunks }) => hunks.flatMap(({ lines }) => lines))
        .filter(({ kind, text }) => kind === 'added' && tells(text.trim()))
        .map(({ text }) => text.trim()),
    ),
  };
}

/** Whether a line of code is distinctive: more than punctuation and one bare keyword. */
const tells = (text: string): boolean =>
  /\w/.test(text) && !/^(else|try|finally|pass|return|break|continue)\b\W*$/.test(text);

/**
 * What a runner printed on R∘X*, without lines of the golden patch. It leaves out:
 * - frames of a traceback in files that the patch changes (their line, source and marks);
 * - sections of pytest's long tracebacks that show the code of such a file, except pytest's
 *   description of the error in lines with `E`;
 * - any other line that reads like one that the patch adds.
 *
 * @param note stands once wherever lines were left out
 */
export function hideGoldenLines(text: string, golden: GoldenLines, note: string): string {
  const shown: string[] = [];
  const hide = (): void => {
    if (shown.at(-1) !== note) shown.push(note);
  };
  for (const section of sectionsOf(text.split('\n'))) {
    if (section.some((line) => isPlaceIn(line, golden.paths))) {
      hide();
      const last = section.findLastIndex((line) => isPlaceIn(line, golden.paths));
      shown.push(...section.slice(0, last).filter((line) => isError(line, golden)));
      section.splice(0, last + 1);
    }
    // Indentation of the frame that is being left out.
    let frame: number | undefined;
    for (const line of section) {
      const { length } = /^(E(?= ))?\s*/.exec(line)?.[0] ?? '';
      if (frame !== undefined && (length > frame || isMarks(line))) continue;
      frame = undefined;
      if (isFrameIn(line, golden.paths)) {
        frame = length;
        hide();
      } else if (golden.texts.has(codeOf(line))) hide();
      else shown.push(line);
    }
  }
  return shown.join('\n');
}

/**
 * Sections of a log as pytest separates them; a separator line begins the second of two sections.
 */
function sectionsOf(lines: readonly string[]): string[][] {
  const sections: string[][] = [[]];
  for (const line of lines) {
    if (/^(_ ){3,}_?\s*$|^_{3,} .* _{3,}$|^(=|-){3,}.*(=|-){3,}$/.test(line)) sections.push([]);
    sections.at(-1)?.push(line);
  }
  return sections;
}

/** `tallybook/money.py:51: TypeError`, with which pytest locates the code above. */
function isPlaceIn(line: string, paths: ReadonlySet<string>): boolean {
  const path = /^(\S+):\d+: ?[\w.]*\s*$/.exec(line)?.[1];
  return path !== undefined && isOneOf(path, paths);
}

/** `  File "…/tallybook/money.py", line 51, in allocate`. */
function isFrameIn(line: string, paths: ReadonlySet<string>): boolean {
  const path = /^(?:E\s)?\s*File "([^"]+)", line \d+/.exec(line)?.[1];
  return path !== undefined && isOneOf(path.replaceAll('\\', '/'), paths);
}

const isOneOf = (path: string, paths: ReadonlySet<string>): boolean =>
  paths.has(path) || [...paths].some((each) => path.endsWith(`/${each}`));

const isError = (line: string, golden: GoldenLines): boolean =>
  /^E\s/.test(line) && !golden.texts.has(codeOf(line));

/** Carets and tildes below a line of source. */
const isMarks = (line: string): boolean => /^(E\s)?\s*[~^]+\s*$/.test(line);

/** A line of source without what pytest puts before it. */
const codeOf = (line: string): string => line.replace(/^[E>]\s/, '').trim();

/**
 * A result on R∘X* as it may be shown while the golden patch is hidden: outcome, message, and the
 * frames of the candidate's own files.
 *
 * @param note says at the end that lines are left out; a result without such lines is returned
 *   unchanged
 */
export function withoutGoldenLines(
  result: TestResult,
  golden: GoldenLines,
  note: string,
): TestResult {
  const { exception, message, details, frames } = result;
  const own = frames?.filter(({ path }) => isTestPath(path));
  const shownMessage = message && hideGoldenLines(message, golden, note);
  const shownDetails = details && hideGoldenLines(details, golden, note);
  const isHarmless =
    own?.length === frames?.length && shownMessage === message && shownDetails === details;
  if (isHarmless) return result;
  const head = shownMessage?.includes(exception ?? '') === true ? undefined : exception;
  const told = [head, shownMessage].filter((part) => part !== undefined && part !== '').join(': ');
  const places = own?.map(({ path, line, function: name }) => `${path}:${line}: ${name}`) ?? [];
  return {
    ...result,
    ...(shownMessage === undefined ? {} : { message: shownMessage }),
    ...(own === undefined ? {} : { frames: own }),
    details: [told, ...places, note].filter((part) => part !== '').join('\n'),
  };
}
