import * as vscode from 'vscode';
import { sha256 } from '../../files/digest';
import { bytesOf } from '../../patch/bytes';
import { hasUnsaved } from './saveEdits';

/**
 * Milliseconds without a change before files are examined. A checkout writes many files in a row.
 */
const quiet = 200;
/** Maximum number of milliseconds from the first change to the examination, even if changes continue. */
const longest = 2000;

/**
 * Fires when the saved files of a workspace may have changed, or when unsaved edits appear or
 * vanish.
 */
export class Edits implements vscode.Disposable {
  private readonly edited = new vscode.EventEmitter<void>();
  readonly onDidEdit = this.edited.event;
  private readonly subscriptions: readonly vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private lookAt: number | undefined;
  private unsaved: boolean;

  constructor(private readonly open: { readonly folder: vscode.WorkspaceFolder }) {
    this.unsaved = hasUnsaved(open);
    const { folder } = open;
    // Files also change outside editors: in a terminal, in the Explorer, by other tools.
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(folder, '**'),
    );
    const own = `${folder.uri.path}/.git/`;
    const soon = ({ path }: vscode.Uri): void => {
      if (!path.startsWith(own)) this.tellSoon();
    };
    const ifSaved = (): void => this.tellIfSavedOrNot();
    this.subscriptions = [
      this.edited,
      watcher,
      watcher.onDidChange(soon),
      watcher.onDidCreate(soon),
      watcher.onDidDelete(soon),
      // The watcher may exclude some folders.
      vscode.workspace.onDidSaveTextDocument(({ uri }) => soon(uri)),
      vscode.workspace.onDidChangeTextDocument(ifSaved),
      vscode.workspace.onDidCloseTextDocument(ifSaved),
    ];
  }

  private tellSoon(): void {
    const now = performance.now();
    this.lookAt ??= now + longest;
    clearTimeout(this.timer);
    const wait = Math.max(0, Math.min(quiet, this.lookAt - now));
    this.timer = setTimeout(() => {
      this.lookAt = undefined;
      this.edited.fire();
    }, wait);
  }

  /**
   * Fires only at the first edit and the last save, since other key strokes change nothing here.
   */
  private tellIfSavedOrNot(): void {
    const unsaved = hasUnsaved(this.open);
    if (unsaved === this.unsaved) return;
    this.unsaved = unsaved;
    this.edited.fire();
  }

  dispose(): void {
    clearTimeout(this.timer);
    for (const each of this.subscriptions) each.dispose();
  }
}

/** Digest of the workspace's patch on R, which identifies its state. */
export const patchDigest = (patch: string): string => sha256(bytesOf(patch));
