import type * as vscode from 'vscode';
import { SourceUnusable } from '../../repository/git';

/**
 * Why R cannot be had, as a notification beside a button that chooses a folder. The log has the
 * words of git. Undefined where the error has no brief form.
 */
export function sourceProblemText(l10n: typeof vscode.l10n, error: unknown): string | undefined {
  return error instanceof SourceUnusable && error.brief !== undefined
    ? l10n.t('{0}. Choose a folder with a clone that has it, or with a release.', error.brief)
    : undefined;
}
