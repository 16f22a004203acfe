import { join } from 'node:path';
import * as vscode from 'vscode';
import {
  LanguageClient,
  RevealOutputChannelOn,
  TransportKind,
  type LanguageClientOptions,
} from 'vscode-languageclient/node';
import { customDiffLanguage } from '../shell/names';

/** Text of an open Python file that is not saved, or null once it equals the disk again. */
interface OpenText {
  readonly uri: string;
  readonly text: string | null;
}

/**
 * Client of the language server of custom diffs, which runs in its own process. It reports the
 * folders of the workspace, changes on disk, and unsaved edits of Python files.
 */
export class CustomDiffLanguageClient implements vscode.Disposable {
  private readonly client: LanguageClient;
  private readonly subscriptions: vscode.Disposable[] = [];
  private readonly told = new Set<string>();

  /** @param dist folder of the bundles */
  constructor(dist: string) {
    const watcher = vscode.workspace.createFileSystemWatcher('**/*.py');
    const server = {
      module: join(dist, 'server.js'),
      transport: TransportKind.ipc,
      // Without `cwd` the process would start in the workspace, which may not be trusted.
      options: { cwd: dist },
    };
    const options: LanguageClientOptions = {
      documentSelector: ['file', 'untitled'].flatMap((scheme) => [
        { scheme, language: customDiffLanguage },
        { scheme, language: 'markdown' },
      ]),
      synchronize: { fileEvents: watcher },
      initializationOptions: {
        roots: (vscode.workspace.workspaceFolders ?? [])
          .filter((folder) => folder.uri.scheme === 'file')
          .map((folder) => folder.uri.toString()),
      },
      revealOutputChannelOn: RevealOutputChannelOn.Never,
    };
    this.client = new LanguageClient(
      'swt-bench.customDiff',
      'SWT-Bench Custom Diff',
      { run: server, debug: server },
      options,
    );
    this.subscriptions.push(
      watcher,
      vscode.workspace.onDidChangeTextDocument(({ document }) => this.tell(document)),
      vscode.workspace.onDidSaveTextDocument((document) => this.tell(document)),
      vscode.workspace.onDidCloseTextDocument((document) => this.tell(document)),
    );
  }

  /** Resolves when the server answers. @throws when the server does not start */
  async start(): Promise<void> {
    await this.client.start();
    for (const document of vscode.workspace.textDocuments) this.tell(document);
  }

  private tell(document: vscode.TextDocument): void {
    if (document.languageId !== 'python' || document.uri.scheme !== 'file') return;
    const uri = document.uri.toString();
    const isUnsaved = document.isDirty && !document.isClosed;
    if (!this.client.isRunning() || (!isUnsaved && !this.told.delete(uri))) return;
    if (isUnsaved) this.told.add(uri);
    const given: OpenText = { uri, text: isUnsaved ? document.getText() : null };
    void this.client.sendNotification('swt-bench/openText', given).catch(() => {
      this.told.delete(uri); // The server has ended. A new server gets the text with the next edit.
    });
  }

  dispose(): void {
    void this.close();
  }

  /** Ends the server's process. */
  async close(): Promise<void> {
    for (const each of this.subscriptions.splice(0)) each.dispose();
    // `dispose` rejects when the server never started.
    await this.client.dispose().catch(() => undefined);
  }
}
