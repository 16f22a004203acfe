import { DiagnosticSeverity, type Diagnostic as Shown } from 'vscode-languageserver';
import { asShown } from '../../patch/bytes';
import type { Diagnostic } from '../../patch/diagnostic';
import type { CheckedDiff } from './check';
import { rangeIn, type CustomDiff } from '../customDiffs';

const severities = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

/** The diagnostics of the engine for a custom diff, at the lines of the document. */
export const shownDiagnostics = ({ diff, diagnostics }: CheckedDiff): Shown[] =>
  diagnostics.map((each) => shown(diff, each));

/** One diagnostic of the engine as editors show it. */
export function shown(diff: CustomDiff, told: Diagnostic): Shown {
  const { severity, message, hint, code } = told;
  const first = Math.min(Math.max(1, told.line), diff.lines.length);
  const last = Math.min(Math.max(first, told.endLine ?? first), diff.lines.length);
  const firstLine = diff.lines[first - 1] ?? '';
  const lastLine = diff.lines[last - 1] ?? '';
  const start = firstLine.length - firstLine.trimStart().length;
  return {
    range: {
      start: rangeIn(diff, first, start, start).start,
      end: rangeIn(diff, last, 0, lastLine.trimEnd().length).end,
    },
    severity: severities[severity],
    source: 'swt-bench',
    message: asShown(hint === undefined ? message : `${message}. ${hint}`),
    ...(code !== undefined && { code }),
  };
}
