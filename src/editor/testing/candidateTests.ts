import * as vscode from 'vscode';
import { retryingMemoOf } from '../../domain/work';
import { isTestPath, renamedFiles, testFilesOf } from '../../patch/testFiles';
import { parseUnified } from '../../patch/parseUnified';
import {
  compareTests,
  TestBases,
  testFile,
  type ComparableTestFile,
} from '../../python/changedTests';
import type { EditedSource, Node, PythonParser } from '../../python/parser';
import type { PythonTest } from '../../python/tests';
import type { TestSource } from '../verdict/evaluated';
import type { FilesOfR, InstanceSource, LatestVerdict } from '../instance/instanceRoles';
import { workspacePath } from '../shell/workspacePath';

/** A test of a touched file, with its relation to the candidate. */
export interface ListedTest extends PythonTest, TestSource {
  /** `added` or `changed` against R; `kept` when R has the same test. */
  readonly status: 'added' | 'changed' | 'kept';
}

/** A file that the candidate touches, with its tests; those of the candidate come first. */
export interface ListedFile {
  readonly path: string;
  readonly uri: vscode.Uri;
  readonly tests: readonly ListedTest[];
}

/**
 * The tests that the candidate consists of, updated as files are edited, saved, created and
 * deleted. A file counts as touched when it differs from R on disk or in an editor.
 */
export class CandidateTests implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<string | undefined>();
  /** Fires with the path if the tests of only one file have changed, else with undefined. */
  readonly onDidChange = this.changed.event;
  private files = new Map<string, ListedFile>();
  private readonly subscriptions: vscode.Disposable[] = [this.changed];
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  private disposed = false;
  /** Syntax trees of edited documents, by their URI. */
  private readonly edited = new Map<string, EditedSource>();
  /** Files of R by path, cached since R does not change. */
  private readonly ofR = new Map<string, Promise<ComparableTestFile | undefined>>();
  /**
   * Texts of R that still need parsing. Parsing them together with their current version costs
   * half.
   */
  private readonly textsOfR = new Map<string, string>();
  /** The last texts read, from an editor or the disk. */
  private readonly lastRead = new Map<
    string,
    { readonly source: string; readonly file: ComparableTestFile }
  >();
  /**
   * The versions that each file's list was made from, so that only changed ones are compared again.
   */
  private readonly listedFrom = new Map<string, { now: ComparableTestFile; listed: ListedFile }>();
  /** Paths in R of the files that the candidate renames, by their new paths. */
  private oldPaths: ReadonlyMap<string, string> = new Map();
  /** What the tests of each file depend on. */
  private readonly bases = new Map<string, TestBases>();

  constructor(private readonly open: FilesOfR & InstanceSource & LatestVerdict) {
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(open.folder, '**/*.py'),
    );
    const soon = (): void => this.lookSoon();
    this.subscriptions.push(
      watcher,
      watcher.onDidChange(soon),
      watcher.onDidCreate(soon),
      watcher.onDidDelete(soon),
      vscode.workspace.onDidChangeTextDocument((event) => {
        if (event.contentChanges.length === 0) return;
        this.followEdit(event);
        void this.lookAtDocument(event.document);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document.uri)),
    );
    this.lookSoon();
  }

  list(): readonly ListedFile[] {
    return [...this.files.values()].sort((a, b) => a.path.localeCompare(b.path));
  }

  /** Resolves when everything on disk at this moment has been read. */
  refresh(): Promise<void> {
    clearTimeout(this.timer);
    this.looking = this.looking.then(() => this.look()).catch(() => undefined);
    return this.looking;
  }

  private lookSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), 100);
  }

  private async look(): Promise<void> {
    const patch = parseUnified(await this.open.candidatePatch());
    this.followRenames(renamedFiles(patch));
    const touched = new Set(testFilesOf(patch));
    for (const document of vscode.workspace.textDocuments) {
      const path = this.pathOf(document.uri);
      if (path !== undefined && document.isDirty) touched.add(path);
    }
    await this.readOfR(
      [...touched].filter((path) => !this.ofR.has(path) && !this.oldPaths.has(path)),
    );
    const files = new Map<string, ListedFile>();
    for (const path of touched) {
      const listed = await this.describe(path);
      if (listed !== undefined) files.set(path, listed);
    }
    if (this.disposed) return;
    const isSame =
      files.size === this.files.size &&
      [...files].every(([path, listed]) => this.files.get(path) === listed);
    this.files = files;
    if (!isSame) this.tell(undefined);
  }

  /** A test keeps its identity when its file is renamed. */
  private followRenames(oldPaths: ReadonlyMap<string, string>): void {
    for (const path of new Set([...oldPaths.keys(), ...this.oldPaths.keys()])) {
      if (oldPaths.get(path) === this.oldPaths.get(path)) continue;
      this.ofR.delete(path);
      this.textsOfR.delete(path);
      this.listedFrom.delete(path);
    }
    this.oldPaths = oldPaths;
  }

  private tell(path: string | undefined): void {
    this.open.tellTests([...this.files.values()].flatMap((file) => file.tests));
    this.changed.fire(path);
  }

  private async lookAtDocument(document: vscode.TextDocument): Promise<void> {
    const path = this.pathOf(document.uri);
    if (path === undefined) return;
    const listed = await this.describe(path);
    if (this.disposed) return;
    const isOwn = listed?.tests.some((test) => test.status !== 'kept') === true;
    if (listed !== undefined && (isOwn || (document.isDirty && this.files.has(path)))) {
      if (this.files.get(path) === listed) return;
      this.files.set(path, listed);
      this.tell(path);
    } else if (!document.isDirty) {
      this.lookSoon();
    }
  }

  /** Path of a test file relative to the workspace; undefined for any other file. */
  private pathOf(uri: vscode.Uri): string | undefined {
    if (vscode.workspace.getWorkspaceFolder(uri) !== this.open.folder) return undefined;
    const path = workspacePath(this.open.folder, uri);
    return path !== undefined && isTestPath(path) && path.endsWith('.py') ? path : undefined;
  }

  private async describe(path: string): Promise<ListedFile | undefined> {
    const uri = vscode.Uri.joinPath(this.open.folder.uri, path);
    const python = await this.open.python();
    const now = await this.read(uri, path);
    const before = await this.fileOfR(path);
    if (now === undefined) return undefined;
    const listedBefore = this.listedFrom.get(path);
    if (listedBefore?.now === now) return listedBefore.listed;
    const { added, changed } = compareTests(python, before ?? emptyFile, now);
    const statuses = new Map<string, ListedTest['status']>([
      ...added.map((test) => [test.id, 'added'] as const),
      ...changed
        .filter((test) => !now.broken || isKnownToDiffer(test, before, listedBefore?.listed))
        .map((test) => [test.id, 'changed'] as const),
    ]);
    const known = this.bases.get(path) ?? new TestBases();
    this.bases.set(path, known);
    const bases = known.of(now);
    const tests = now.tests.map((test) => ({
      ...test,
      basis: bases.get(test.id),
      status: statuses.get(test.id) ?? ('kept' as const),
    }));
    const own = tests.filter((test) => test.status !== 'kept');
    const kept = tests.filter((test) => test.status === 'kept');
    const listed = { path, uri, tests: [...own, ...kept] };
    this.listedFrom.set(path, { now, listed });
    return listed;
  }

  /** The text of a file: from its editor if there is one, else from the disk. */
  private async read(uri: vscode.Uri, path: string): Promise<ComparableTestFile | undefined> {
    const python = await this.open.python();
    const document = vscode.workspace.textDocuments.find(
      (each) => each.uri.toString() === uri.toString(),
    );
    if (document === undefined) {
      const source = await vscode.workspace.fs.readFile(uri).then(
        (bytes) => Buffer.from(bytes).toString('utf8'),
        () => undefined,
      );
      if (source === undefined) return undefined;
      const known = this.lastRead.get(path);
      if (known?.source === source) return known.file;
      const file = this.parse(python, source, path);
      this.lastRead.set(path, { source, file });
      return file;
    }
    const text = document.getText();
    const known = this.lastRead.get(path);
    if (known?.source === text) return known.file;
    let edited = this.edited.get(uri.toString());
    if (edited?.text !== text) {
      edited?.dispose();
      edited = python.open(text);
      this.edited.set(uri.toString(), edited);
    }
    const file = edited.read((root) => testFile(root, text, path));
    this.lastRead.set(path, { source: text, file });
    return file;
  }

  /** Parses a file, together with that of R if it needs parsing too. */
  private parse(python: PythonParser, source: string, path: string): ComparableTestFile {
    const read = (root: Node): ComparableTestFile => testFile(root, source, path);
    const textOfR = this.textsOfR.get(path);
    if (textOfR === undefined) return python.parse(source, read);
    this.textsOfR.delete(path);
    const [ofR, file] = python.parseBoth(
      textOfR,
      (root) => testFile(root, textOfR, path),
      source,
      read,
    );
    this.ofR.set(path, Promise.resolve(ofR));
    return file;
  }

  private fileOfR(path: string): Promise<ComparableTestFile | undefined> {
    const text = this.textsOfR.get(path);
    this.textsOfR.delete(path);
    return retryingMemoOf(this.ofR, path, () =>
      this.parsedOfR(
        path,
        text === undefined
          ? this.open.fileOfR(this.oldPaths.get(path) ?? path)
          : Promise.resolve(text),
      ),
    );
  }

  /** Reads the missing files of R at once: one by one, git would take longer than the parser. */
  private async readOfR(paths: readonly string[]): Promise<void> {
    if (paths.length < 2) return;
    const sources = await this.open.manyOfR(paths);
    for (const [path, source] of sources) this.textsOfR.set(path, source);
  }

  private async parsedOfR(
    path: string,
    read: Promise<string | undefined>,
  ): Promise<ComparableTestFile | undefined> {
    const [python, source] = await Promise.all([this.open.python(), read]);
    return source === undefined
      ? undefined
      : python.parse(source, (root) => testFile(root, source, path));
  }

  /**
   * Applies an edit to the syntax tree of its document, so that only the text around it is parsed
   * again.
   */
  private followEdit({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const edited = this.edited.get(document.uri.toString());
    // Positions of each change refer to the text after the changes before it.
    for (const { rangeOffset, rangeLength, text } of edited === undefined ? [] : contentChanges) {
      edited?.replace(rangeOffset, rangeOffset + rangeLength, text);
    }
  }

  private forget(uri: vscode.Uri): void {
    this.edited.get(uri.toString())?.dispose();
    this.edited.delete(uri.toString());
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
    for (const each of this.subscriptions) each.dispose();
    for (const each of this.edited.values()) each.dispose();
  }
}

/**
 * Whether a test in a file that Python cannot read has certainly changed: its own text differs, or
 * it had changed before. Otherwise a half-typed test would mark its whole class as changed at every
 * key.
 */
function isKnownToDiffer(
  { id, text }: PythonTest,
  before: ComparableTestFile | undefined,
  listed: ListedFile | undefined,
): boolean {
  if (before?.tests.find((each) => each.id === id)?.text !== text) return true;
  return listed?.tests.some((each) => each.id === id && each.status === 'changed') === true;
}

/** Stands for a file that R does not have. */
const emptyFile: ComparableTestFile = {
  tests: [],
  units: new Map(),
  everywhere: new Set(),
  loose: '',
  broken: false,
};
