import { join } from 'node:path';
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
import { TextDocument } from 'vscode-languageserver-textdocument';
import { z } from 'zod';
import { Cancelled, HumanError, messageOf } from './domain/humanError';
import { takeKeys } from './engine/keysInUse';
import type { CheckedDiff, CheckContext } from './language/check';
import { cachedPython } from './language/cachedPython';
import { codeActions } from './language/codeActions';
import { completion } from './language/completion';
import type { CustomDiff } from './language/customDiffs';
import { definition } from './language/definition';
import { formatting } from './language/formatting';
import { hover } from './language/hover';
import { OpenDocuments } from './language/openDocuments';
import { documentSymbols, foldingRanges } from './language/symbols';
import { WorkspaceTrees } from './language/workspaceTree';
import { allKeyVariables } from './method/models/providers';
import { createPythonParser } from './python/parser';
import { folderTree } from './repository/folderTree';

/**
 * The language server of custom diffs: creates the parts from language/ and connects them to the
 * client.
 */

/** Milliseconds without typing before a document is checked. */
const rest = 150;

const optionsSchema = z.object({ roots: z.array(z.string()).optional() }).nullish();
const openTextSchema = z.object({ uri: z.string(), text: z.string().nullable() });

// Take the keys out of the environment: the server needs none, and runs as long as the window.
takeKeys(allKeyVariables);
const connection = createConnection(ProposedFeatures.all);
const documents = new TextDocuments(TextDocument);
const trees = new WorkspaceTrees(folderTree);
const open = createPythonParser((file) => join(__dirname, file)).then(
  (python) => new OpenDocuments(trees, cachedPython(python)),
);
// Every request reports this error. The handler only keeps the rejection from ending the process.
open.catch((error: unknown) => connection.console.error(messageOf(error)));
let client: ClientCapabilities = {};

connection.onInitialize((params: InitializeParams): InitializeResult => {
  client = params.capabilities;
  const given = optionsSchema.safeParse(params.initializationOptions).data?.roots;
  trees.setRoots(given ?? (params.workspaceFolders ?? []).map((folder) => folder.uri));
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
      codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, CodeActionKind.Refactor] },
      workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
    },
  };
});

connection.onInitialized(() => {
  if (client.workspace?.workspaceFolders !== true) return;
  connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
    const gone = new Set(removed.map((folder) => folder.uri));
    trees.setRoots([
      ...trees.uris.filter((uri) => !gone.has(uri)),
      ...added.map((folder) => folder.uri),
    ]);
    checkAllSoon();
  });
});

connection.onNotification('swt-bench/openText', (params: unknown) => {
  const given = openTextSchema.safeParse(params);
  if (!given.success) return;
  trees.setText(given.data.uri, given.data.text ?? undefined);
  checkAllSoon();
});

connection.onDidChangeWatchedFiles(() => {
  trees.forget();
  checkAllSoon();
});

const timers = new Map<string, NodeJS.Timeout>();

/** Checks a document after a pause in typing. */
function checkSoon(document: TextDocument): void {
  clearTimeout(timers.get(document.uri));
  const timer = setTimeout(() => void check(document).catch(report), rest);
  timers.set(document.uri, timer);
}

function checkAllSoon(): void {
  for (const document of documents.all()) checkSoon(document);
}

async function check(document: TextDocument): Promise<void> {
  const { uri, version } = document;
  const { generation } = trees;
  const diagnostics = await (await open).diagnostics(document);
  // A later text or tree has its own check, whose result this one must not replace.
  const current = documents.get(uri);
  if (current?.version !== version || trees.generation !== generation) return;
  await connection.sendDiagnostics({ uri, version, diagnostics });
}

function report(error: unknown): void {
  // A later text has its own check.
  if (error instanceof Cancelled) return;
  connection.console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

documents.onDidChangeContent(({ document }) => checkSoon(document));
documents.onDidClose(({ document: { uri } }) => {
  clearTimeout(timers.get(uri));
  timers.delete(uri);
  void connection.sendDiagnostics({ uri, diagnostics: [] });
});

interface Found {
  readonly document: TextDocument;
  readonly known: OpenDocuments;
}

/**
 * Answers a request about a document; `otherwise` if that document is not open. Returns an error if
 * the request was cancelled. Also returns one if the text changed meanwhile, unless `older` allows
 * an outdated answer.
 */
async function about<T>(
  uri: string,
  otherwise: T,
  token: CancellationToken,
  answer: (found: Found) => T | Promise<T>,
  { older = false } = {},
): Promise<T | ResponseError<void>> {
  const cancelled = (): ResponseError<void> =>
    new ResponseError(LSPErrorCodes.RequestCancelled, 'cancelled');
  const known = await open;
  const document = documents.get(uri);
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
function at<T>(
  params: {
    readonly textDocument: { readonly uri: string };
    readonly position: { readonly line: number; readonly character: number };
  },
  otherwise: T,
  token: CancellationToken,
  answer: (diff: CustomDiff, surroundings: CheckContext, found: Found) => T | Promise<T>,
  options?: { readonly older?: boolean },
): Promise<T | ResponseError<void>> {
  return about(
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

const checkedOf = (diff: CustomDiff, { known, document }: Found): Promise<CheckedDiff> =>
  known.checked(document, diff) ?? Promise.resolve({ diff, plans: [], diagnostics: [] });

// An outdated list is of use: editors narrow it down by what was typed meanwhile.
connection.onCompletion((params, token) =>
  at(
    params,
    null,
    token,
    (diff, surroundings) =>
      completion(diff, params.position, surroundings, {
        snippets: client.textDocument?.completion?.completionItem?.snippetSupport === true,
      }),
    { older: true },
  ),
);

connection.onHover((params, token) =>
  at(params, null, token, async (diff, surroundings, found) => {
    const formats = client.textDocument?.hover?.contentFormat;
    const kind = formats?.includes(MarkupKind.Markdown)
      ? MarkupKind.Markdown
      : MarkupKind.PlainText;
    const checked = await checkedOf(diff, found);
    return (await hover(checked, params.position, surroundings, kind)) ?? null;
  }),
);

connection.onDefinition((params, token) =>
  at(params, null, token, async (diff, surroundings, found) => {
    const links = await definition(await checkedOf(diff, found), params.position, surroundings);
    if (client.textDocument?.definition?.linkSupport === true) return links;
    return links.map((link) => ({ uri: link.targetUri, range: link.targetSelectionRange }));
  }),
);

connection.onDocumentSymbol(({ textDocument: { uri } }, token) =>
  about(uri, [], token, ({ known, document }) => known.diffs(document).flatMap(documentSymbols)),
);

connection.onFoldingRanges(({ textDocument: { uri } }, token) =>
  about(uri, [], token, ({ known, document }) => known.diffs(document).flatMap(foldingRanges)),
);

connection.onDocumentFormatting(({ textDocument: { uri } }, token) =>
  about(uri, [], token, ({ known, document }) =>
    known.diffs(document).flatMap((diff) => formatting(document.getText(), diff)),
  ),
);

connection.onCodeAction(({ textDocument: { uri }, range, context }, token) =>
  at({ textDocument: { uri }, position: range.start }, [], token, async (diff, _, found) => {
    const text = found.document.getText();
    const checked = await checkedOf(diff, found);
    const canDisable = client.textDocument?.codeAction?.disabledSupport === true;
    return codeActions({ uri, text }, checked, range, context).filter(
      (action) => canDisable || action.disabled === undefined,
    );
  }),
);

// With Node's IPC nothing reads standard input, so its end cannot show that the client is gone.
process.on('disconnect', () => process.exit(1));

documents.listen(connection);
connection.listen();
