import * as vscode from 'vscode';
import { sha256 } from '../../files/sha256';
import { bytesOf } from '../../patch/bytes';
import { hasUnsaved } from './saveEdits';

/** Milliseconds without a change before files are looked at: a checkout writes many. */
const quiet = 200;
/** Milliseconds after the first change by which they are looked at though changes go on. */
const longest = 2000;

/** Tells when what is saved in a workspace, or whether all of it is, may have changed. */
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
    // Files change outside of editors too: in a terminal, in the Explorer, by other tools.
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
      // Some folders may be excluded from being watched.
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

  /** Not for every key stroke: only the first edit and the last save say something new. */
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

/** What tells one state of the workspace from another, of its patch on R. */
export const patchDigest = (patch: string): string => sha256(bytesOf(patch));
