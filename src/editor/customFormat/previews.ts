import * as vscode from 'vscode';
import { asShown } from '../../patch/bytes';
import type { PythonParser } from '../../python/parser';
import { previewAuthority, scheme } from '../shell/names';
import {
  convertCustomDiff,
  firstChange,
  type ConvertedDiff,
  type ChangedText,
} from './convertCustomDiff';
import { again, documentName, type DiffInEditor } from './diffInEditor';
import { uriIn } from './workspaceTree';

/** Milliseconds without an edit before a preview refreshes. */
const pause = 300;

interface Preview {
  readonly diff: DiffInEditor;
  /**
   * The last files without an error. They stay while an edit of the custom diff leaves it faulty.
   */
  files: ConvertedDiff['files'];
}

type Side = 'before' | 'after';

/**
 * Previews of custom diffs: the file on the left, the result on the right. They follow edits of the
 * custom diff and of the files, and change nothing.
 */
export class Previews implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private readonly previews = new Map<string, Preview>();
  /** Ids of previews whose documents are about to be opened. */
  private readonly opening = new Set<string>();
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private refreshing: AbortController | undefined;

  constructor(private readonly python: () => Promise<PythonParser>) {
    this.subscriptions = [
      this.changed,
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && document.uri.scheme !== scheme) this.refreshSoon();
      }),
      vscode.workspace.onDidCloseTextDocument(({ uri }) => this.forget(uri)),
    ];
  }

  /**
   * Opens the preview of a custom diff: a diff editor for one file, one multi-file editor for
   * several.
   *
   * @throws HumanError when the custom diff has an error
   */
  async show(diff: DiffInEditor): Promise<void> {
    const { files, tree } = await convertCustomDiff(diff, await this.python());
    const id = idOf(diff);
    this.previews.set(id, { diff, files });
    this.opening.add(id);
    this.changedAll(id, files);
    try {
      const [one] = files;
      if (files.size > 1 || one === undefined) await showAll(id, tree.folder, diff, files);
      else await showOne(id, tree.folder, diff, one);
    } finally {
      this.opening.delete(id);
    }
  }

  /** Content of a document of {@link previewAuthority}. */
  contentOf(uri: vscode.Uri): string {
    const { id, side } = readQuery(uri);
    const preview = this.previews.get(id);
    if (preview === undefined) {
      return vscode.l10n.t(
        'This preview is no longer available. Run "SWT-Bench: Preview Custom Diff".',
      );
    }
    const text = preview.files.get(uri.path.slice(1))?.[side] ?? '';
    return asShown(text).replace(/^\ufeff/, '');
  }

  private refreshSoon(): void {
    if (this.previews.size === 0) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), pause);
  }

  private async refresh(): Promise<void> {
    this.refreshing?.abort();
    const refreshing = (this.refreshing = new AbortController());
    for (const [id, preview] of this.previews) {
      if (preview.diff.document.isClosed) continue;
      try {
        const { files } = await convertCustomDiff(
          again(preview.diff),
          await this.python(),
          refreshing.signal,
        );
        preview.files = files;
      } catch {
        if (refreshing.signal.aborted) return; // A newer refresh has started.
        continue; // The diff is half-typed; the Problems view shows the error.
      }
      this.changedAll(id, preview.files);
    }
  }

  private changedAll(id: string, files: Preview['files']): void {
    for (const path of files.keys()) {
      for (const side of ['before', 'after'] as const)
        this.changed.fire(previewUri(path, id, side));
    }
  }

  /** Drops a preview whose last document was closed. */
  private forget(closed: vscode.Uri): void {
    if (closed.scheme !== scheme || closed.authority !== previewAuthority) return;
    const { id } = readQuery(closed);
    const isOpen = vscode.workspace.textDocuments.some(
      ({ uri, isClosed }) =>
        !isClosed && uri.authority === previewAuthority && readQuery(uri).id === id,
    );
    if (!isOpen && !this.opening.has(id)) this.previews.delete(id);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.refreshing?.abort();
    for (const each of this.subscriptions) each.dispose();
  }
}

async function showOne(
  id: string,
  folder: vscode.WorkspaceFolder,
  diff: DiffInEditor,
  [path, { before, after }]: [string, ChangedText],
): Promise<void> {
  const line = firstChange(before, after);
  await vscode.commands.executeCommand(
    'vscode.diff',
    before === undefined ? previewUri(path, id, 'before') : uriIn(folder, path),
    previewUri(path, id, 'after'),
    vscode.l10n.t('{0} (preview of {1})', path, documentName(diff.document)),
    { preview: true, selection: new vscode.Range(line, 0, line, 0) },
  );
}

async function showAll(
  id: string,
  folder: vscode.WorkspaceFolder,
  diff: DiffInEditor,
  files: ConvertedDiff['files'],
): Promise<void> {
  await vscode.commands.executeCommand(
    'vscode.changes',
    vscode.l10n.t('Preview of {0}', documentName(diff.document)),
    // Both sides have the same path, since with different ones the editor reports a rename.
    [...files].map(([path, { before, after }]) => [
      uriIn(folder, path),
      before === undefined ? undefined : previewUri(path, id, 'before'),
      after === undefined ? undefined : previewUri(path, id, 'after'),
    ]),
  );
}

const previewUri = (path: string, id: string, side: Side): vscode.Uri =>
  vscode.Uri.from({
    scheme,
    authority: previewAuthority,
    path: `/${path}`,
    query: `${side}&${id}`,
  });

function readQuery({ query }: vscode.Uri): { readonly side: Side; readonly id: string } {
  const end = query.indexOf('&');
  return { side: query.startsWith('before') ? 'before' : 'after', id: query.slice(end + 1) };
}

/** One preview for each document, or fence of it. Opening it again reuses the preview. */
const idOf = ({ document, fence }: DiffInEditor): string =>
  `${document.uri.toString()}${fence === undefined ? '' : `#${fence}`}`;
