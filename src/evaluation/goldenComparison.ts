import type { ChangeCoverage, CoveredLine } from '../domain/changeCoverage';
import { functionOf, sideName } from '../domain/outcome';
import { coverageInWords } from './gradings';
import { code, table } from './markdownText';

/** Who of candidate and golden tests covers a changed line beyond the base tests. */
export type CoveredByWhom =
  'both' | 'candidate only' | 'golden tests only' | 'neither' | 'not executable';

/** A changed line, as candidate and golden tests have it. */
export interface ComparedLine {
  readonly line: CoveredLine;
  readonly by: CoveredByWhom;
  /** Golden tests that ran the line. */
  readonly goldenTests: readonly string[];
}

/**
 * Compares line by line.
 *
 * @param golden ΔC of T* itself; the same lines
 */
export function compareCoverage(candidate: ChangeCoverage, golden: ChangeCoverage): ComparedLine[] {
  const key = ({ change, path, line }: CoveredLine): string => `${change} ${line} ${path}`;
  const ofGolden = new Map(golden.lines.map((line) => [key(line), line]));
  return candidate.lines.map((line) => {
    const other = ofGolden.get(key(line));
    const mine = line.state === 'newly covered';
    const theirs = other?.state === 'newly covered';
    return {
      line,
      goldenTests: other?.coveredBy ?? [],
      by:
        line.state === 'not executable' && !theirs
          ? 'not executable'
          : mine
            ? theirs
              ? 'both'
              : 'candidate only'
            : theirs
              ? 'golden tests only'
              : 'neither',
    };
  });
}

/** What the golden tests cover and the candidate does not. */
export function goldenBesides(candidate: ChangeCoverage, golden: ChangeCoverage): ComparedLine[] {
  return compareCoverage(candidate, golden).filter(({ by }) => by === 'golden tests only');
}

/** Candidate and golden tests side by side, in Markdown. It tells X* and T*. */
export function comparisonText(input: {
  readonly instance: string;
  readonly candidate: ChangeCoverage;
  readonly golden: ChangeCoverage;
}): string {
  const { candidate, golden } = input;
  const lines = compareCoverage(candidate, golden);
  const count = (by: CoveredByWhom): number => lines.filter((each) => each.by === by).length;
  return [
    `# Candidate and golden tests of ${code(input.instance)}`,
    table(
      ['', 'Candidate', 'Golden tests'],
      [
        ['ΔC', coverageInWords(candidate), coverageInWords(golden)],
        [
          'Changed lines covered by it alone',
          `${count('candidate only')}`,
          `${count('golden tests only')}`,
        ],
        ['by both', `${count('both')}`, `${count('both')}`],
        ['by neither', `${count('neither')}`, `${count('neither')}`],
      ],
      '',
    ),
    '## What each test covers',
    testTable(candidate, golden),
    '## Changed lines',
    ...byFile(lines).map(([path, ofFile]) => `### ${code(path)}\n\n${lineTable(ofFile)}`),
    '',
  ].join('\n\n');
}

/** Changed lines that each test function runs, the states as the whole candidate has them. */
function testTable(candidate: ChangeCoverage, golden: ChangeCoverage): string {
  const rows = (coverage: ChangeCoverage, whose: string): string[][] => {
    const covered = new Map<string, number>();
    for (const line of coverage.lines) {
      if (line.state !== 'newly covered') continue;
      for (const test of new Set(line.coveredBy.map(functionOf))) {
        covered.set(test, (covered.get(test) ?? 0) + 1);
      }
    }
    return [...covered].map(([test, count]) => [
      whose,
      `${count}/${coverage.executable}`,
      code(test),
    ]);
  };
  return table(
    ['', 'Changed lines', 'Test'],
    [...rows(candidate, 'Candidate'), ...rows(golden, 'Golden tests')],
    'No test covers a changed line.',
  );
}

const mark: Readonly<Record<CoveredByWhom, readonly [string, string]>> = {
  both: ['✓', '✓'],
  'candidate only': ['✓', '✗'],
  'golden tests only': ['✗', '✓'],
  neither: ['✗', '✗'],
  'not executable': ['·', '·'],
};

function lineTable(lines: readonly ComparedLine[]): string {
  return table(
    ['Line', 'Candidate', 'Golden tests', 'Covered by', 'Code'],
    lines.map(({ line, by }) => [
      placeOf(line),
      mark[by][0],
      mark[by][1],
      by === 'neither' && line.state === 'already covered' ? 'neither (the base tests run it)' : by,
      code(line.text.trim()),
    ]),
    '',
  );
}

/** `12, removed from R`. */
export const placeOf = ({ line, change }: CoveredLine): string =>
  change === 'removed'
    ? `${line}, removed from ${sideName.base}`
    : `${line}, added in ${sideName.fixed.replace('*', '\\*')}`;

/** Lines grouped by their files, in the order in which the files first appear. */
export function byFile<T extends { readonly line: CoveredLine }>(
  lines: readonly T[],
): [string, T[]][] {
  const files = new Map<string, T[]>();
  for (const each of lines) files.set(each.line.path, [...(files.get(each.line.path) ?? []), each]);
  return [...files];
}
