import type { TransitionLists } from '../../../src/domain/harness';

/** Why a test differs from the lists of its row, or `unexplained`. */
export const fidelityCauses = [
  /** The lists were made by a parser that reads the same log as they say. */
  "artefact of the dataset's log",
  /** It agrees with the packages of the harness, which are not those of the instance's day. */
  "environment other than the harness'",
  /** R is a source release, whose tests or code are not those of the base commit. */
  'release instead of the commit',
  /** It depends on `PYTHONHASHSEED`. */
  'hash seed',
  'needs the network',
  'needs a program of the system',
  /** It differs between two equal runs. */
  'flaky',
  'unexplained',
] as const;
export type FidelityCause = (typeof fidelityCauses)[number];

/** The two lists of a row. */
export const rowLists = ['FAIL_TO_PASS', 'PASS_TO_PASS'] as const;
export type RowList = (typeof rowLists)[number];

/** Where a test stands by the outcomes of a run; `absent` when the log does not name it. */
export type Standing = keyof TransitionLists | 'absent';

/** A test that the row lists otherwise than a run of the golden tests has it. */
export interface DifferingTest {
  readonly test: string;
  /** The list of the row that has it; `none` when neither does. */
  readonly listed: RowList | 'none';
  readonly here: Standing;
}

/** What is known of a row beside its lists, to tell causes apart. */
export interface RowEvidence {
  /** Output of the golden tests on R and on R∘X*. */
  readonly logs: { readonly base: string; readonly fixed: string };
  /** The same logs as the parser of SWE-bench reads them, which made the lists. */
  readonly bySweBench: TransitionLists | undefined;
  readonly isRelease: boolean;
  /** Further runs with the same seed. */
  readonly again: readonly TransitionLists[];
  /** Runs with other values of `PYTHONHASHSEED`. */
  readonly otherSeeds: readonly TransitionLists[];
  /** A run with the packages of the harness, and what these are. */
  readonly asHarness?: { readonly lists: TransitionLists; readonly what: string } | undefined;
  /** Causes found by hand: by test, or `*` for all that are left. */
  readonly byHand?: Readonly<Record<string, ExplainedCause>> | undefined;
}

export interface ExplainedCause {
  readonly cause: FidelityCause;
  /** What shows it, in one sentence. */
  readonly detail: string;
}

/** The tests on which the lists of a row and those of a run differ, sorted. */
export function differingTests(
  row: Readonly<Record<RowList, readonly string[]>>,
  here: TransitionLists,
): DifferingTest[] {
  const names = new Set(
    rowLists.flatMap((list) => [...row[list], ...here[list]]).toSorted((a, b) => (a < b ? -1 : 1)),
  );
  const inRow = {
    FAIL_TO_PASS: new Set(row.FAIL_TO_PASS),
    PASS_TO_PASS: new Set(row.PASS_TO_PASS),
  };
  return [...names].flatMap((test) => {
    const listed = rowLists.find((list) => inRow[list].has(test)) ?? 'none';
    const standing = standingIn(here, test);
    return listed === standing ? [] : [{ test, listed, here: standing }];
  });
}

/** Where a test stands in the lists of a run. */
export function standingIn(lists: TransitionLists, test: string): Standing {
  const names = Object.keys(lists) as (keyof TransitionLists)[];
  return names.find((name) => lists[name].includes(test)) ?? 'absent';
}

const agrees = ({ test, listed }: DifferingTest, lists: TransitionLists): boolean => {
  const standing = standingIn(lists, test);
  return listed === 'none'
    ? standing !== 'FAIL_TO_PASS' && standing !== 'PASS_TO_PASS'
    : standing === listed;
};

/**
 * The cause of a difference, by the first rule that holds. What was run and read comes before what
 * is only likely: a release may explain any difference, so it comes last.
 */
export function causeOf(differing: DifferingTest, evidence: RowEvidence): ExplainedCause {
  for (const rule of rules) {
    const found = rule(differing, evidence);
    if (found !== undefined) return found;
  }
  return { cause: 'unexplained', detail: firstLineOfFailure(differing, evidence) };
}

type Rule = (differing: DifferingTest, evidence: RowEvidence) => ExplainedCause | undefined;

const rules: readonly Rule[] = [
  (differing, { byHand }) => byHand?.[differing.test],
  byLog,
  (differing, { again }) =>
    again.some((lists) => standingIn(lists, differing.test) !== differing.here)
      ? { cause: 'flaky', detail: 'another run with the same seed has another outcome' }
      : undefined,
  (differing, { otherSeeds }) =>
    otherSeeds.some((lists) => standingIn(lists, differing.test) !== differing.here)
      ? { cause: 'hash seed', detail: 'a run with another PYTHONHASHSEED has another outcome' }
      : undefined,
  byFailureText,
  byFreeType,
  (differing, { asHarness }) =>
    asHarness !== undefined && agrees(differing, asHarness.lists)
      ? { cause: "environment other than the harness'", detail: `agrees with ${asHarness.what}` }
      : undefined,
  bySkips,
  byParameters,
  byRelease,
  (_differing, { byHand }) => byHand?.['*'],
];

/** Lines that show a network that is not there: errors of sockets, names and proxies. */
const networkErrors =
  /socket\.gaierror|Name or service not known|Temporary failure in name resolution|Network is unreachable|NewConnectionError|ConnectionRefusedError|Connection refused|Failed to establish a new connection|Max retries exceeded|ProxyError|URLError/;

/** Lines that show a program or a locale of the system that is not there. */
const programErrors =
  /No such file or directory: ['"]([\w.+-]+)['"]|(?:^|\s)([\w.+-]+): (?:command )?not found|Executable ['"]?([\w.+-]+)['"]? not found|(unsupported locale setting)/m;

function byFailureText(
  differing: DifferingTest,
  evidence: RowEvidence,
): ExplainedCause | undefined {
  // The text of a failure explains why a listed test does not pass, and nothing else.
  if (differing.listed === 'none') return undefined;
  const text = failureText(differing.test, evidence.logs.fixed);
  if (text === undefined) return undefined;
  const network = networkErrors.exec(text)?.[0];
  if (network !== undefined) {
    return { cause: 'needs the network', detail: `its failure says ${JSON.stringify(network)}` };
  }
  const program = programErrors.exec(text);
  if (program === null) return undefined;
  const named = program.slice(1).find((each) => each !== undefined) ?? '';
  return { cause: 'needs a program of the system', detail: `its failure names ${named}` };
}

/** Matplotlib compares images with those of one release of FreeType, and says if it has another. */
function byFreeType({ test }: DifferingTest, { logs }: RowEvidence): ExplainedCause | undefined {
  const found = /Expected freetype version ([\d.]*\d)\. +Found freetype version ([\d.]*\d)/.exec(
    logs.fixed,
  );
  const isOfImage = /ImageComparisonFailure/.test(failureText(test, logs.fixed) ?? '');
  if (found === null || !isOfImage) return undefined;
  const [, expected, here] = found;
  const detail = `its image is drawn with FreeType ${here}, and compared with one of FreeType ${expected}`;
  return { cause: "environment other than the harness'", detail };
}

function byLog(
  differing: DifferingTest,
  { bySweBench, logs }: RowEvidence,
): ExplainedCause | undefined {
  const cause = "artefact of the dataset's log";
  if (bySweBench !== undefined && agrees(differing, bySweBench)) {
    return { cause, detail: `SWE-bench's parser reads this log as listed${why(differing, logs)}` };
  }
  const { test } = differing;
  const printed = [logs.base, logs.fixed].map((log) => countOf(log, test));
  if (/[([{"']/.test(test) && !isWhole(test)) {
    return { cause, detail: 'the name is cut at a space, and several tests share what is left' };
  }
  if (differing.listed === 'FAIL_TO_PASS' && differing.here === 'PASS_TO_PASS') {
    const before = lineBefore(logs.base, test);
    if (before !== undefined && !before.includes(' ... ')) {
      const detail = 'its line comes after output that is no test, which a log can print into it';
      return { cause, detail };
    }
  }
  return printed.some((count) => count > 2) &&
    differing.listed !== 'none' &&
    differing.here !== 'absent'
    ? { cause, detail: 'the log has several lines for this name, of which one counts' }
    : undefined;
}

/** What of a line makes the parser of SWE-bench miss it. */
function why({ test, listed }: DifferingTest, { fixed }: RowEvidence['logs']): string {
  if (listed !== 'none') return '';
  const line = fixed.split('\n').find((each) => each.startsWith(`${test} `));
  const rest = line?.slice(test.length).trim();
  return rest !== undefined && /\[(OK|FAIL)\]$/.test(rest)
    ? `: its line also ends its file (“${rest.replace(/\s+/g, ' ')}”)`
    : '';
}

/** Whether the brackets and quotes of a name are closed, so that it was not cut at a space. */
const isWhole = (name: string): boolean => name.includes('[') === name.endsWith(']');

/** The line before that of a passed test of Django's runner. */
function lineBefore(log: string, test: string): string | undefined {
  const lines = log.split('\n');
  const at = lines.findIndex((line) => line.startsWith(`${test} ... `));
  return at < 1 ? undefined : lines[at - 1];
}

const countOf = (log: string, name: string): number => log.split(name).length - 1;

/** Reasons of pytest to skip a test that name a package. */
const lackingPackage =
  /requires (?!at least)[\w.-]+|No module named '[\w.]+'|could not import '[\w.]+'|[\w.-]+ (?:is )?not installed/i;

/** pytest's summary names the file and the reason of a skipped test, and not the test. */
function bySkips(differing: DifferingTest, { logs }: RowEvidence): ExplainedCause | undefined {
  const { test, listed, here } = differing;
  if (listed === 'none' || here !== 'absent' || !test.includes('::')) return undefined;
  const file = test.slice(0, test.indexOf('::'));
  const reasons = logs.fixed.split('\n').flatMap((line) => {
    const isOfFile = line.startsWith('SKIPPED [') && line.includes(` ${file}:`);
    return isOfFile ? (lackingPackage.exec(line)?.[0] ?? []) : [];
  });
  if (reasons.length === 0) return undefined;
  const named = [...new Set(reasons)].sort().join(', ');
  return {
    cause: "environment other than the harness'",
    detail: `tests of its file are skipped here: ${named}`,
  };
}

/** Parameters in the name of a test that differ from run to run or from version to version. */
function byParameters(differing: DifferingTest, { logs }: RowEvidence): ExplainedCause | undefined {
  const { test, here } = differing;
  const bracket = test.indexOf('[');
  if (bracket < 0) return undefined;
  if (/0x[0-9a-f]{6,}|\/tmp\/|\/testbed/.test(test)) {
    return {
      cause: "artefact of the dataset's log",
      detail: 'its parameter is an address in memory or a path, which differs from run to run',
    };
  }
  const siblings = countOf(logs.fixed, `${test.slice(0, bracket)}[`);
  return here === 'absent' && siblings > 0
    ? {
        cause: "environment other than the harness'",
        detail: 'the same function has other parameters here, which come from the environment',
      }
    : undefined;
}

/** Beside what a run has shown, a release explains tests that only one of the two has. */
function byRelease(
  differing: DifferingTest,
  { isRelease, logs }: RowEvidence,
): ExplainedCause | undefined {
  if (!isRelease) return undefined;
  const cause = 'release instead of the commit';
  // In tests, a warning is an error. Django's next series no longer has those of its last one.
  const warning = /\bRemovedIn\w+Warning\b/.exec(
    failureText(differing.test, logs.fixed) ?? '',
  )?.[0];
  if (warning !== undefined) return { cause, detail: `the release still has a ${warning}` };
  if (differing.here === 'absent') return { cause, detail: 'the release does not run this test' };
  return differing.listed === 'none'
    ? { cause, detail: 'the row does not list this test of the release' }
    : undefined;
}

/** The part of a log about one failing test: below its heading, up to the next one. */
export function failureText(test: string, log: string): string | undefined {
  const name =
    test
      .split('::')
      .slice(1)
      .join('.')
      .replace(/ \(.*$/, '') ||
    test.split(' ')[0] ||
    test;
  const lines = log.split('\n');
  const start = lines.findIndex(
    (line) =>
      (/^_{2,} .* _{2,}$/.test(line) && line.includes(name)) ||
      (/^(FAIL|ERROR): /.test(line) && line.includes(test.split(' ')[0] ?? test)) ||
      (/^_+ .*:\w+ _+$/.test(line) && line.includes(`:${test} `)),
  );
  if (start < 0) return undefined;
  const length = lines
    .slice(start + 1)
    .findIndex((line) => /^_{2,} .* _{2,}$|^={5,}|^(FAIL|ERROR): /.test(line));
  return lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
}

/** The line that tells most about a failure: the last one that names an error. */
function firstLineOfFailure({ test }: DifferingTest, { logs }: RowEvidence): string {
  const text = failureText(test, logs.fixed) ?? '';
  const line = text
    .split('\n')
    .findLast((each) => /^(E\s+)?\w*(Error|Exception|Warning|Failed)\b/.test(each));
  return line === undefined
    ? 'no failure of it is in the log'
    : line.replace(/^E\s+/, '').slice(0, 200);
}
