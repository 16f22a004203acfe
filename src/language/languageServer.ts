import { Cancelled, HumanError, messageOf } from '../domain/work';
import { createPythonParser, type PythonParser } from '../python/parser';
import type { CustomDiff } from './customDiffs';
import type { CheckedDiff, CheckContext } from './features/check';
import { codeActions } from './features/codeActions';
import { completion } from './features/completion';
import { definition } from './features/definition';
import { formatting } from './features/formatting';
import { hover } from './features/hover';
import { OpenDocuments } from './features/openDocuments';
import { documentSymbols, foldingRanges } from './features/symbols';
import { WorkspaceTrees } from './features/workspaceTree';
import { join } from 'node:path';
import { TextDocument } from 'vscode-languageserver-textdocument';
import {
  CodeActionKind,
  createConnection,
  LSPErrorCodes,
  MarkupKind,
  ProposedFeatures,
  ResponseError,
  TextDocuments,
  TextDocumentSyncKind,
  type CancellationToken,
  type ClientCapabilities,
  type InitializeParams,
  type InitializeResult,
} from 'vscode-languageserver/node';
import { z } from 'zod';

/** Milliseconds without typing before a document is checked. */
const rest = 150;

const optionsSchema = z.object({ roots: z.array(z.string()).optional() }).nullish();
const openTextSchema = z.object({ uri: z.string(), text: z.string().nullable() });

interface Found {
  readonly document: TextDocument;
  readonly known: OpenDocuments;
}

/** The language server of custom diffs: connects what the features compute to the client. */
export class LanguageServer {
  private readonly connection = createConnection(ProposedFeatures.all);
  private readonly documents = new TextDocuments(TextDocument);
  private readonly trees: WorkspaceTrees;
  private readonly open: Promise<OpenDocuments>;
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private client: ClientCapabilities = {};

  /**
   * @param treeOf opens a folder as a tree
   * @param assets folder with the grammars
   */
  constructor(treeOf: ConstructorParameters<typeof WorkspaceTrees>[0], assets: string) {
    this.trees = new WorkspaceTrees(treeOf);
    this.open = createPythonParser((file) => join(assets, file)).then(
      (python) => new OpenDocuments(this.trees, cachedPython(python)),
    );
    // Every request reports this error. The handler only keeps the rejection from ending the process.
    this.open.catch((error: unknown) => this.connection.console.error(messageOf(error)));
    this.followClient();
    this.followDocuments();
    this.answerAtPlaces();
    this.answerOnDocuments();
  }

  /** Answers requests until the client is gone. */
  listen(): void {
    this.documents.listen(this.connection);
    this.connection.listen();
  }

  private followClient(): void {
    this.connection.onInitialize((params: InitializeParams): InitializeResult => {
      this.client = params.capabilities;
      const given = optionsSchema.safeParse(params.initializationOptions).data?.roots;
      this.trees.setRoots(given ?? (params.workspaceFolders ?? []).map((folder) => folder.uri));
      return {
        serverInfo: { name: 'swt-bench' },
        capabilities: {
          textDocumentSync: TextDocumentSyncKind.Incremental,
          completionProvider: { triggerCharacters: ['\n', '/'] },
          hoverProvider: true,
          definitionProvider: true,
          documentSymbolProvider: true,
          foldingRangeProvider: true,
          documentFormattingProvider: true,
          codeActionProvider: {
            codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.Refactor],
          },
          workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
        },
      };
    });

    this.connection.onInitialized(() => {
      if (this.client.workspace?.workspaceFolders !== true) return;
      this.connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        const gone = new Set(removed.map((folder) => folder.uri));
        this.trees.setRoots([
          ...this.trees.uris.filter((uri) => !gone.has(uri)),
          ...added.map((folder) => folder.uri),
        ]);
        this.checkAllSoon();
      });
    });

    this.connection.onNotification('swt-bench/openText', (params: unknown) => {
      const given = openTextSchema.safeParse(params);
      if (!given.success) return;
      this.trees.setText(given.data.uri, given.data.text ?? undefined);
      this.checkAllSoon();
    });

    this.connection.onDidChangeWatchedFiles(() => {
      this.trees.forget();
      this.checkAllSoon();
    });
  }

  private followDocuments(): void {
    this.documents.onDidChangeContent(({ document }) => this.checkSoon(document));
    this.documents.onDidClose(({ document: { uri } }) => {
      clearTimeout(this.timers.get(uri));
      this.timers.delete(uri);
      void this.connection.sendDiagnostics({ uri, diagnostics: [] });
    });
  }

  private answerAtPlaces(): void {
    // An outdated list is of use: editors narrow it down by what was typed meanwhile.
    this.connection.onCompletion((params, token) =>
      this.at(
        params,
        null,
        token,
        (diff, surroundings) =>
          completion(diff, params.position, surroundings, {
            snippets: this.client.textDocument?.completion?.completionItem?.snippetSupport === true,
          }),
        { older: true },
      ),
    );

    this.connection.onHover((params, token) =>
      this.at(params, null, token, async (diff, surroundings, found) => {
        const formats = this.client.textDocument?.hover?.contentFormat;
        const kind = formats?.includes(MarkupKind.Markdown)
          ? MarkupKind.Markdown
          : MarkupKind.PlainText;
        const checked = await checkedOf(diff, found);
        return (await hover(checked, params.position, surroundings, kind)) ?? null;
      }),
    );

    this.connection.onDefinition((params, token) =>
      this.at(params, null, token, async (diff, surroundings, found) => {
        const links = await definition(await checkedOf(diff, found), params.position, surroundings);
        if (this.client.textDocument?.definition?.linkSupport === true) return links;
        return links.map((link) => ({ uri: link.targetUri, range: link.targetSelectionRange }));
      }),
    );

    this.connection.onCodeAction(({ textDocument: { uri }, range, context }, token) =>
      this.at(
        { textDocument: { uri }, position: range.start },
        [],
        token,
        async (diff, _, found) => {
          const text = found.document.getText();
          const checked = await checkedOf(diff, found);
          const canDisable = this.client.textDocument?.codeAction?.disabledSupport === true;
          return codeActions({ uri, text }, checked, range, context).filter(
            (action) => canDisable || action.disabled === undefined,
          );
        },
      ),
    );
  }

  private answerOnDocuments(): void {
    this.connection.onDocumentSymbol(({ textDocument: { uri } }, token) =>
      this.about(uri, [], token, ({ known, document }) =>
        known.diffs(document).flatMap(documentSymbols),
      ),
    );

    this.connection.onFoldingRanges(({ textDocument: { uri } }, token) =>
      this.about(uri, [], token, ({ known, document }) =>
        known.diffs(document).flatMap(foldingRanges),
      ),
    );

    this.connection.onDocumentFormatting(({ textDocument: { uri } }, token) =>
      this.about(uri, [], token, ({ known, document }) =>
        known.diffs(document).flatMap((diff) => formatting(document.getText(), diff)),
      ),
    );
  }

  /** Checks a document after a pause in typing. */
  private checkSoon(document: TextDocument): void {
    clearTimeout(this.timers.get(document.uri));
    const timer = setTimeout(
      () => void this.check(document).catch((error: unknown) => this.report(error)),
      rest,
    );
    this.timers.set(document.uri, timer);
  }

  private checkAllSoon(): void {
    for (const document of this.documents.all()) this.checkSoon(document);
  }

  private async check(document: TextDocument): Promise<void> {
    const { uri, version } = document;
    const { generation } = this.trees;
    const diagnostics = await (await this.open).diagnostics(document);
    // A later text or tree has its own check, whose result this one must not replace.
    const current = this.documents.get(uri);
    if (current?.version !== version || this.trees.generation !== generation) return;
    await this.connection.sendDiagnostics({ uri, version, diagnostics });
  }

  private report(error: unknown): void {
    // A later text has its own check.
    if (error instanceof Cancelled) return;
    this.connection.console.error(
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
  }

  /**
   * Answers a request about a document; `otherwise` if that document is not open. Returns an error if
   * the request was cancelled. Also returns one if the text changed meanwhile, unless `older` allows
   * an outdated answer.
   */
  private async about<T>(
    uri: string,
    otherwise: T,
    token: CancellationToken,
    answer: (found: Found) => T | Promise<T>,
    { older = false } = {},
  ): Promise<T | ResponseError<void>> {
    const cancelled = (): ResponseError<void> =>
      new ResponseError(LSPErrorCodes.RequestCancelled, 'cancelled');
    const known = await this.open;
    const document = this.documents.get(uri);
    if (document === undefined) return otherwise;
    const { version } = document;
    try {
      if (token.isCancellationRequested) return cancelled();
      const answered = await answer({ document, known });
      if (token.isCancellationRequested) return cancelled();
      if (!older && document.version !== version) {
        return new ResponseError(LSPErrorCodes.ContentModified, 'the text has changed');
      }
      return answered;
    } catch (error) {
      // A file of the tree cannot be read. The diagnostics report that.
      if (error instanceof HumanError) return otherwise;
      if (error instanceof Cancelled) {
        return new ResponseError(LSPErrorCodes.ContentModified, 'the text has changed');
      }
      throw error;
    }
  }

  /** Like `about`, for the custom diff at a position, with the context of its check. */
  private at<T>(
    params: {
      readonly textDocument: { readonly uri: string };
      readonly position: { readonly line: number; readonly character: number };
    },
    otherwise: T,
    token: CancellationToken,
    answer: (diff: CustomDiff, surroundings: CheckContext, found: Found) => T | Promise<T>,
    options?: { readonly older?: boolean },
  ): Promise<T | ResponseError<void>> {
    return this.about(
      params.textDocument.uri,
      otherwise,
      token,
      (found) => {
        const diff = found.known.diffAt(found.document, params.position);
        const surroundings = found.known.surroundings(found.document);
        return diff === undefined || surroundings === undefined
          ? otherwise
          : answer(diff, surroundings, found);
      },
      options,
    );
  }
}

const checkedOf = (diff: CustomDiff, { known, document }: Found): Promise<CheckedDiff> =>
  known.checked(document, diff) ?? Promise.resolve({ diff, plans: [], diagnostics: [] });

/** Maximum number of characters of all cached sources together: some fifty large files. */
const mostCharacters = 16_000_000;

/** The results of one function by source, the least recently used first. */
interface CachedResults {
  readonly results: Map<string, unknown>;
  characters: number;
}

/**
 * A parser that caches results by source and by function. A function must be the same object at
 * every call, and callers must not modify its result.
 */
function cachedPython(python: PythonParser): PythonParser {
  const kept = new WeakMap<object, CachedResults>();
  const keptSound = new WeakMap<object, CachedResults>();
  return {
    ...python,
    parse: (source, use) =>
      remembered(kept, source, use, (text, found) => python.parse(text, found)),
    parseSound: (source, use) =>
      remembered(keptSound, source, use, (text, found) => python.parseSound(text, found)),
  };
}

function remembered<T, Use extends object>(
  kept: WeakMap<object, CachedResults>,
  source: string,
  use: Use,
  parse: (source: string, use: Use) => T,
): T {
  let found = kept.get(use);
  if (found === undefined) kept.set(use, (found = { results: new Map(), characters: 0 }));
  const { results } = found;
  const known = results.has(source);
  const result = known ? (results.get(source) as T) : parse(source, use);
  // Insert it last, so that the least recently used one is dropped first.
  if (known) results.delete(source);
  else found.characters += source.length;
  results.set(source, result);
  for (const oldest of results.keys()) {
    if (found.characters <= mostCharacters) break;
    results.delete(oldest);
    found.characters -= oldest.length;
  }
  return result;
}
