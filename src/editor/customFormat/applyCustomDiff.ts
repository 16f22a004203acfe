import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { asShown } from '../../patch/bytes';
import { diffTexts } from '../../patch/makeUnified';
import type { PythonParser } from '../../python/parser';
import { afterAWhile } from '../shell/progress';
import { withoutLinkMarkup } from '../shell/plainText';
import { doubtfulPaths, type DoubtfulPath } from './doubtfulPaths';
import { documentName, type DiffInEditor } from './diffInEditor';
import {
  convertCustomDiff,
  firstChange,
  warningsIn,
  type ConvertedDiff,
  type ChangedText,
} from './convertCustomDiff';
import { uriIn } from './workspaceTree';
import { confirm } from '../shell/confirm';

/**
 * Applies a custom diff to the workspace as one edit, new files included, which one Undo reverts.
 * Saves the files if `files.refactoring.autoSave` says so. Asks before it makes a file whose path may
 * be a slip.
 *
 * @throws HumanError when the diff has an error, or when an editor cannot hold a file as it is
 */
export async function applyCustomDiff(diff: DiffInEditor, python: PythonParser): Promise<void> {
  const converted = await convertCustomDiff(diff, python);
  const made = [...converted.files].flatMap(([path, { before }]) =>
    before === undefined ? [path] : [],
  );
  if (made.length > 0) {
    const title = vscode.l10n.t('Listing the files of {0}', converted.tree.folder.name);
    const paths = await afterAWhile(title, () => converted.tree.paths());
    const doubtful = doubtfulPaths(made, paths);
    if (!(await askForNewFiles(doubtful))) return;
  }
  const edit = await workspaceEdit(
    converted.tree.folder,
    converted.files,
    vscode.l10n.t('Convert to a unified diff, save it from the message, and run "git apply"'),
  );
  if (!(await vscode.workspace.applyEdit(edit, { isRefactoring: true }))) {
    throw new HumanError(
      vscode.l10n.t('Could not apply {0}', documentName(diff.document)),
      vscode.l10n.t('Close the files that it changes and try again'),
    );
  }
  void showConverted(converted);
}

/**
 * One edit that makes the changes and leaves the unchanged lines alone.
 *
 * @param files their texts now, editors before the disk, and their new texts
 * @param otherwise advice for the error about a file that no editor can hold
 * @throws HumanError when an editor cannot hold a file as it is
 */
export async function workspaceEdit(
  folder: vscode.WorkspaceFolder,
  files: ReadonlyMap<string, ChangedText>,
  otherwise: string,
): Promise<vscode.WorkspaceEdit> {
  const edit = new vscode.WorkspaceEdit();
  for (const [path, { before, after }] of files) {
    const uri = uriIn(folder, path);
    if (after === undefined) {
      edit.deleteFile(uri, { ignoreIfNotExists: true });
    } else if (before === undefined) {
      edit.createFile(uri, { contents: Buffer.from(after), ignoreIfExists: false });
    } else {
      const hindrance = notInEditors(before);
      if (hindrance !== undefined) {
        throw new HumanError(
          vscode.l10n.t('{0} {1}, which an editor would change throughout', path, hindrance),
          otherwise,
        );
      }
      const document = await vscode.workspace.openTextDocument(uri);
      // The editor may not have loaded a change on disk yet, or decodes the file differently.
      if (document.getText().replaceAll('\r\n', '\n') !== plain(before)) {
        throw new HumanError(
          vscode.l10n.t('{0} has unsaved changes', path),
          vscode.l10n.t('Save or revert it and try again'),
        );
      }
      for (const { range, text } of textEdits(document, before, after)) {
        edit.replace(uri, range, text);
      }
    }
  }
  return edit;
}

/** What an editor does not preserve of a text; undefined when it preserves everything. */
export function notInEditors(text: string): string | undefined {
  if (asShown(text) !== text) return vscode.l10n.t('contains bytes that are not UTF-8');
  if (text.includes('\r\n') && /(^|[^\r])\n/.test(text))
    return vscode.l10n.t('mixes LF and CRLF line endings');
  return undefined;
}

/** Edits of the differing lines only, so that cursors and marks elsewhere stay in place. */
function textEdits(
  document: vscode.TextDocument,
  before: string,
  after: string,
): { range: vscode.Range; text: string }[] {
  const edits: { range: vscode.Range; text: string }[] = [];
  const end = document.lineAt(document.lineCount - 1).range.end;
  const placeOf = (line: number): vscode.Position =>
    line < document.lineCount ? new vscode.Position(line, 0) : end;
  for (const hunk of diffTexts(plain(before), plain(after))) {
    let at = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    for (let i = 0; i < hunk.lines.length;) {
      if (hunk.lines[i]?.kind === 'context') {
        [at, i] = [at + 1, i + 1];
        continue;
      }
      const start = at;
      const added: string[] = [];
      for (; i < hunk.lines.length && hunk.lines[i]?.kind !== 'context'; i += 1) {
        const line = hunk.lines[i];
        if (line?.kind === 'removed') at += 1;
        else if (line !== undefined) added.push(line.text + (line.noNewline ? '' : '\n'));
      }
      edits.push({ range: new vscode.Range(placeOf(start), placeOf(at)), text: added.join('') });
    }
  }
  return edits;
}

/**
 * A text as a document holds it: no byte order mark and one kind of line ends. The editor restores
 * both.
 */
const plain = (text: string): string => text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n');

async function showConverted(converted: ConvertedDiff): Promise<void> {
  const paths = [...converted.files.keys()];
  const changed =
    paths.length === 1
      ? vscode.l10n.t('Applied to {0}.', paths[0] ?? '')
      : vscode.l10n.t('Applied to {0} files: {1}.', paths.length, paths.join(', '));
  const [first] = [...converted.files].filter(([, { after }]) => after !== undefined);
  const show = vscode.l10n.t('Show');
  const chosen = await vscode.window.showInformationMessage(
    withoutLinkMarkup([changed, warningsIn(converted)].filter(Boolean).join(' ')),
    ...(first === undefined ? [] : [show]),
  );
  if (chosen !== show || first === undefined) return;
  const [path, { before, after }] = first;
  const line = firstChange(before, after);
  const editor = await vscode.window.showTextDocument(uriIn(converted.tree.folder, path));
  editor.revealRange(new vscode.Range(line, 0, line, 0), vscode.TextEditorRevealType.InCenter);
}

/** Asks before files are made whose paths may be slips. @returns whether to make them */
async function askForNewFiles(doubtful: readonly DoubtfulPath[]): Promise<boolean> {
  if (doubtful.length === 0) return true;
  const paths = doubtful.map(({ path }) => path).join(', ');
  const near = [...new Set(doubtful.flatMap((each) => each.near))].join(', ');
  const isFolderNew = doubtful.some(({ inNewFolder }) => inNewFolder);
  return confirm(
    doubtful.length === 1
      ? vscode.l10n.t('This creates {0}, which does not exist.', paths)
      : vscode.l10n.t('This creates files that do not exist: {0}.', paths),
    vscode.l10n.t('Create'),
    [
      ...(near === '' ? [] : [vscode.l10n.t('The custom diff may mean {0}.', near)]),
      ...(isFolderNew ? [vscode.l10n.t('A folder is created too.')] : []),
    ].join(' '),
  );
}
