import * as l10n from '@vscode/l10n';
import type { CoveredLine, LineState } from '../../domain/changeCoverage';
import { sideName } from '../../domain/outcome';
import type { HoverPart } from '../shell/draw';
import { stateSymbol } from '../testing/transitionTexts';
import { linesByState } from './coverageMarks';
import { sideOf } from './shownCoverage';

/** Maximum number of tests that one hover names. */
const mostTests = 10;

/** The name of a state in every view. */
export function stateName(state: LineState): string {
  switch (state) {
    case 'newly covered':
      return l10n.t('newly covered');
    case 'already covered':
      return l10n.t('already covered');
    case 'missed':
      return l10n.t('missed');
    case 'not executable':
      return l10n.t('not executable');
  }
}

function why({ state, lost }: Pick<CoveredLine, 'state' | 'lost'>): string {
  if (lost === true) {
    return l10n.t('removed or disabled tests of R executed it at least as often');
  }
  switch (state) {
    case 'newly covered':
      return l10n.t('newly executed by your tests');
    case 'already covered':
      return l10n.t('already executed by existing tests');
    case 'missed':
      return l10n.t('executed by the golden tests, not by yours');
    case 'not executable':
      return l10n.t('executed neither by existing tests nor by the golden tests');
  }
}

/** Name of a changed line by its number on its side: `R∘X* 58`. */
export const lineName = (line: CoveredLine): string => `${sideName[sideOf(line)]} ${line.line}`;

/** Meaning of a state: `✗ missed: the golden tests run it, the candidate does not`. */
export const stateInWords = (line: CoveredLine): string =>
  `${stateSymbol[line.state]} ${stateName(line.state)}: ${why(line)}`;

/** How often the line ran, by candidate and base tests. */
function countsInWords(line: CoveredLine): string {
  const { base, candidate, golden } = line.counts;
  return l10n.t(
    'Executions on {0}: {1} by existing tests, {2} in your test files, {3} in the golden test files',
    sideName[sideOf(line)],
    base,
    candidate,
    golden,
  );
}

/** State, counts, and the candidate's tests that ran the line. Names of tests are plain text. */
export function coverageHoverParts(line: CoveredLine): HoverPart[] {
  const said = { plain: `${stateInWords(line)}\n${countsInWords(line)}\n` };
  const { coveredBy, executions } = line;
  if (coveredBy.length === 0) return [said];
  const named = coveredBy.slice(0, mostTests).map((test) => {
    const times = executions[test];
    // A saved report names the tests without a count for each.
    return times === undefined ? test : `${times}× ${test}`;
  });
  const more = coveredBy.length - named.length;
  if (more > 0) named.push(l10n.t('and {0} more', more));
  return [
    said,
    { plain: l10n.t('Your tests that execute it, and how often:') },
    { code: named.join('\n') },
  ];
}

/**
 * Visible columns. Notes about removed lines are in a diff without room for two sides, those
 * about added lines in an editor on its own.
 */
const inSight = { removed: 54, added: 100 } as const;

/**
 * The note after a line: in words if they fit behind the code, else in symbols.
 *
 * @param length of the code, in characters
 */
export function noteFor(lines: readonly CoveredLine[], length: number): string {
  const room = inSight[lines[0]?.change ?? 'added'];
  const inWords = noteText(lines, true);
  return length + inWords.length < room ? inWords : noteText(lines, false);
}

/**
 * Lines of the other side with their sign in a diff: `− R: ✗ missed 53 · ✓ newly covered 50–52` for
 * removed lines, `+ R∘X*: ✗ missed 53` for added ones.
 *
 * @param lines of one side, at least one of them executable
 * @param inWords whether words name the states, else symbols
 */
function noteText(lines: readonly CoveredLine[], inWords: boolean): string {
  const [first] = lines;
  const told = linesByState(lines).map(({ state, runs }) => {
    const numbers = runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
    const symbol = stateSymbol[state];
    return `${inWords ? `${symbol} ${stateName(state)}` : symbol} ${numbers.join(', ')}`;
  });
  const sign = first?.change === 'removed' ? '−' : '+';
  const side = first === undefined ? '' : sideName[sideOf(first)];
  return `${sign} ${side}: ${told.join(' · ')}`;
}

/** The hover of a note: the texts of its lines with their states and counts. */
export function noteHover(lines: readonly CoveredLine[]): HoverPart[] {
  const [first] = lines;
  if (first === undefined) return [];
  const width = Math.max(...lines.map(({ state }) => stateName(state).length));
  // A hover is narrow, so the common indentation is dropped.
  const indents = lines
    .filter(({ text }) => text.trim() !== '')
    .map(({ text }) => text.search(/\S/));
  const indent = Math.min(...indents);
  const table = lines.map(({ line, state, text, counts }) =>
    [
      `${line}`.padStart(5),
      `${stateSymbol[state]} ${stateName(state).padEnd(width)}`,
      `${counts.base}/${counts.candidate}/${counts.golden}`.padEnd(9),
      text.slice(indent),
    ].join('  '),
  );
  return [
    {
      plain:
        first.change === 'removed'
          ? l10n.t('Lines of R that the fix removes here, with their executions:')
          : l10n.t('Lines of R∘X* that the fix adds here, with their executions:'),
    },
    { code: table.join('\n') },
    {
      plain: l10n.t('Executions by existing tests / in your test files / in the golden test files'),
    },
  ];
}
