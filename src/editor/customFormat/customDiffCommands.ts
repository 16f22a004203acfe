import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  RetryingMemo,
  Cancelled,
  HumanError,
  throwIfAborted,
  type Reporter,
} from '../../domain/work';
import { createPythonParser, type PythonParser } from '../../python/parser';
import { customDiffCommandIds } from '../shell/names';
import type { OpenInstance } from '../instance/openInstance';
import type { FilesOfR } from '../instance/instanceRoles';
import { showProblem } from '../shell/problems';
import { applyCustomDiff, notInEditors } from './applyCustomDiff';
import { customDiffOf, type DiffInEditor } from './diffInEditor';
import { CustomDiffLanguageClient } from './languageClient';
import { Previews } from './previews';
import { bytesOf } from '../../patch/bytes';
import { convertCustomDiff, warningsIn } from './convertCustomDiff';
import { writeCustom } from '../../patch/customFormat';
import { parseUnified } from '../../patch/parseUnified';
import type { FileEdit } from '../../patch/makeUnified';
import { afterAWhile } from '../shell/progress';
import { withoutLinkMarkup } from '../shell/plainText';
import { workspaceTree } from './workspaceTree';
import { workspacePath } from '../shell/workspacePath';

type CommandId = (typeof customDiffCommandIds)[keyof typeof customDiffCommandIds];

/** Everything about custom diffs in a window: commands, previews and the language server. */
export class CustomDiffCommands implements vscode.Disposable {
  readonly previews = new Previews(() => this.python());
  private language: CustomDiffLanguageClient | undefined;
  private readonly parsing = new RetryingMemo(() =>
    createPythonParser((file) => join(this.extension, 'dist', file)),
  );

  constructor(
    private readonly extension: string,
    private readonly reporter: Reporter,
  ) {}

  /**
   * Starts the language server, once. Shows an error if that fails; the commands work without it.
   */
  async startLanguage(): Promise<void> {
    if (this.language !== undefined) return;
    this.language = new CustomDiffLanguageClient(join(this.extension, 'dist'));
    await this.language.start().catch((error: unknown) => showProblem(error, this.reporter));
  }

  /**
   * Runs a command.
   *
   * @param open the open instance, if any
   * @param argument the custom diff; see {@link customDiffOf}
   * @throws HumanError
   */
  async run(id: CommandId, open: OpenInstance | undefined, argument: unknown): Promise<void> {
    try {
      await this.runToEnd(id, open, argument);
    } catch (error) {
      // A cancellation needs no message.
      if (!(error instanceof Cancelled)) throw error;
    }
  }

  private async runToEnd(
    id: CommandId,
    open: OpenInstance | undefined,
    argument: unknown,
  ): Promise<void> {
    const { preview, apply, convert, copy } = customDiffCommandIds;
    switch (id) {
      case preview:
        return this.previews.show(await customDiffOf(argument));
      case apply:
        return applyCustomDiff(await customDiffOf(argument), await this.python());
      case convert:
        return showUnifiedDiff(await customDiffOf(argument), await this.python());
      case copy:
        return copyChanges(opened(open), await this.python());
    }
  }

  private python(): Promise<PythonParser> {
    return this.parsing.get();
  }

  dispose(): void {
    this.previews.dispose();
    void this.parsing.made().then((python) => python?.dispose());
    void this.close();
  }

  /** Ends the language server's process. */
  async close(): Promise<void> {
    await this.language?.close();
  }
}

function opened(open: OpenInstance | undefined): OpenInstance {
  if (open !== undefined) return open;
  throw new HumanError(
    vscode.l10n.t('No instance is open'),
    vscode.l10n.t('Open one from the Instances view first'),
  );
}

/**
 * Opens the unified diff that makes the same changes and that `git apply` accepts. Offers to save
 * it as a file when an editor cannot hold its bytes.
 *
 * @throws HumanError when the custom diff has an error
 */
async function showUnifiedDiff(diff: DiffInEditor, python: PythonParser): Promise<void> {
  const converted = await convertCustomDiff(diff, python);
  const { patch } = converted.conversion;
  const document = await vscode.workspace.openTextDocument({ language: 'diff', content: patch });
  await vscode.window.showTextDocument(document, { preview: false });
  const hindrance = notInEditors(patch);
  if (hindrance !== undefined) void offerToSave(patch, hindrance);
  else {
    const warnings = warningsIn(converted);
    if (warnings !== '') void vscode.window.showWarningMessage(warnings);
  }
}

async function offerToSave(patch: string, hindrance: string): Promise<void> {
  const save = vscode.l10n.t('Save As…');
  const chosen = await vscode.window.showWarningMessage(
    vscode.l10n.t(
      'The unified diff {0}. Save it with this button: saved from the editor, it would not apply.',
      hindrance,
    ),
    save,
  );
  if (chosen !== save) return;
  const uri = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save Diff'),
    filters: { Diff: ['diff', 'patch'] },
  });
  if (uri !== undefined) await vscode.workspace.fs.writeFile(uri, bytesOf(patch));
}

/**
 * Copies the author's edits of R, unsaved ones too, to the clipboard as a custom diff.
 *
 * @throws HumanError when there are no edits, or none that the format can express; Cancelled
 */
async function copyChanges(open: FilesOfR, python: PythonParser): Promise<void> {
  const title = vscode.l10n.t('Reading the changes in {0}', open.folder.name);
  const edits = await afterAWhile(title, (signal) => editsIn(open, signal));
  if (edits.length === 0) {
    throw new HumanError(
      vscode.l10n.t('No changes in {0}', open.folder.name),
      vscode.l10n.t('Edit a test first'),
    );
  }
  const { text, left } = writeCustom(edits, python);
  const reasons = left.map(({ path, why }) => `${path} (${why})`).join(', ');
  if (text === '') {
    throw new HumanError(
      vscode.l10n.t('A custom diff cannot express these changes: {0}', reasons),
      vscode.l10n.t('Use a unified diff: "git diff"'),
    );
  }
  await vscode.env.clipboard.writeText(text);
  const n = edits.length - left.length;
  if (left.length > 0) {
    void vscode.window.showWarningMessage(
      withoutLinkMarkup(vscode.l10n.t('Copied as a custom diff without {0}.', reasons)),
    );
  } else {
    void vscode.window.showInformationMessage(
      n === 1
        ? withoutLinkMarkup(
            vscode.l10n.t('Copied the changes of {0} as a custom diff.', edits[0]?.path ?? ''),
          )
        : vscode.l10n.t('Copied the changes of {0} files as a custom diff.', n),
    );
  }
}

/** What differs from R, on disk or in an editor. */
async function editsIn(open: FilesOfR, signal: AbortSignal): Promise<FileEdit[]> {
  const tree = await workspaceTree(open.folder);
  const paths = new Set<string>();
  for (const { oldPath, newPath } of parseUnified(await open.candidatePatch(signal)).files) {
    for (const path of [oldPath, newPath]) if (path !== null) paths.add(path);
  }
  for (const { isDirty, uri } of vscode.workspace.textDocuments) {
    const isHere = vscode.workspace.getWorkspaceFolder(uri) === open.folder;
    const path = workspacePath(open.folder, uri);
    if (isDirty && isHere && uri.scheme === 'file' && path !== undefined) paths.add(path);
  }
  const edits: FileEdit[] = [];
  for (const path of [...paths].sort()) {
    throwIfAborted(signal);
    if (path.endsWith('.swtdiff')) continue; // A custom diff that was copied before may lie in the workspace.
    const [before, after] = [await open.textOfR(path), await tree.read(path)];
    if (before !== after) edits.push({ path, before, after });
  }
  return edits;
}
