import type { Diagnostic, Position } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { HumanError } from '../../domain/work';
import { openFile, type CustomFile } from '../../patch/customFormat';
import type { PythonParser } from '../../python/parser';
import { checkDiff, type CheckedDiff, type CheckContext } from './check';
import { customDiffAt, customDiffsIn, type CustomDiff } from '../customDiffs';
import { shown, shownDiagnostics } from './diagnostics';
import type { WorkspaceTrees } from './workspaceTree';

/** Maximum number of files that are cached as opened. */
const mostFiles = 50;

/** The results for an open document, for one version of its text and one state of the workspace. */
interface Known {
  readonly version: number;
  readonly diffs: readonly CustomDiff[];
  generation: number;
  readonly checked: Map<CustomDiff, Promise<CheckedDiff>>;
  /** Aborted once there is a later text, which makes the results useless. */
  readonly outdated: AbortController;
}

/**
 * The custom diffs of open documents. Each is read once for every text and checked once for every
 * tree.
 */
export class OpenDocuments {
  readonly #known = new WeakMap<TextDocument, Known>();
  /** In the order of their last reading, the latest last. */
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

  /** The context for checking the custom diffs of a document; undefined if no folder is open. */
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
   * @throws Cancelled if there is a later text; HumanError if a file of the tree cannot be read
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
   * All diagnostics of a document's custom diffs.
   *
   * @throws Cancelled if there is a later text
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

  /** Opens a file in which blocks are placed, once for every text of it. */
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
