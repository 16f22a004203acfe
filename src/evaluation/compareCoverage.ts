import { namesOf, fileOf, functionOf } from '../domain/testId';
import type { ChangeCoverage, CoveredLine } from '../domain/changeCoverage';
import { sideName } from '../domain/outcome';
import { markdownCode, markdownTable } from '../domain/text';

/** Which of candidate and golden tests cover a changed line beyond the base tests. */
type CoveredByWhom = 'both' | 'candidate only' | 'golden tests only' | 'neither' | 'not executable';

/** A changed line, and whether candidate and golden tests cover it. */
interface ComparedLine {
  readonly line: CoveredLine;
  readonly by: CoveredByWhom;
  /** Golden tests that ran the line. */
  readonly goldenTests: readonly string[];
}

/**
 * Compares the coverage of candidate and golden tests line by line.
 *
 * @param golden coverage of T* itself, over the same lines
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

/** Lines that the golden tests cover and the candidate does not. */
export function goldenBesides(candidate: ChangeCoverage, golden: ChangeCoverage): ComparedLine[] {
  return compareCoverage(candidate, golden).filter(({ by }) => by === 'golden tests only');
}

/** Candidate and golden tests side by side, in Markdown. The text reveals X* and T*. */
export function comparisonText(input: {
  readonly instance: string;
  readonly candidate: ChangeCoverage;
  readonly golden: ChangeCoverage;
  /** A sentence below the heading, such as which run it is about. */
  readonly about: string;
}): string {
  const { candidate, golden } = input;
  const lines = compareCoverage(candidate, golden);
  const count = (by: CoveredByWhom): number => lines.filter((each) => each.by === by).length;
  return [
    `# Candidate and golden tests of ${markdownCode(input.instance)}`,
    input.about,
    markdownTable(
      ['', 'Candidate', 'Golden tests'],
      [
        ['ΔC', coverageInWords(candidate), coverageInWords(golden)],
        [
          'Changed lines covered only by these tests',
          `${count('candidate only')}`,
          `${count('golden tests only')}`,
        ],
        ['Covered by both', `${count('both')}`, `${count('both')}`],
        ['Covered by neither', `${count('neither')}`, `${count('neither')}`],
      ],
      '',
    ),
    '## What each test covers',
    ...testTables(candidate, 'Candidate'),
    ...testTables(golden, 'Golden tests'),
    '## Changed lines',
    '✓ covered, ✗ missed, = already executed by existing tests, · not executable.',
    ...byFile(lines).map(([path, ofFile]) => `### ${markdownCode(path)}\n\n${lineTable(ofFile)}`),
    '',
  ].join('\n\n');
}

/**
 * Changed lines that each test function covers, with one table for each test file. File names as a
 * column would push the test names out of a narrow page.
 */
function testTables(coverage: ChangeCoverage, whose: string): string[] {
  const covered = new Map<string, number>();
  for (const line of coverage.lines) {
    if (line.state !== 'newly covered') continue;
    for (const test of new Set(line.coveredBy.map(functionOf))) {
      covered.set(test, (covered.get(test) ?? 0) + 1);
    }
  }
  const files = [...new Set([...covered.keys()].map(fileOf))];
  if (files.length === 0) return [`${whose}: no test covers a changed line.`];
  return files.map((file) => {
    const rows = [...covered].filter(([test]) => fileOf(test) === file);
    return markdownTable(
      ['Changed lines', `${whose} in ${markdownCode(file)}`],
      rows.map(([test, count]) => [`${count}/${coverage.executable}`, nameOf(test)]),
      '',
    );
  });
}

/** `Class` `test_name`, with a place between them where the line may break. */
const nameOf = (test: string): string => namesOf(test).map(markdownCode).join(' ');

/** The marks of the candidate and of the golden tests for a line. */
function marksOf({ by, line }: ComparedLine): readonly [string, string] {
  switch (by) {
    case 'both':
      return ['✓', '✓'];
    case 'candidate only':
      return ['✓', '✗'];
    case 'golden tests only':
      return ['✗', '✓'];
    case 'neither':
      return line.state === 'already covered' ? ['=', '='] : ['✗', '✗'];
    case 'not executable':
      return ['·', '·'];
  }
}

function lineTable(lines: readonly ComparedLine[]): string {
  return markdownTable(
    ['Candidate', 'Golden', 'Line', 'Code'],
    lines.map((each) => [
      ...marksOf(each),
      placeOf(each.line),
      markdownCode(each.line.text.trim()),
    ]),
    '',
  );
}

/** `12, removed from R`. */
export const placeOf = ({ line, change }: CoveredLine): string =>
  change === 'removed'
    ? `${line}, removed from ${sideName.base}`
    : `${line}, added in ${sideName.fixed.replace('*', '\\*')}`;

/** Lines grouped by file. Files appear in the order of their first lines. */
export function byFile<T extends { readonly line: CoveredLine }>(
  lines: readonly T[],
): [string, T[]][] {
  const files = new Map<string, T[]>();
  for (const each of lines) files.set(each.line.path, [...(files.get(each.line.path) ?? []), each]);
  return [...files];
}

/** `71 % (12/17)`, or words where that number does not exist. */
export function coverageInWords(coverage: ChangeCoverage | undefined): string {
  if (coverage === undefined) return 'unknown';
  if (coverage.delta === undefined) return 'undefined (no changed line is executable)';
  return `${Math.round(coverage.delta * 100)} % (${coverage.covered}/${coverage.executable})`;
}
