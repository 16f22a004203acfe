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

/** The language server of custom diffs: builds what there is in language/ and wires it to a connection. */

/** How long typing has to rest before a document is checked, in milliseconds. */
const rest = 150;

const optionsSchema = z.object({ roots: z.array(z.string()).optional() }).nullish();
const openTextSchema = z.object({ uri: z.string(), text: z.string().nullable() });

// It needs no key, and lives as long as the window.
takeKeys(allKeyVariables);
const connection = createConnection(ProposedFeatures.all);
const documents = new TextDocuments(TextDocument);
const trees = new WorkspaceTrees(folderTree);
const open = createPythonParser((file) => join(__dirname, file)).then(
  (python) => new OpenDocuments(trees, cachedPython(python)),
);
// Whoever asks is told; here it must only not end the process.
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

/** Checks a document when nothing happens to it for a while. */
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
  // A later text or tree has its own check, which must not be overtaken by this one.
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
 * An answer about a document; `otherwise` for one that is not open. No answer where nobody waits for it
 * any more, or where the text has changed while files were read, unless an older one is of use.
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
    // A file of the tree cannot be read: the diagnostics say so.
    if (error instanceof HumanError) return otherwise;
    if (error instanceof Cancelled) {
      return new ResponseError(LSPErrorCodes.ContentModified, 'the text has changed');
    }
    throw error;
  }
}

/** As `about`, of the custom diff at a position and what it is about. */
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

// Editors narrow a list down by what is typed while it comes.
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

// Over Node's own channel nothing is read from standard input, whose end would tell that nobody is there.
process.on('disconnect', () => process.exit(1));

documents.listen(connection);
connection.listen();
