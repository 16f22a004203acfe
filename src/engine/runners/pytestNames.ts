const word = 'PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS';
/** `SUBFAILED(i=1)` of pytest 9; `[text] (i=1) SUBFAIL` of pytest-subtests. */
const subtest = 'SUB(?:FAILED|FAIL|PASSED|PASS|SKIPPED|SKIP|XFAIL|XPASS)';

/** Longer lines hold no outcome, and no pattern has to be fast on them. */
const longestLine = 4000;

// oxlint-disable-next-line no-control-regex -- colours are what is to be removed
const escapes = /\u001b\[[0-9;?]*[A-Za-z]/g;
const heading = /^={3,} (.+) ={3,}$/;
/** Sections of the report below the lines of progress, and the last line. */
const reportHeading = /^(?:FAILURES|ERRORS|PASSES|XFAILURES|XPASSES|warnings summary)|\bin [\d.]+s/;
/** What a test printed, until the next heading. */
const captured = /^-{3,} Captured \S+ \w+ -{3,}$/;
const anyHeading = /^(?:={3,} .* ={3,}|_{3,} .* _{3,})$/;

const summaryLine = new RegExp(`^(${word}) (.+)$`);
const subtestWord = new RegExp(`^(?:[[(].*[\\])] )?(${subtest})(?=[ [(])`);
const statusInLine = new RegExp(` (${word}|${subtest})(?=[ [(]|$)`, 'g');
const percentage = /(?<! ) +\[ *\d+%\]$/;
/** `[gw0] [ 50%] STATUS name`, as a worker's `-v` prints it. */
const ofWorker = /^\[gw\d+\](?: \[ *\d+%\])? /;
/** The name alone, where the test prints before its status, and that status. */
const nameLine = /^\S+\.py::[^\s[]+(?:\[.*?\](?= |$))?/;
const statusLine = new RegExp(String.raw`^(${word})(?: \(.*\))?(?: +\[ *\d+%\])?$`);

/**
 * Parses a log of pytest with whole names, for repositories that the harness does not know: the
 * summary of `-rA`, and the lines of `-v`, with or without colours, workers, and subtests. A
 * parameter may contain spaces and ` - `, which also precedes the reason of a failure. The summary
 * counts skipped tests by place, without names. What a test prints is no outcome.
 */
export function parsePytestNames(log: string): Map<string, string> {
  const lines = log
    .split('\n')
    .flatMap((line) => (line.length > longestLine ? [] : [line.replace(escapes, '').trimEnd()]));
  const summary = lines.findLastIndex(
    (line) => heading.exec(line)?.[1] === 'short test summary info',
  );
  const found = new Outcomes();
  readProgress(summary < 0 ? lines : lines.slice(0, summary), found);
  const rest = summary < 0 ? withoutPrinted(lines) : lines.slice(summary + 1);
  for (const line of rest) {
    if (summary >= 0 && heading.test(line)) break;
    readSummaryLine(line, found);
  }
  return found.all;
}

/** The outcomes so far; a test whose subtest failed has failed, whatever else is said of it. */
class Outcomes {
  readonly all = new Map<string, string>();
  private readonly failedInParts = new Set<string>();

  add(name: string, status: string): void {
    if (name === '') return;
    if (!status.startsWith('SUB')) {
      if (!this.failedInParts.has(name) || status === 'ERROR') this.all.set(name, status);
    } else if (status.startsWith('SUBFAIL')) {
      this.failedInParts.add(name);
      if (this.all.get(name) !== 'ERROR') this.all.set(name, 'FAILED');
    }
  }
}

function readProgress(lines: readonly string[], found: Outcomes): void {
  let pending: string | undefined;
  for (const line of lines) {
    const title = heading.exec(line)?.[1];
    if (title !== undefined && reportHeading.test(title)) return;
    const worker = ofWorker.exec(line)?.[0];
    const status = pending === undefined ? undefined : statusLine.exec(line)?.[1];
    if (worker !== undefined) readSummaryLine(line.slice(worker.length), found);
    else if (readVerboseLine(line, found)) pending = undefined;
    else if (status === undefined) pending = nameLine.exec(line)?.[0] ?? pending;
    else {
      found.add(pending ?? '', status);
      pending = undefined;
    }
  }
}

/** Reads `name STATUS (reason) [ 50%]`, as `-v` prints it; the name or the reason may hold a word too. */
function readVerboseLine(line: string, found: Outcomes): boolean {
  if (!/^\S+\.py(?:::| )/.test(line)) return false;
  const words = [...line.matchAll(statusInLine)];
  for (const at of [words[0], words.at(-1)]) {
    if (at?.[1] === undefined) continue;
    const after = line.slice(at.index + at[0].length).replace(percentage, '');
    if (after !== '' && !/^ ?[[(].*[\])]$/.test(after)) continue;
    const name = line.slice(0, at.index);
    found.add(at[1].startsWith('SUB') ? withoutDetails(name) : name, at[1]);
    return true;
  }
  return false;
}

/** A name without the text and the values of a subtest behind it. */
const withoutDetails = (name: string): string => name.split(/ [[(]/, 1)[0] ?? name;

/** The lines outside captured output, for a log that has no heading of a summary. */
function withoutPrinted(lines: readonly string[]): readonly string[] {
  let isPrinted = false;
  return lines.filter((line) => {
    if (captured.test(line)) isPrinted = true;
    else if (anyHeading.test(line)) isPrinted = false;
    return !isPrinted;
  });
}

function readSummaryLine(line: string, found: Outcomes): void {
  const ofSubtest = subtestWord.exec(line);
  if (ofSubtest?.[1] !== undefined) {
    const name = / (\S+\.py(?:::.*)?)$/.exec(line.slice(ofSubtest[0].length))?.[1];
    found.add(withoutReason(name ?? ''), ofSubtest[1]);
    return;
  }
  const [, status, text] = summaryLine.exec(line) ?? [];
  if (status === undefined || text === undefined) return;
  const name = text.replace(/^at (?:setup|teardown) of (?=\S)/, '');
  found.add(status === 'PASSED' ? name : withoutReason(name), status);
}

/** The name before ` - ` and a reason; a parameter ends with the last bracket before that. */
function withoutReason(text: string): string {
  const place = /^\[\d+\](?= )/.exec(text);
  if (place !== null) return place[0];
  const bracket = text.indexOf('[');
  if (bracket >= 0 && !text.slice(0, bracket).includes(' ')) {
    const end = text.indexOf('] - ', bracket);
    if (end >= 0) return text.slice(0, end + 1);
    if (text.endsWith(']')) return text;
  }
  return text.split(' - ', 1)[0] ?? text;
}
