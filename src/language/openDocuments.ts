import type { Diagnostic, Position } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { HumanError } from '../domain/humanError';
import { openFile } from '../patch/custom/customEdits';
import type { CustomFile } from '../patch/custom/customFile';
import type { PythonParser } from '../python/parser';
import { checkDiff, type CheckedDiff, type CheckContext } from './check';
import { customDiffAt, customDiffsIn, type CustomDiff } from './customDiffs';
import { shown, shownDiagnostics } from './diagnostics';
import type { WorkspaceTrees } from './workspaceTree';

/** Files that are kept as they were read. */
const mostFiles = 50;

/** What is known of an open document, for one text of it and one state of the workspace. */
interface Known {
  readonly version: number;
  readonly diffs: readonly CustomDiff[];
  generation: number;
  readonly checked: Map<CustomDiff, Promise<CheckedDiff>>;
  /** Aborted when there is a later text: nobody needs to know then. */
  readonly outdated: AbortController;
}

/** The custom diffs of open documents, each read once for every text and checked once for every tree. */
export class OpenDocuments {
  readonly #known = new WeakMap<TextDocument, Known>();
  /** The one read last is the last. */
  readonly #files = new Map<string, { before: string; file: CustomFile }>();

  constructor(
    private readonly trees: WorkspaceTrees,
    private readonly python: PythonParser,
  ) {}

  /** The custom diffs of a document as it is now. */
  diffs(document: TextDocument): readonly CustomDiff[] {
    return this.#of(document).diffs;
  }

  /** The custom diff at a position of a document. */
  diffAt(document: TextDocument, position: Position): CustomDiff | undefined {
    return customDiffAt(this.diffs(document), position.line);
  }

  /** What the custom diffs of a document are about; undefined when no folder is open. */
  surroundings(document: TextDocument): CheckContext | undefined {
    const root = this.trees.rootOf(document.uri);
    if (root === undefined) return undefined;
    return {
      tree: this.trees.tree(root),
      python: this.python,
      open: this.#open,
      uriOf: (path) => this.trees.uriOf(root, path),
    };
  }

  /**
   * A custom diff of a document, checked against the tree as it is now.
   *
   * @throws Cancelled when there is a later text; HumanError when a file of the tree cannot be read
   */
  checked(document: TextDocument, diff: CustomDiff): Promise<CheckedDiff> | undefined {
    const surroundings = this.surroundings(document);
    if (surroundings === undefined) return undefined;
    const known = this.#of(document);
    const done = known.checked.get(diff);
    if (done !== undefined) return done;
    const checking = checkDiff(diff, surroundings, known.outdated.signal);
    known.checked.set(diff, checking);
    return checking;
  }

  /**
   * All there is to say of a document's custom diffs.
   *
   * @throws Cancelled when there is a later text
   */
  async diagnostics(document: TextDocument): Promise<Diagnostic[]> {
    const told = this.diffs(document).map(async (diff) => {
      try {
        const checked = await this.checked(document, diff);
        return checked === undefined ? [] : shownDiagnostics(checked);
      } catch (error) {
        if (!(error instanceof HumanError)) throw error;
        const { what, next } = error;
        const hint = next === undefined ? {} : { hint: next };
        return [shown(diff, { severity: 'error', line: 1, message: what, ...hint })];
      }
    });
    return (await Promise.all(told)).flat();
  }

  /** A file as blocks are placed in it, read once for every text of it. */
  readonly #open = (path: string, before: string): CustomFile => {
    const known = this.#files.get(path);
    if (known?.before === before) return known.file;
    const file = openFile(path, before, this.python);
    this.#files.delete(path);
    this.#files.set(path, { before, file });
    const [oldest] = this.#files.keys();
    if (oldest !== undefined && this.#files.size > mostFiles) this.#files.delete(oldest);
    return file;
  };

  #of(document: TextDocument): Known {
    const { version } = document;
    const { generation } = this.trees;
    const known = this.#known.get(document);
    if (known?.version === version) {
      if (known.generation !== generation) {
        known.checked.clear();
        known.generation = generation;
      }
      return known;
    }
    known?.outdated.abort();
    const diffs = customDiffsIn(document.getText(), document.languageId, known?.diffs);
    const fresh = {
      version,
      diffs,
      generation,
      checked: new Map(),
      outdated: new AbortController(),
    };
    this.#known.set(document, fresh);
    return fresh;
  }
}
