import { join } from 'node:path';
import type * as vscode from 'vscode';
import { messageOf } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import type { CandidateResult } from '../evaluation/candidate';
import { updateState } from '../evaluation/instanceState';
import { renamedTests } from '../python/renamedTests';
import type { PythonTest } from '../python/tests';
import { instanceFolder } from '../repository/storage';
import { casesOf } from './display';
import { renamedCases, type Evaluated, type KnownCases, type Preliminary } from './evaluated';
import { KeptEvaluation } from './keptEvaluation';
import { storageFolder } from './settings';

/** What is known of the open instance's tests: the last verdict, and what the run under way has shown. */
export class KnownResults {
  private readonly kept: KeptEvaluation;
  private evaluated: Evaluated | undefined;
  private listed: readonly PythonTest[] = [];
  private renames: ReadonlyMap<string, string> | undefined;
  /** Of the run under way; undefined when none is, or nothing is known yet. */
  soFar: Preliminary | undefined;

  /** @param instance id of the open instance */
  constructor(
    context: vscode.ExtensionContext,
    private readonly instance: string,
    private readonly reporter: Reporter,
  ) {
    const folder = context.storageUri?.fsPath ?? instanceFolder(storageFolder(), instance);
    this.kept = new KeptEvaluation(join(folder, 'evaluation.json'), instance);
  }

  /** Takes up the verdict of the window before. */
  async restore(): Promise<void> {
    this.evaluated ??= await this.kept.read();
  }

  /** The last verdict, if any. */
  get last(): Evaluated | undefined {
    return this.evaluated;
  }

  /** See `OpenInstance.casesOf`. */
  casesOf(test: string): KnownCases {
    const { soFar, evaluated: last } = this;
    const fresh = soFar === undefined ? [] : casesOf(soFar.first, test);
    if (fresh.length > 0) return { cases: fresh, text: soFar?.texts.get(test) };
    if (last === undefined) return { cases: [], text: undefined };
    const cases = casesOf(last.result, test);
    if (cases.length > 0) return { cases, text: last.texts.get(test) };
    this.renames ??= renamedTests(this.listed, last.texts);
    const was = this.renames.get(test);
    if (was === undefined) return { cases, text: last.texts.get(test) };
    return {
      cases: renamedCases(casesOf(last.result, was), was, test),
      text: this.listed.find((each) => each.id === test)?.text,
    };
  }

  /** Tells which tests there are now, so that those that were renamed are known again. */
  tellTests(tests: readonly PythonTest[]): void {
    this.listed = tests;
    this.renames = undefined;
  }

  /** Makes a verdict the last one, for this window and for those after it. */
  async keep(evaluated: Evaluated): Promise<void> {
    this.evaluated = evaluated;
    this.renames = undefined;
    // Not waited for: nobody reads the file before the window closes.
    this.kept.write(evaluated).catch((error: unknown) => this.notKept(error));
    await this.tellList(evaluated.result);
  }

  /** For the list of instances, in this window and others. */
  private async tellList({ strict }: CandidateResult): Promise<void> {
    const verdict = {
      success: strict.success,
      reason: strict.success ? '' : strict.reason,
      failToPass: strict.failToPass.length,
      date: new Date().toISOString(),
    };
    await updateState(storageFolder(), this.instance, (state) => ({ ...state, verdict })).catch(
      // A full disk costs the list its icon, and the author nothing.
      (error: unknown) => this.notKept(error),
    );
  }

  private notKept(error: unknown): void {
    this.reporter.log(`the verdict was not kept: ${messageOf(error)}`);
  }

  /** Resolves when the last verdict has been written. */
  settled(): Promise<void> {
    return this.kept.settled();
  }
}
