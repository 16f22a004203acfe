import * as vscode from 'vscode';

/**
 * The documents of the extension as files that nobody can write. A document of a
 * `TextDocumentContentProvider` accepts edits as soon as a setting about read-only files changes.
 * And VS Code restores a diff of several files only where their file system activates the extension.
 */
export class ReadOnlyFiles implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;
  /** Of all files. VS Code reads a file again when it is later than before. */
  private mtime = Date.now();

  constructor(private readonly textOf: (uri: vscode.Uri) => Promise<string>) {}

  /** Lets VS Code read a file again. */
  tellChanged(uri: vscode.Uri): void {
    this.mtime = Math.max(this.mtime + 1, Date.now());
    this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  stat(): vscode.FileStat {
    const { mtime } = this;
    // The size is not known before the file is read.
    return { type: vscode.FileType.File, ctime: 0, mtime, size: 0 };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const text = await this.textOf(uri);
    // Without a byte order mark a setting says the encoding. VS Code shows no file with a NUL.
    return Buffer.from(`\ufeff${text.replaceAll('\0', '\u2400')}`);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [] {
    return [];
  }

  createDirectory = refuse;
  writeFile = refuse;
  delete = refuse;
  rename = refuse;

  dispose(): void {
    this.changed.dispose();
  }
}

function refuse(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri);
}
