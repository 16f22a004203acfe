import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { customDiffsIn } from '../../language/customDiffs';
import { customDiffLanguage } from '../shell/names';

/** The custom diff in a document that a command works on. */
export interface DiffInEditor {
  readonly document: vscode.TextDocument;
  /** As many lines as the document; lines outside the custom diff are empty. */
  readonly text: string;
  /** Index of the Markdown fence that is meant, 0-based; undefined for the whole document. */
  readonly fence: number | undefined;
}

/**
 * The custom diff that a command is about. The argument names it (an address, or `{ uri, range }`
 * from the language server), else the active editor shows it. In a Markdown document it is the
 * fence at the range or the cursor, or all fences when none is there.
 *
 * @throws HumanError when there is no custom diff
 */
export async function customDiffOf(argument: unknown): Promise<DiffInEditor> {
  const given = readArgument(argument);
  const editor = vscode.window.activeTextEditor;
  const document = given === undefined ? editor?.document : await opened(given.uri);
  if (document === undefined) {
    throw new HumanError(
      vscode.l10n.t('No custom diff is open'),
      vscode.l10n.t('Open a .swtdiff file first'),
    );
  }
  const isActive = document === editor?.document;
  const line = given?.line ?? (isActive ? editor.selection.active.line : undefined);
  return read(document, (all) => (line === undefined ? undefined : fenceAt(all, line)));
}

/**
 * The same diff in the document's current text. @throws HumanError when it holds no custom diff any
 * more
 */
export const again = ({ document, fence }: DiffInEditor): DiffInEditor =>
  read(document, () => fence);

function read(
  document: vscode.TextDocument,
  choose: (all: ReturnType<typeof customDiffsIn>) => number | undefined,
): DiffInEditor {
  const { languageId } = document;
  if (languageId !== customDiffLanguage && languageId !== 'markdown') {
    throw new HumanError(
      vscode.l10n.t('{0} is not a custom diff', documentName(document)),
      vscode.l10n.t('Open a .swtdiff file, or set the language of the editor to Custom Diff'),
    );
  }
  const all = customDiffsIn(document.getText(), languageId);
  if (all.length === 0) {
    throw new HumanError(
      vscode.l10n.t('{0} contains no custom diff', documentName(document)),
      vscode.l10n.t('Write the blocks between "```custom-diff" and "```"'),
    );
  }
  const fence = languageId === 'markdown' ? choose(all) : undefined;
  const lines = new Array<string>(document.lineCount).fill('');
  all.forEach((diff, i) => {
    if (fence !== undefined && fence !== i) return;
    diff.lines.forEach((text, at) => (lines[diff.start + at] = text));
  });
  return { document, text: lines.join('\n'), fence };
}

/** The fence that contains a line; its opening and closing marks belong to it. */
function fenceAt(all: ReturnType<typeof customDiffsIn>, line: number): number | undefined {
  const found = all.findIndex(
    ({ start, lines }) => start - 1 <= line && line <= start + lines.length,
  );
  return found === -1 ? undefined : found;
}

async function opened(uri: vscode.Uri): Promise<vscode.TextDocument> {
  try {
    return await vscode.workspace.openTextDocument(uri);
  } catch {
    throw new HumanError(
      vscode.l10n.t('Could not open {0}', uri.path),
      vscode.l10n.t('Open a .swtdiff file first'),
    );
  }
}

/** The name of a document for messages. */
export const documentName = (document: vscode.TextDocument): string =>
  document.isUntitled ? document.uri.path : vscode.workspace.asRelativePath(document.uri, false);

function readArgument(
  argument: unknown,
): { readonly uri: vscode.Uri; readonly line: number | undefined } | undefined {
  if (argument instanceof vscode.Uri) return { uri: argument, line: undefined };
  if (typeof argument !== 'object' || argument === null || !('uri' in argument)) return undefined;
  if (typeof argument.uri !== 'string') return undefined;
  const range: unknown = 'range' in argument ? argument.range : undefined;
  const line =
    typeof range === 'object' && range !== null && 'start' in range ? range.start : undefined;
  return {
    uri: vscode.Uri.parse(argument.uri, true),
    line: typeof line === 'number' ? line : undefined,
  };
}
