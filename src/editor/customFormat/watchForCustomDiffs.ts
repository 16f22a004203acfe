import * as vscode from 'vscode';
import { contextKeys, customDiffLanguage } from '../shell/names';

/**
 * Whether a Markdown text holds a custom diff. A cheap check, since it runs for each opened or
 * typed text.
 */
const holdsCustomDiff = (text: string): boolean =>
  /^[ \t]*(`{3,}|~{3,})\s*custom-diff\b/im.test(text);

/**
 * Watches for custom diffs in `.swtdiff` files and in Markdown, so that nothing loads before one
 * appears. Sets the context key for menus when the active Markdown editor holds one.
 *
 * @param found called once, for the first custom diff
 */
export function watchForCustomDiffs(found: () => void): vscode.Disposable {
  let isFound = false;
  let isShown = false;
  const holds = (document: vscode.TextDocument): boolean =>
    document.languageId === customDiffLanguage ||
    (document.languageId === 'markdown' && holdsCustomDiff(document.getText()));
  const look = (document: vscode.TextDocument): void => {
    if (isFound || document.uri.scheme === 'git' || !holds(document)) return;
    isFound = true;
    found();
  };
  const lookAtActive = (): void => {
    const document = vscode.window.activeTextEditor?.document;
    const shows = document?.languageId === 'markdown' && holds(document);
    if (shows === isShown) return;
    isShown = shows;
    void vscode.commands.executeCommand('setContext', contextKeys.customDiffInMarkdown, shows);
  };
  vscode.workspace.textDocuments.forEach(look);
  lookAtActive();
  return vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument((document) => {
      look(document);
      lookAtActive();
    }),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.languageId !== 'markdown') return;
      look(document);
      lookAtActive();
    }),
    vscode.window.onDidChangeActiveTextEditor(lookAtActive),
  );
}
