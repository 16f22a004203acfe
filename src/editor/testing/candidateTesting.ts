import * as vscode from 'vscode';
import type { Side } from '../../domain/outcome';
import type { Reporter } from '../../domain/work';
import type { CandidateTests } from './candidateTests';
import { coverageOfRun, loadDetailedCoverage } from '../coverage/detailedCoverage';
import { DebugTests } from './debugTests';
import type { OpenInstance } from '../instance/openInstance';
import { TestItems } from './testItems';
import { append, TestRuns } from './testRuns';
import type { TestsUnderWay } from './testsUnderWay';

/** Milliseconds between a save and its run, since several files are often saved at once. */
const settling = 150;

/** How a lens or a command runs one test. */
type HowToRun = 'reproduce' | 'base' | 'fixed' | 'debug';

/**
 * The candidate in VS Code's Testing view: the tests of the files that it touches, by file and
 * class, and the profiles that run them on R, on R∘X*, or on both.
 */
export class CandidateTesting implements vscode.Disposable {
  private readonly controller: vscode.TestController;
  private readonly items: TestItems;
  private readonly runs: TestRuns;
  private readonly debugger: DebugTests;
  private readonly profiles: Readonly<Record<HowToRun, vscode.TestRunProfile>>;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly open: OpenInstance,
    private readonly tests: CandidateTests,
    underWay: TestsUnderWay,
    reporter: Reporter,
  ) {
    this.controller = vscode.tests.createTestController('swt-bench', vscode.l10n.t('SWT-Bench'));
    this.controller.refreshHandler = () => this.tests.refresh();
    this.items = new TestItems(this.controller, open, tests);
    this.runs = new TestRuns(this.controller, open, tests, this.items, underWay, reporter);
    this.debugger = new DebugTests(open, this.runs, reporter);
    const { Run, Debug } = vscode.TestRunProfileKind;
    this.profiles = {
      reproduce: this.profile(vscode.l10n.t('Reproduce'), Run, true, (request, token) =>
        request.continuous === true
          ? this.reproduceOnSave(request, token)
          : this.runs.reproduce(request, token),
      ),
      base: this.profile(vscode.l10n.t('Run on R'), Run, false, (request, token) =>
        this.runs.runOn('base', request, token),
      ),
      fixed: this.profile(vscode.l10n.t('Run on R∘X*'), Run, false, (request, token) =>
        this.runs.runOn('fixed', request, token),
      ),
      debug: this.profile(vscode.l10n.t('Debug on R'), Debug, true, this.debugOn('base')),
    };
    this.profiles.reproduce.supportsContinuousRun = true;
    this.profile(vscode.l10n.t('Debug on R∘X*'), Debug, false, this.debugOn('fixed'));
    this.coverageProfile();
    this.subscriptions = [
      this.controller,
      tests.onDidChange((path) => this.items.list(path)),
      open.onDidChange(() => this.items.describe()),
    ];
    this.items.list();
  }

  private profile(
    label: string,
    kind: vscode.TestRunProfileKind,
    isDefault: boolean,
    run: RunProfile,
  ): vscode.TestRunProfile {
    return this.controller.createRunProfile(label, kind, run, isDefault);
  }

  private debugOn(side: Side): RunProfile {
    return (request, token) => this.debugger.debug(side, request, token);
  }

  private coverageProfile(): void {
    const { Coverage } = vscode.TestRunProfileKind;
    const label = vscode.l10n.t('Change Coverage');
    const profile = this.profile(label, Coverage, true, (request, token) =>
      this.cover(request, token),
    );
    profile.loadDetailedCoverage = (_run, file) =>
      Promise.resolve(loadDetailedCoverage(this.open, file));
    profile.loadDetailedCoverageForTest = (_run, file, item) =>
      Promise.resolve(loadDetailedCoverage(this.open, file, item.id));
  }

  /** Runs both sides and shows change coverage in VS Code's coverage view. */
  private async cover(
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
  ): Promise<void> {
    // The lines that X* changes are part of the answer.
    const isRevealed = await this.open.reveal(vscode.l10n.t('Change Coverage'));
    await this.runs.reproduce(request, token, {
      onVerdict: (run, { result }) => {
        if (!isRevealed) append(run, `${hidden()}\n`);
        const itemOf = (test: string) => this.items.find(test);
        for (const file of coverageOfRun(this.open, result.changeCoverage, itemOf)) {
          run.addCoverage(file);
        }
      },
    });
  }

  /** Runs all listed tests on both sides, as the command does. */
  async reproduceAll(): Promise<void> {
    const request = new vscode.TestRunRequest(undefined, undefined, this.profiles.reproduce);
    await this.runs.reproduce(request, new vscode.CancellationTokenSource().token);
  }

  /** Runs one test with the profile of that name; resolves when the run has ended. */
  async runTest(how: HowToRun, test: string): Promise<void> {
    // A known test starts without this wait, since only a started run can be cancelled.
    if (this.items.find(test) === undefined) await this.tests.refresh();
    const item = this.items.find(test);
    if (item === undefined) return;
    const request = new vscode.TestRunRequest([item], undefined, this.profiles[how]);
    const { token } = new vscode.CancellationTokenSource();
    if (how === 'reproduce') await this.runs.reproduce(request, token);
    else if (how === 'debug') await this.debugger.debug('base', request, token);
    else await this.runs.runOn(how, request, token);
  }

  /**
   * Runs again after each save until the profile is switched off; a newer save cancels the earlier
   * run. After a complete run, only the tests that an edit can affect run again.
   */
  private reproduceOnSave(
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
  ): Promise<void> {
    let current: vscode.CancellationTokenSource | undefined;
    let timer: NodeJS.Timeout | undefined;
    const start = async (at: number): Promise<void> => {
      current?.cancel();
      current = new vscode.CancellationTokenSource();
      const mine = current.token;
      await this.tests.refresh();
      if (!mine.isCancellationRequested) {
        await this.runs.reproduce(request, mine, { afterSave: { at } });
      }
    };
    const subscription = vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      if (!uri.path.endsWith('.py')) return;
      if (vscode.workspace.getWorkspaceFolder(uri) !== this.open.folder) return;
      const at = performance.now();
      // Cancelled at once, not when the next run begins: its result is already outdated.
      current?.cancel();
      clearTimeout(timer);
      timer = setTimeout(() => void start(at), settling);
    });
    token.onCancellationRequested(() => {
      clearTimeout(timer);
      subscription.dispose();
      current?.cancel();
    });
    void start(performance.now());
    return Promise.resolve();
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

type RunProfile = (
  request: vscode.TestRunRequest,
  token: vscode.CancellationToken,
) => Promise<void>;

const hidden = (): string =>
  vscode.l10n.t(
    'Changed lines are hidden because they reveal the fix. Reveal it to see their coverage.',
  );
