import * as vscode from 'vscode';
import type { CoveredLine, LineState } from '../../domain/changeCoverage';
import { sideName } from '../../domain/outcome';
import { linesByState, type Note } from './coverageMarks';
import { stateSymbol } from '../testing/transitionTexts';
import { appendPlain } from '../shell/plainText';
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
function countsInWords(line: CoveredLine): string {
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
  appendPlain(markdown, `${stateInWords(line)}\n${countsInWords(line)}\n`);
  const { coveredBy, executions } = line;
  if (coveredBy.length > 0) {
    appendPlain(markdown, vscode.l10n.t('Tests of the candidate that run it, and how often:'));
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
 * Columns of text that are in sight: of a diff without room for two sides, where removed lines are told,
 * and of an editor by itself, where added ones are.
 */
const inSight = { removed: 54, added: 100 } as const;

/**
 * The note for a line: in words where they fit behind the code, else in symbols, and before the code where
 * there is no room for those either.
 *
 * @param length of the code, in characters
 */
function noteFor(
  lines: readonly CoveredLine[],
  length: number,
): { readonly text: string; readonly isBefore: boolean } {
  const room = inSight[lines[0]?.change ?? 'added'];
  const fits = (text: string): boolean => length + text.length < room;
  const inWords = noteText(lines, true);
  if (fits(inWords)) return { text: inWords, isBefore: false };
  const short = noteText(lines, false);
  return { text: short, isBefore: !fits(short) };
}

/**
 * Lines of the other side, with the sign that a diff has for them: `− R: ✗ missed 53 · ✓ newly covered
 * 50–52` of removed lines, `+ R∘X*: ✗ missed 53` of added ones.
 *
 * @param lines of one side, at least one of them executable
 * @param inWords names the states; else symbols stand for them
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

/** A note at its line (1-based), which the document has. */
export function noteAt(
  { line, lines }: Note,
  document: vscode.TextDocument,
): vscode.DecorationOptions {
  const { range, text: code } = document.lineAt(line - 1);
  const { text, isBefore } = noteFor(lines, code.length);
  const shown = { contentText: text };
  return {
    range,
    renderOptions: isBefore ? { before: shown } : { after: shown },
    hoverMessage: hoverOfNote(lines),
  };
}

/** The same with the texts of the lines and their counts. */
function hoverOfNote(lines: readonly CoveredLine[]): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  const [first] = lines;
  if (first === undefined) return markdown;
  appendPlain(
    markdown,
    first.change === 'removed'
      ? vscode.l10n.t('Lines of R that the golden patch removes here, with their executions:')
      : vscode.l10n.t('Lines of R∘X* that the golden patch has here, with their executions:'),
  );
  const width = Math.max(...lines.map(({ state }) => stateName(state).length));
  // A hover is narrow: what all lines are indented by is left out.
  const indents = lines
    .filter(({ text }) => text.trim() !== '')
    .map(({ text }) => text.search(/\S/));
  const indent = Math.min(...indents);
  markdown.appendCodeblock(
    lines
      .map(({ line, state, text, counts }) =>
        [
          `${line}`.padStart(5),
          `${stateSymbol[state]} ${stateName(state).padEnd(width)}`,
          `${counts.base}/${counts.candidate}/${counts.golden}`.padEnd(9),
          text.slice(indent),
        ].join('  '),
      )
      .join('\n'),
    'text',
  );
  appendPlain(markdown, vscode.l10n.t('Executions by base tests / candidate / golden tests'));
  return markdown;
}
