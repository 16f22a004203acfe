import * as vscode from 'vscode';
import { fileOf, functionOf, sideName, type Side, type TestResult } from '../domain/outcome';
import { Cancelled } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import { transitionInWords, type TestTransition } from '../domain/transition';
import type { FirstResult } from '../evaluation/firstResult';
import { resultsOf } from '../evaluation/results';
import type { CandidateTests, ListedFile, ListedTest } from './candidateTests';
import { casesOf, outcomeInWords, symbol, tellingCase, transitionLabel } from './display';
import type { OpenInstance } from './openInstance';
import { problemText, showEngineProblem } from './problems';

/**
 * The candidate in VS Code's Testing view: its tests by file, those it adds or changes first, and the
 * profiles that run them on R, on R∘X*, or on both.
 */
export class CandidateTesting implements vscode.Disposable {
  private readonly controller: vscode.TestController;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly open: OpenInstance,
    private readonly tests: CandidateTests,
    private readonly reporter: Reporter,
  ) {
    this.controller = vscode.tests.createTestController('swt-bench', 'SWT-Bench');
    this.controller.refreshHandler = () => this.tests.refresh();
    const profile = (label: string, isDefault: boolean, run: RunProfile): void => {
      const made = this.controller.createRunProfile(
        label,
        vscode.TestRunProfileKind.Run,
        (request, token) => run(request, token),
        isDefault,
      );
      made.supportsContinuousRun = isDefault;
    };
    profile('Reproduce', true, (request, token) =>
      request.continuous === true
        ? this.reproduceOnSave(request, token)
        : this.reproduce(request, token),
    );
    profile('Run on R', false, (request, token) => this.runOn('base', request, token));
    profile('Run on R∘X*', false, (request, token) => this.runOn('fixed', request, token));
    this.subscriptions = [
      this.controller,
      tests.onDidChange(() => this.list()),
      open.onDidChange(() => this.describe()),
    ];
    this.list();
  }

  /** Runs everything that is listed on both sides, as the command does. */
  async reproduceAll(): Promise<void> {
    const source = new vscode.CancellationTokenSource();
    await this.tests.refresh();
    await this.reproduce(new vscode.TestRunRequest(), source.token);
  }

  /**
   * Tests of the candidate stand at the top, each by itself; the rest of a touched file is folded below
   * them under the file's name.
   */
  private list(): void {
    const files = this.tests.list();
    const own = files.flatMap((file) =>
      file.tests
        .filter((test) => test.status !== 'kept')
        .map((test) => this.testItem(this.controller.items, file, test)),
    );
    const rest = files.flatMap((file) => {
      const kept = file.tests.filter((test) => test.status === 'kept');
      if (kept.length === 0) return [];
      const item =
        this.controller.items.get(file.path) ??
        this.controller.createTestItem(file.path, file.path, file.uri);
      item.sortText = `1 ${file.path}`;
      item.description = 'unchanged tests';
      item.children.replace(kept.map((test) => this.testItem(item.children, file, test)));
      return [item];
    });
    this.controller.items.replace([...own, ...rest]);
    this.describe();
  }

  private testItem(
    siblings: vscode.TestItemCollection,
    file: ListedFile,
    test: ListedTest,
  ): vscode.TestItem {
    const item =
      siblings.get(test.id) ?? this.controller.createTestItem(test.id, test.name, file.uri);
    item.sortText = `0 ${file.path} ${String(test.defLine).padStart(6, '0')}`;
    item.range = new vscode.Range(test.defLine - 1, 0, test.range.endLine - 1, 0);
    return item;
  }

  /** Writes what is known of each test to its row. */
  private describe(): void {
    for (const test of this.tests.list().flatMap((file) => file.tests)) {
      const item = this.find(test.id);
      if (item === undefined) continue;
      const label = transitionLabel(this.open.casesOf(test.id).cases);
      // Before the name, where a narrow view still shows it.
      item.label = label === undefined ? test.name : `${label}  ${test.name}`;
      item.description = [
        test.status === 'kept' ? undefined : test.status === 'added' ? 'new' : 'changed',
        test.className?.replaceAll('::', ' › '),
        test.status === 'kept' ? undefined : fileOf(test.id),
      ]
        .filter((part) => part !== undefined)
        .join(' · ');
    }
  }

  /** Both sides, graded. Every listed test ends in a state, on every path. */
  private async reproduce(
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
    { onlyAffected = false } = {},
  ): Promise<void> {
    const run = this.controller.createTestRun(request, 'R and R∘X*');
    const items = this.requested(request);
    const outputs: Record<Side, string> = { base: '', fixed: '' };
    try {
      if (!this.mayRun(run)) return;
      items.forEach((item) => run.enqueued(item));
      await this.saveAll();
      items.forEach((item) => run.started(item));
      const { result } = await this.open.evaluate({
        signal: abortSignalOf(token, run.token),
        reporter: this.reporter,
        onOutput: (side, text) => {
          outputs[side] += text;
        },
        onFirst: (first) => this.reportFirst(run, items, first),
        onlyAffected,
      });
      this.report(
        run,
        items,
        result.tests,
        `${result.strict.reason}: ${result.strict.explanation}`,
      );
      const { strict } = result;
      append(run, `${strict.success ? '✓' : '✗'} ${strict.explanation}\n`);
      for (const note of result.notes) append(run, `  ${note}\n`);
    } catch (error) {
      this.failed(run, items, error);
    } finally {
      for (const side of ['base', 'fixed'] as const) {
        if (outputs[side] !== '') append(run, `\n── ${sideName[side]} ──\n${outputs[side]}`);
      }
      run.end();
    }
  }

  /**
   * Ticks off what reproduces before the whole files have run: a worse state may follow, a better one
   * would not be shown, so that nothing is called failed yet.
   */
  private reportFirst(
    run: vscode.TestRun,
    items: readonly vscode.TestItem[],
    first: FirstResult,
  ): void {
    for (const item of items) {
      const telling = tellingCase(casesOf(first, item.id));
      if (telling?.transition === 'F→P') run.passed(item);
    }
    const { strict, problem } = first;
    if (strict !== undefined) {
      append(run, `${strict.success ? '✓' : '✗'} own tests: ${strict.explanation}\n`);
    }
    if (problem !== undefined) append(run, `  ${problem}\n`);
  }

  private report(
    run: vscode.TestRun,
    items: readonly vscode.TestItem[],
    tests: readonly TestTransition[],
    otherwise: string,
  ): void {
    for (const item of items) {
      const cases = tests.filter((each) => functionOf(each.test) === item.id);
      const telling = tellingCase(cases);
      if (telling === undefined) {
        run.errored(item, new vscode.TestMessage(`Did not run. ${otherwise}`));
        continue;
      }
      const status = this.tests
        .list()
        .flatMap((file) => file.tests)
        .find((test) => test.id === item.id)?.status;
      // A test that R has too is well when it passes; one of the candidate only when it reproduces.
      const good =
        telling.transition === 'F→P' || (status === 'kept' && telling.transition === 'P→P');
      const milliseconds = cases.reduce(
        (sum, each) => sum + ((each.base.seconds ?? 0) + (each.fixed.seconds ?? 0)) * 1000,
        0,
      );
      if (good) run.passed(item, milliseconds);
      else if (telling.transition === '-→-') run.skipped(item);
      else run.failed(item, this.messages(item, telling), milliseconds);
    }
  }

  private messages(item: vscode.TestItem, each: TestTransition): vscode.TestMessage[] {
    const summary = `${symbol(each.transition)} ${each.transition}: ${transitionInWords(each.transition)}`;
    const failures = (['base', 'fixed'] as const).flatMap((side) =>
      this.failure(item, side, each[side], summary),
    );
    if (failures.length > 0) return failures;
    const message = new vscode.TestMessage(summary);
    if (item.uri !== undefined && item.range !== undefined) {
      // At the end of the test: at its definition the box would cover the transition that stands there.
      message.location = new vscode.Location(item.uri, item.range.end);
    }
    return [message];
  }

  private failure(
    item: vscode.TestItem,
    side: Side,
    result: TestResult,
    summary?: string,
  ): vscode.TestMessage[] {
    const text = result.details ?? result.message;
    if (text === undefined || (result.outcome !== 'failed' && result.outcome !== 'error'))
      return [];
    const head = [...(summary === undefined ? [] : [summary]), outcomeInWords(side, result)];
    const message = new vscode.TestMessage(`${head.join('\n')}\n\n${text}`);
    const frame = [...(result.frames ?? [])]
      .reverse()
      .find((each) => each.path === fileOf(item.id));
    if (item.uri !== undefined && item.range !== undefined) {
      const place = frame === undefined ? item.range.end : new vscode.Position(frame.line - 1, 0);
      message.location = new vscode.Location(item.uri, place);
    }
    return [message];
  }

  /** One side, plain outcomes, only the tests asked for. */
  private async runOn(
    side: Side,
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const run = this.controller.createTestRun(request, sideName[side]);
    const items = this.requested(request);
    try {
      if (!this.mayRun(run)) return;
      items.forEach((item) => run.enqueued(item));
      await this.saveAll();
      items.forEach((item) => run.started(item));
      const ids = items.map((item) => item.id);
      const { plan, records } = await this.open.runOn(
        side,
        [...new Set(ids.map(fileOf))],
        request.include === undefined ? undefined : ids,
        {
          signal: abortSignalOf(token, run.token),
          reporter: this.reporter,
          onOutput: (_side, text) => append(run, text),
        },
      );
      const record = records[side];
      const results = record === undefined ? [] : resultsOf(record, ids);
      for (const item of items) {
        const mine = results.filter((each) => functionOf(each.test) === item.id);
        const bad = mine.find((each) => each.outcome === 'failed' || each.outcome === 'error');
        const milliseconds = mine.reduce((sum, each) => sum + (each.seconds ?? 0) * 1000, 0);
        if (bad !== undefined) run.failed(item, this.failure(item, side, bad), milliseconds);
        else if (mine.some((each) => each.outcome === 'passed')) run.passed(item, milliseconds);
        else if (mine.length > 0) run.skipped(item);
        else {
          const why = plan.notRun.find((each) => each.path === fileOf(item.id))?.reason;
          run.errored(item, new vscode.TestMessage(why ?? `Did not run on ${sideName[side]}`));
        }
      }
    } catch (error) {
      this.failed(run, items, error);
    } finally {
      run.end();
    }
  }

  /**
   * Runs again after each save until the profile is switched off; a newer save cancels the run before.
   * After a run of everything, what an edit can have no effect on is not run again.
   */
  private reproduceOnSave(
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
  ): Promise<void> {
    let current: vscode.CancellationTokenSource | undefined;
    let timer: NodeJS.Timeout | undefined;
    const start = (): void => {
      current?.cancel();
      current = new vscode.CancellationTokenSource();
      const mine = current.token;
      void this.tests.refresh().then(() => this.reproduce(request, mine, { onlyAffected: true }));
    };
    const subscription = vscode.workspace.onDidSaveTextDocument((document) => {
      if (!document.uri.path.endsWith('.py')) return;
      clearTimeout(timer);
      timer = setTimeout(start, 150);
    });
    token.onCancellationRequested(() => {
      clearTimeout(timer);
      subscription.dispose();
      current?.cancel();
    });
    start();
    return Promise.resolve();
  }

  /** Leaves of what was asked for, without what was excluded. */
  private requested(request: vscode.TestRunRequest): vscode.TestItem[] {
    const found = new Map<string, vscode.TestItem>();
    const walk = (item: vscode.TestItem): void => {
      if (request.exclude?.includes(item) === true) return;
      if (item.children.size === 0) found.set(item.id, item);
      else item.children.forEach(walk);
    };
    if (request.include === undefined) this.controller.items.forEach(walk);
    else {
      // Items may have been replaced since the request was made: look them up by id.
      for (const item of request.include) walk(this.find(item.id) ?? item);
    }
    return [...found.values()];
  }

  private find(id: string): vscode.TestItem | undefined {
    return this.controller.items.get(id) ?? this.controller.items.get(fileOf(id))?.children.get(id);
  }

  private async saveAll(): Promise<void> {
    await vscode.workspace.saveAll(false);
    await this.tests.refresh();
  }

  private mayRun(run: vscode.TestRun): boolean {
    if (vscode.workspace.isTrusted) return true;
    append(run, 'This workspace is not trusted: its tests are not run. Trust it to run them.\n');
    return false;
  }

  private failed(run: vscode.TestRun, items: readonly vscode.TestItem[], error: unknown): void {
    if (error instanceof Cancelled) {
      append(run, 'Cancelled.\n');
      for (const item of items) run.skipped(item);
      return;
    }
    const text = problemText(error);
    append(run, `${text}\n`);
    for (const item of items) run.errored(item, new vscode.TestMessage(text));
    showEngineProblem(error, this.reporter, this.open.folder);
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

type RunProfile = (
  request: vscode.TestRunRequest,
  token: vscode.CancellationToken,
) => Promise<void>;

/** Terminals want carriage returns. */
function append(run: vscode.TestRun, text: string): void {
  run.appendOutput(text.replace(/\r?\n/g, '\r\n'));
}

/** A signal that aborts with the first of these tokens: of the request, and of the run in the view. */
function abortSignalOf(...tokens: readonly vscode.CancellationToken[]): AbortSignal {
  const controller = new AbortController();
  for (const token of tokens) {
    if (token.isCancellationRequested) controller.abort();
    else token.onCancellationRequested(() => controller.abort());
  }
  return controller.signal;
}
