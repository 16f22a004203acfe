import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';

/**
 * Gives the translation that VS Code has loaded to functions that run without VS Code. Each bundle
 * calls it once, before its first text, since each has its own copy of `@vscode/l10n`.
 */
export function configureTexts(): void {
  const { bundle } = vscode.l10n;
  if (bundle !== undefined) l10n.config({ contents: bundle });
}
