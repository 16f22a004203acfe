import * as vscode from 'vscode';
import type { CoveredLine, LineState } from '../domain/changeCoverage';
import { sideName } from '../domain/outcome';
import { linesByState } from './coverageMarks';
import { stateSymbol } from './display';
import { sideOf } from './shownCoverage';

/** Tests named in one hover. */
const mostTests = 10;

/** A state as it is called everywhere. */
export function stateName(state: LineState): string {
  switch (state) {
    case 'newly covered':
      return vscode.l10n.t('newly covered');
    case 'already covered':
      return vscode.l10n.t('already covered');
    case 'missed':
      return vscode.l10n.t('missed');
    case 'not executable':
      return vscode.l10n.t('not executable');
  }
}

function why(state: LineState): string {
  switch (state) {
    case 'newly covered':
      return vscode.l10n.t('the candidate runs it more often than the base tests do');
    case 'already covered':
      return vscode.l10n.t('the base tests run it, the candidate does not add to that');
    case 'missed':
      return vscode.l10n.t('the golden tests run it, the candidate does not');
    case 'not executable':
      return vscode.l10n.t('neither the base tests nor the golden tests run it');
  }
}

/** `R∘X* 58`: a changed line by its number on its side. */
export const lineName = (line: CoveredLine): string => `${sideName[sideOf(line)]} ${line.line}`;

/** `✗ missed: the golden tests run it, the candidate does not`. */
export const stateInWords = ({ state }: CoveredLine): string =>
  `${stateSymbol[state]} ${stateName(state)}: ${why(state)}`;

/** How often the line ran, by whom. */
export function countsInWords(line: CoveredLine): string {
  const { base, candidate, golden } = line.counts;
  return vscode.l10n.t(
    'Executions on {0}: base tests {1}, candidate {2}, golden tests {3}',
    sideName[sideOf(line)],
    base,
    candidate,
    golden,
  );
}

/** State, counts, and the candidate's tests that ran the line. Names of tests are not markup. */
export function hoverOf(line: CoveredLine): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  markdown.appendText(`${stateInWords(line)}\n\n${countsInWords(line)}\n\n`);
  const { coveredBy, executions } = line;
  if (coveredBy.length > 0) {
    markdown.appendText(vscode.l10n.t('Tests of the candidate that run it, and how often:'));
    const named = coveredBy.slice(0, mostTests).map((test) => {
      const times = executions[test];
      // A saved report names the tests and does not count for each.
      return times === undefined ? test : `${times}× ${test}`;
    });
    const more = coveredBy.length - named.length;
    if (more > 0) named.push(vscode.l10n.t('and {0} more', more));
    markdown.appendCodeblock(named.join('\n'), 'text');
  }
  return markdown;
}

/**
 * Lines of the other side in few words, with the sign that a diff has for them: `− ✗ 53 · ✓ 50–52` of
 * removed lines, since a narrow diff has little room, and `+ R∘X*: ✗ missed 53` of added ones.
 *
 * @param lines of one side, at least one of them executable
 */
export function noteText(lines: readonly CoveredLine[]): string {
  const isRemoved = lines[0]?.change === 'removed';
  const told = linesByState(lines).map(({ state, runs }) => {
    const numbers = runs.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`));
    const symbol = stateSymbol[state];
    return `${isRemoved ? symbol : `${symbol} ${stateName(state)}`} ${numbers.join(', ')}`;
  });
  return `${isRemoved ? '−' : `+ ${sideName.fixed}:`} ${told.join(' · ')}`;
}

/** The same with the texts of the lines and their counts. */
export function hoverOfNote(lines: readonly CoveredLine[]): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  const [first] = lines;
  if (first === undefined) return markdown;
  markdown.appendText(
    first.change === 'removed'
      ? vscode.l10n.t('Lines of R that the golden patch removes here, with their executions:')
      : vscode.l10n.t('Lines of R∘X* that the golden patch has here, with their executions:'),
  );
  const width = Math.max(...lines.map(({ state }) => stateName(state).length));
  markdown.appendCodeblock(
    lines
      .map(({ line, state, text, counts }) =>
        [
          `${line}`.padStart(5),
          `${stateSymbol[state]} ${stateName(state).padEnd(width)}`,
          `${counts.base}/${counts.candidate}/${counts.golden}`.padEnd(9),
          text,
        ].join('  '),
      )
      .join('\n'),
    'text',
  );
  markdown.appendText(vscode.l10n.t('Executions by base tests / candidate / golden tests'));
  return markdown;
}
