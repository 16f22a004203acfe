import { spawn, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type Diagnostic,
  type InitializeResult,
  type Position,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
} from 'vscode-languageserver/node';

const server = resolve(__dirname, '..', '..', 'dist', 'server.js');

/** A client of the built language server, over standard input and output. */
export class LanguageClient {
  readonly #told = new Map<string, PublishDiagnosticsParams>();
  #waiting: (() => void)[] = [];
  #version = 1;
  /** The status with which the server ended. */
  readonly ended: Promise<number | null>;

  private constructor(
    readonly process: ChildProcess,
    readonly connection: ProtocolConnection,
  ) {
    this.ended = new Promise((done) => process.once('exit', done));
    connection.onNotification('textDocument/publishDiagnostics', (params) => {
      const told = params as PublishDiagnosticsParams;
      this.#told.set(told.uri, told);
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  /** Starts a server for folders. */
  static async start(
    folders: readonly string[],
    options: { processId?: number | null; capabilities?: object } = {},
  ): Promise<{ client: LanguageClient; answer: InitializeResult }> {
    const process = spawn(globalThis.process.execPath, [server, '--stdio'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const connection = createProtocolConnection(
      new StreamMessageReader(process.stdout),
      new StreamMessageWriter(process.stdin),
    );
    connection.listen();
    const client = new LanguageClient(process, connection);
    const answer: InitializeResult = await connection.sendRequest('initialize', {
      processId: options.processId ?? null,
      rootUri: null,
      capabilities: options.capabilities ?? {
        textDocument: {
          hover: { contentFormat: ['markdown'] },
          definition: { linkSupport: true },
          completion: { completionItem: { snippetSupport: true } },
          codeAction: { disabledSupport: true },
        },
        workspace: { workspaceFolders: true },
      },
      initializationOptions: { roots: folders.map((folder) => pathToFileURL(folder).href) },
    });
    await connection.sendNotification('initialized', {});
    return { client, answer };
  }

  async open(uri: string, text: string, languageId = 'swt-custom-diff'): Promise<void> {
    this.#version += 1;
    const textDocument = { uri, languageId, version: this.#version, text };
    await this.connection.sendNotification('textDocument/didOpen', { textDocument });
  }

  /** Replaces a range of a document, or all of it. */
  async change(
    uri: string,
    text: string,
    range?: { start: Position; end: Position },
  ): Promise<void> {
    this.#version += 1;
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version: this.#version },
      contentChanges: [range === undefined ? { text } : { range, text }],
    });
  }

  close(uri: string): Promise<void> {
    return this.connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
  }

  /** The diagnostics of the latest text of a document, as soon as a test accepts them. */
  async diagnostics(
    uri: string,
    accept: (told: Diagnostic[], version: number | undefined) => boolean = (_, version) =>
      version === this.#version,
  ): Promise<Diagnostic[]> {
    for (;;) {
      const told = this.#told.get(uri);
      if (told !== undefined && accept(told.diagnostics, told.version)) return told.diagnostics;
      await new Promise<void>((wake) => this.#waiting.push(wake));
    }
  }

  /** Sends a request about a document, with further parameters. */
  ask<T>(method: string, uri: string, more: object = {}): Promise<T> {
    return this.connection.sendRequest(`textDocument/${method}`, {
      textDocument: { uri },
      ...more,
    });
  }

  at<T>(method: string, uri: string, line: number, character: number, more = {}): Promise<T> {
    return this.ask(method, uri, { position: { line, character }, ...more });
  }

  async stop(): Promise<number | null> {
    if (this.process.exitCode !== null) return this.process.exitCode;
    await this.connection.sendRequest('shutdown');
    await this.connection.sendNotification('exit');
    const status = await this.ended;
    this.connection.dispose();
    return status;
  }
}
