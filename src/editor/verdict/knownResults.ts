import { mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { Instance } from '../../domain/instance';
import type { MutantResults } from '../../mutation/mutantSchema';
import { messageOf, type Reporter } from '../../domain/work';
import type { CandidateResult } from '../../evaluation/candidateResult';
import { updateState } from '../../repository/instanceState';
import { renamedTests } from '../../python/changedTests';
import type { PythonTest } from '../../python/tests';
import { sha256 } from '../../files/digest';
import { casesOf } from '../testing/transitionTexts';
import {
  isNewer,
  renamedCases,
  type Evaluated,
  type KnownCases,
  type Preliminary,
} from './evaluated';
import { StoredEvaluation, rowDigest, type Restored } from './storedEvaluation';
import { storageFolder } from '../shell/settings';

/**
 * The known results of the open instance's tests: the last verdict, and what the run under way has
 * shown.
 */
export class KnownResults {
  private readonly kept: StoredEvaluation;
  private evaluated: Evaluated | undefined;
  /** The texts in `evaluated`, by test. */
  private texts: ReadonlyMap<string, string> | undefined;
  private keeping: Promise<void> = Promise.resolve();
  private listed: readonly PythonTest[] = [];
  private renames: ReadonlyMap<string, string> | undefined;
  /** Text of the issue, once the instance is read. */
  private issue: string | undefined;
  /** Results of the run under way; undefined when none runs, or nothing is known yet. */
  soFar: Preliminary | undefined;

  /**
   * @param folder of the workspace
   * @param instance id of the open instance
   * @param row reads the instance
   */
  constructor(
    context: vscode.ExtensionContext,
    folder: vscode.Uri,
    private readonly instance: string,
    private readonly reporter: Reporter,
    private readonly row: () => Promise<Instance>,
  ) {
    const { version } = context.extension.packageJSON as { readonly version: string };
    // Outside the storage of the workspace, which windows of one folder need not share.
    const path = join(
      context.globalStorageUri.fsPath,
      'evaluations',
      `${sha256(folder.toString()).slice(0, 16)}.json`,
    );
    this.kept = new StoredEvaluation(path, instance, version);
  }

  /**
   * Restores the verdict of the window before. A check in the background drops it when the
   * instance's row has changed since; nothing waits for that check, which may read a dataset.
   *
   * @param dropped called when the verdict is dropped
   */
  async restore(dropped: () => void): Promise<void> {
    const restored = await this.kept.read();
    if (restored === undefined || this.evaluated !== undefined) return;
    this.show(restored, dropped);
  }

  /**
   * Shows the verdicts of other windows on the same folder as they are stored.
   *
   * @param changed called when the last verdict is another one
   */
  follow(changed: () => void): vscode.Disposable {
    const { path } = this.kept;
    // What does not exist yet is not watched everywhere.
    mkdirSync(dirname(path), { recursive: true });
    const watcher = vscode.workspace.createFileSystemWatcher(
      new vscode.RelativePattern(vscode.Uri.file(dirname(path)), basename(path)),
    );
    const read = async (): Promise<void> => {
      const stored = await this.kept.read();
      // A run under way here is about to say more.
      if (stored === undefined || this.soFar !== undefined) return;
      if (!isNewer(stored.evaluated, this.evaluated)) return;
      const evaluated: Evaluated = { ...stored.evaluated, restored: 'in another window' };
      this.show({ ...stored, evaluated }, changed);
      changed();
    };
    const follows = (): void => void read();
    return vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(follows),
      watcher.onDidChange(follows),
    );
  }

  private show(restored: Restored, dropped: () => void): void {
    this.become(restored.evaluated);
    const check = async (): Promise<void> => {
      const row = await this.row();
      this.issue = row.issue;
      if (rowDigest(row) === restored.row) return;
      if (this.evaluated !== restored.evaluated) return;
      this.become(undefined);
      dropped();
    };
    // Without a row nothing contradicts the verdict, so it stays.
    check().catch((error: unknown) => {
      this.reporter.log(`the restored verdict was not checked: ${messageOf(error)}`);
    });
  }

  /**
   * Forgets a verdict of another environment, so that no result of one is beside another's.
   *
   * @param environment digest of the environment of the next run
   * @returns whether there was one to forget
   */
  runsIn(environment: string): boolean {
    const before = this.evaluated?.environment;
    if (before === undefined || before === environment) return false;
    this.become(undefined);
    return true;
  }

  private become(evaluated: Evaluated | undefined): void {
    this.evaluated = evaluated;
    this.texts = undefined;
    this.renames = undefined;
  }

  /** The last verdict, if any. */
  get last(): Evaluated | undefined {
    return this.evaluated;
  }

  /** Whether the run under way has results of a test function. */
  hasSoFar(test: string): boolean {
    return this.soFar !== undefined && casesOf(this.soFar.first, test).length > 0;
  }

  /** Reads the issue, which hints heed. Call it where the instance is read anyway. */
  async readIssue(): Promise<void> {
    this.issue = (await this.row()).issue;
  }

  /** See `OpenInstance.casesOf`. */
  casesOf(test: string): KnownCases {
    const { soFar, evaluated, issue } = this;
    const strict = soFar === undefined ? evaluated?.result.strict : soFar.first.strict;
    return { ...this.knownCases(test), about: { issue, success: strict?.success } };
  }

  private knownCases(test: string): KnownCases {
    const { soFar, evaluated: last } = this;
    const fresh = soFar === undefined ? [] : casesOf(soFar.first, test);
    if (fresh.length > 0) return { cases: fresh, source: soFar?.texts.get(test) };
    if (last === undefined) return { cases: [], source: undefined };
    const cases = casesOf(last.result, test);
    const source = last.texts.get(test);
    if (cases.length > 0) return { cases, source };
    this.texts ??= new Map([...last.texts].map(([id, { text }]) => [id, text]));
    this.renames ??= renamedTests(this.listed, this.texts);
    const was = this.renames.get(test);
    if (was === undefined) return { cases, source };
    const text = this.listed.find((each) => each.id === test)?.text;
    const basis = last.texts.get(was)?.basis;
    return {
      cases: renamedCases(casesOf(last.result, was), was, test),
      source: text === undefined ? undefined : { text, basis },
    };
  }

  /** Updates the tests that exist now, so that renamed ones keep their cases. */
  tellTests(tests: readonly PythonTest[]): void {
    this.listed = tests;
    this.renames = undefined;
  }

  /** Makes a verdict the last one, for this window and for later ones. */
  async keep(evaluated: Evaluated): Promise<void> {
    this.become(evaluated);
    this.keepForLater(evaluated);
    await this.tellList(evaluated.result);
  }

  /**
   * Adds to the last verdict what its candidate does with mutants, if it still is the last one. Later
   * windows have it too.
   */
  keepMutants({ digest }: Pick<Evaluated, 'digest'>, mutants: MutantResults): void {
    if (this.evaluated?.digest !== digest) return;
    this.evaluated = { ...this.evaluated, mutants };
    this.keepForLater(this.evaluated);
  }

  /** Not awaited: nobody reads the file before the window closes. */
  private keepForLater(evaluated: Evaluated): void {
    this.keeping = this.write(evaluated).catch((error: unknown) => this.notKept(error));
  }

  private async write(evaluated: Evaluated): Promise<void> {
    await this.kept.write(evaluated, rowDigest(await this.row()));
  }

  /** Stores the status for the Instances view, in this window and others. */
  private async tellList({ strict }: CandidateResult): Promise<void> {
    const verdict = {
      success: strict.success,
      reason: strict.success ? '' : strict.reason,
      failToPass: strict.failToPass.length,
      date: new Date().toISOString(),
    };
    await updateState(storageFolder(), this.instance, (state) => ({ ...state, verdict })).catch(
      // After a failure, such as a full disk, the list lacks an icon; the author loses nothing.
      (error: unknown) => this.notKept(error),
    );
  }

  private notKept(error: unknown): void {
    this.reporter.log(`the verdict was not kept: ${messageOf(error)}`);
  }

  /** Resolves when the last verdict is written. */
  async settled(): Promise<void> {
    await this.keeping;
    await this.kept.settled();
  }
}
