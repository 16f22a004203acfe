import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import { patchDigest } from '../instance/edits';
import type { OpenInstance } from '../instance/openInstance';
import { saveEdits } from '../instance/saveEdits';
import { showProblem } from '../shell/problems';
import { stepBeside, withoutLinkMarkup } from '../shell/plainText';
import { withNotification } from '../shell/progress';
import { askForTestsOfModels } from '../tools/testsOfModels';
import { refuseUntrusted } from '../shell/workspaceTrust';
import { FixResults, testsOnFix, type KnownTestsOnFix, type TestsOnFix } from './fixTreeRow';

/** A fix with its name for people. */
export interface NamedPatch {
  readonly patch: string;
  readonly name: string;
}

/** Runs the author's tests on R with fixes in place of X*. Results are about the edits that ran. */
export class TestsOnFixes implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly results = new FixResults();
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly open: OpenInstance,
    private readonly reporter: Reporter,
  ) {
    this.subscription = open.onDidEdit(() => void this.follow().catch(this.shown));
  }

  of(patch: string): KnownTestsOnFix | undefined {
    return this.results.of(patch);
  }

  /** @throws HumanError when the tests cannot run */
  async runOn({ patch, name }: NamedPatch): Promise<void> {
    await this.prepare();
    const title = vscode.l10n.t('Running your tests on R with {0}', name);
    const ran = await withNotification(
      title,
      this.reporter,
      (reporter, signal) => this.open.runs.onFix(patch, { reporter, signal }),
      this.open.marker.id,
    );
    if (ran === undefined) return;
    const found = this.keep(patch, ran.digest, testsOnFix(ran));
    if ('problem' in found) throw couldNotRun(name, found.problem);
  }

  /**
   * Runs the tests on each of some fixes, several at once. Results are shown as they come, and those
   * before a cancellation stay.
   *
   * @throws HumanError when there is no fix, or the tests run on none
   */
  async runOnAll(fixes: readonly NamedPatch[]): Promise<void> {
    const names = new Map(fixes.toReversed().map(({ patch, name }) => [patch, name]));
    const patches = [...new Set(fixes.map(({ patch }) => patch))];
    if (patches.length === 0) {
      throw new HumanError(
        vscode.l10n.t('No fix yet'),
        vscode.l10n.t('Run "SWT-Bench: Propose Fixes…"'),
      );
    }
    await this.prepare();
    const title =
      patches.length === 1
        ? vscode.l10n.t('Running your tests on R with 1 fix')
        : vscode.l10n.t('Running your tests on R with {0} fixes', patches.length);
    const found = new Map<string, TestsOnFix>();
    const isDone = await withNotification(title, this.reporter, async (reporter, signal) => {
      let count = '';
      const told: Reporter = {
        log: (line) => reporter.log(line),
        progress: (step) =>
          reporter.progress(
            [count, stepBeside(this.open.marker.id, step)].filter(Boolean).join(' · '),
          ),
      };
      await this.open.runs.onFixes(
        patches,
        { reporter: told, signal },
        {
          onTested: (patch, ran) => found.set(patch, this.keep(patch, ran.digest, testsOnFix(ran))),
          onProgress: ({ done, total }) => {
            count = vscode.l10n.t('{0} of {1} fixes', done, total);
            reporter.progress(count);
          },
        },
      );
      return true;
    });
    if (isDone === true) tell(found, names);
  }

  private async prepare(): Promise<void> {
    refuseUntrusted();
    await askForTestsOfModels(this.open.folder, 'person');
    await saveEdits(this.open);
  }

  private keep(patch: string, edits: string, found: TestsOnFix): TestsOnFix {
    this.results.keep(patch, edits, found);
    this.changed.fire();
    // The author may have edited the tests while they ran.
    void this.follow().catch(this.shown);
    return found;
  }

  private async follow(): Promise<void> {
    if (this.results.isEmpty) return;
    if (this.results.follow(patchDigest(await this.open.candidatePatch()))) this.changed.fire();
  }

  private readonly shown = (error: unknown): void => showProblem(error, this.reporter);

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}

/** Says on how many fixes all tests pass. @throws HumanError when they ran on none */
function tell(found: ReadonlyMap<string, TestsOnFix>, names: ReadonlyMap<string, string>): void {
  const ran = [...found].flatMap(([patch, each]) => ('tests' in each ? [{ patch, ...each }] : []));
  const [first] = found;
  if (ran.length === 0 && first !== undefined && 'problem' in first[1]) {
    throw couldNotRun(names.get(first[0]) ?? '', first[1].problem);
  }
  const passing = ran.filter(({ tests }) => tests.every(({ fixed }) => fixed === 'passes'));
  const [only] = passing;
  const count = vscode.l10n.t(
    'Fixes with which all of your tests pass on R: {0} of {1}',
    passing.length,
    found.size,
  );
  const name = passing.length === 1 ? names.get(only?.patch ?? '') : undefined;
  const said = name === undefined ? count : `${count} (${name})`;
  void vscode.window.showInformationMessage(withoutLinkMarkup(said));
}

const couldNotRun = (name: string, why: string): HumanError =>
  new HumanError(
    vscode.l10n.t('Could not run your tests on R with {0}: {1}', name, why),
    vscode.l10n.t('Write a test first, or choose another fix'),
  );
