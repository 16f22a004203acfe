import * as vscode from 'vscode';
import type { CoveredLine } from '../../domain/changeCoverage';
import type { TestedMutant } from '../../mutation/mutant';
import { mutantHoverParts } from '../mutants/mutantTexts';
import { hoverMarkdown } from '../shell/hovers/hoverMarkdown';
import type { Note } from './coverageMarks';
import { coverageHoverParts, noteFor, noteHover } from './coverageText';

/**
 * State, counts, the candidate's tests that ran the line, and its mutants. Names of tests are
 * escaped, and code stands in blocks.
 */
export const coverageHover = (
  line: CoveredLine,
  mutants: readonly TestedMutant[] = [],
): vscode.MarkdownString =>
  hoverMarkdown([
    ...coverageHoverParts(vscode.l10n, line),
    ...mutantHoverParts(vscode.l10n, mutants),
  ]);

/** A note at its line (1-based), which must exist in the document. */
export function noteAt(
  { line, lines }: Note,
  document: vscode.TextDocument,
): vscode.DecorationOptions {
  const { range, text: code } = document.lineAt(line - 1);
  return {
    range,
    renderOptions: { after: { contentText: noteFor(vscode.l10n, lines, code.length) } },
    hoverMessage: hoverMarkdown(noteHover(vscode.l10n, lines)),
  };
}
