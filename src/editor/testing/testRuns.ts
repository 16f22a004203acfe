import * as vscode from 'vscode';
import {
  sideName,
  sides,
  syntaxErrorOf,
  type Side,
  type TestResult,
  type Outcome,
  type TestTransition,
  transition,
} from '../../domain/outcome';
import { fileOf, functionOf } from '../../domain/testId';
import { Cancelled, type Reporter } from '../../domain/work';
import type { Verdict } from '../../domain/verdict';
import type { FirstResult } from '../../evaluation/firstResult';
import { findingsToShow, notesToShow } from '../../evaluation/candidateResult';
import { resultsOf } from '../../evaluation/results';
import type { SessionRun } from '../../evaluation/session';
import type { CandidateTests, ListedTest } from './candidateTests';
import { casesOf, tellingCase } from './transitionTexts';
import type {
  InstanceSource,
  LatestVerdict,
  Revealing,
  TestsOfInstance,
} from '../instance/instanceRoles';
import type { Evaluated } from '../verdict/evaluated';
import { problemText, showEngineProblem } from '../shell/problems';
import { saveEdits } from '../instance/saveEdits';
import { testItemState } from './testItemLook';
import type { TestItems } from './testItems';
import { testMessageOn, testMessagesOf } from './testMessages';
import type { RunUnderWay, TestsUnderWay } from './testsUnderWay';
import { goldenRedactionOf, type GoldenRedaction } from './goldenRedaction';
import { lettersSoFar } from './inlineLook';

/** Options of a run, apart from what it runs. */
interface RunHow {
  /**
   * Set for a run after a save: it runs the saved files, and only the tests that the save can
   * affect.
   */
  readonly afterSave?: { readonly at: number };
  /** Called with the verdict before the run ends. */
  readonly onVerdict?: (run: vscode.TestRun, evaluated: Evaluated) => void;
}

/** One run of the Testing view. */
export interface RunningTests {
  readonly run: vscode.TestRun;
  /** The requested tests. */
  readonly items: readonly vscode.TestItem[];
  readonly signal: AbortSignal;
  /** What the tests say where they are written. */
  readonly underWay: RunUnderWay;
}

/** How a run begins, and what it may change. */
interface RunKind {
  readonly name: string;
  /** Whether to save edits first; otherwise the files on disk run. */
  readonly saves: boolean;
  /** Whether the states of tests stay as the last verdict has them. */
  readonly leavesStates?: boolean;
}

/** What the messages of a run's tests depend on. */
interface Reporting {
  readonly strict: Verdict;
  readonly shown: GoldenRedaction;
  /** Files whose syntax error has its message. */
  readonly told: Set<string>;
}

/**
 * Runs tests for the Testing view. Each run ends on every path, and each requested test gets a
 * final state; a cancelled run leaves the states of before. Runs wait for one another, so their
 * outputs never mix.
 */
export class TestRuns {
  constructor(
    private readonly controller: vscode.TestController,
    private readonly open: InstanceSource & Revealing & LatestVerdict & TestsOfInstance,
    private readonly tests: CandidateTests,
    private readonly items: TestItems,
    private readonly underWay: TestsUnderWay,
    private readonly reporter: Reporter,
  ) {}

  /**
   * Runs both sides and grades the candidate. The grade is about all of its tests, so each of them
   * gets its state, whichever were requested.
   */
  reproduce(
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
    { afterSave, onVerdict }: RunHow = {},
  ): Promise<void> {
    const askedAt = afterSave?.at ?? performance.now();
    const name = vscode.l10n.t('R and R∘X*');
    const kind = { name, saves: afterSave === undefined };
    return this.during(request, token, kind, async (running) => {
      const { run, signal, underWay } = running;
      const outputs: Record<Side, string> = { base: '', fixed: '' };
      const items = this.items.requested({ include: undefined, exclude: request.exclude });
      const live = new LiveStates(run, items, (item) => this.items.testOf(item.id));
      try {
        const evaluated = await this.open.runs.evaluate({
          signal,
          reporter: this.reporter,
          askedAt,
          onTurn: () => {
            items.forEach((item) => run.started(item));
            underWay.starts(this.ownIds(items), name);
          },
          onOutput: (side, text) => {
            outputs[side] += text;
          },
          onOutcome: (side, test, outcome) => {
            live.saw(side, test, outcome);
            underWay.saw(side, test, outcome);
          },
          onFirst: (first) => this.reportFirst(run, items, first),
          onlyAffected: afterSave !== undefined,
        });
        underWay.end();
        await this.report(running, items, evaluated);
        this.appendVerdict(run, evaluated);
        onVerdict?.(run, evaluated);
      } finally {
        const shown = await goldenRedactionOf(this.open);
        for (const side of sides) {
          if (outputs[side] === '') continue;
          append(run, `\n── ${sideName[side]} ──\n${shown.text(side, outputs[side])}`);
        }
      }
    });
  }

  private appendVerdict(run: vscode.TestRun, { result, asBefore }: Evaluated): void {
    const { success, explanation } = result.strict;
    append(run, `${success ? '✓' : '✗'} ${explanation}\n`);
    if (asBefore === true) {
      append(run, `  ${vscode.l10n.t('Same as the previous run: nothing changed.')}\n`);
    }
    for (const { says, evidence } of findingsToShow(result)) {
      append(run, `  ${vscode.l10n.t('⚠ Finding: {0}', says)}\n`);
      for (const sentence of evidence) append(run, `    ${sentence}\n`);
    }
    for (const note of notesToShow(result, this.open.revealed)) append(run, `  ${note}\n`);
  }

  /** Runs only the requested tests on one side, without a grade. */
  runOn(
    side: Side,
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const kind = { name: sideName[side], saves: true };
    return this.during(request, token, kind, async ({ run, items, signal, underWay }) => {
      const ids = items.map((item) => item.id);
      const isShownAsItComes = side === 'base' || this.open.revealed;
      let output = '';
      const { plan, records } = await this.open.runs.runOn(
        side,
        [...new Set(ids.map(fileOf))],
        request.include === undefined ? undefined : ids,
        {
          signal,
          reporter: this.reporter,
          onTurn: () => {
            items.forEach((item) => run.started(item));
            underWay.starts(this.ownIds(items), sideName[side]);
          },
          onOutput: (_side, text) => {
            // Output is streamed unless it needs redaction, since a traceback is redacted as a
            // whole.
            if (isShownAsItComes) append(run, text);
            else output += text;
          },
        },
      );
      const shown = await goldenRedactionOf(this.open);
      append(run, shown.text(side, output));
      const record = records[side];
      const results = record === undefined ? [] : resultsOf(record, ids.map(functionOf));
      this.reportSide(
        run,
        items,
        side,
        results.map((each) => shown.result(side, each)),
        plan,
      );
    });
  }

  /** Ids of the candidate's own tests among these rows: only they have lenses. */
  ownIds(items: readonly vscode.TestItem[]): string[] {
    return items
      .filter(({ id }) => this.items.testOf(id)?.status !== 'kept')
      .map(({ id }) => functionOf(id));
  }

  /** Does the work of one run. */
  async during(
    request: vscode.TestRunRequest,
    token: vscode.CancellationToken,
    { name, saves, leavesStates = false }: RunKind,
    work: (running: RunningTests) => Promise<void>,
  ): Promise<void> {
    const run = this.controller.createTestRun(request, name);
    let items = this.items.requested(request);
    const underWay = this.underWay.begin(this.ownIds(items));
    let outdated: readonly vscode.TestItem[] = [];
    try {
      if (!leavesStates) items.forEach((item) => run.enqueued(item));
      if (saves) {
        await vscode.workspace.saveAll(false);
        // `saveAll` does not wait for an autosave in progress; `saveEdits` does.
        await saveEdits(this.open);
        await this.tests.refresh();
        // The tests of the last edit are known now, and rows may have been replaced.
        items = this.items.requested(request);
      }
      await work({ run, items, underWay, signal: abortSignalOf(token, run.token) });
    } catch (error) {
      this.failed(run, error);
      // What prevents a run is no result of a test: the states of before stay.
      if (!leavesStates) outdated = await this.reportLast(run);
    } finally {
      underWay.end();
      run.end();
      if (outdated.length > 0) this.controller.invalidateTestResults([...outdated]);
    }
  }

  /**
   * Gives all tests the states of the last verdict again, since VS Code calls a test skipped that
   * began and got none.
   *
   * @returns those whose states are about a text before the last edit
   */
  private async reportLast(run: vscode.TestRun): Promise<readonly vscode.TestItem[]> {
    const { last } = this.open;
    if (last === undefined) return [];
    try {
      const shown = await goldenRedactionOf(this.open);
      const items = this.items.requested({ include: undefined, exclude: undefined });
      const told = new Set<string>();
      for (const item of items) this.reportTest(run, item, last, { shown, told });
      return (await this.open.isCurrent()) ? [] : items;
    } catch (error) {
      this.reporter.log(problemText(error));
      return [];
    }
  }

  /**
   * Marks good tests as passed before the whole files have run. VS Code shows a later worse state
   * but no better one, so nothing is marked as failed yet.
   */
  private reportFirst(
    run: vscode.TestRun,
    items: readonly vscode.TestItem[],
    first: FirstResult,
  ): void {
    for (const item of items) {
      const telling = tellingCase(casesOf(first, item.id));
      const state = telling === undefined ? undefined : this.stateOf(item, telling, first.strict);
      if (state === 'passed') run.passed(item);
    }
    const { strict, problem } = first;
    if (strict !== undefined) {
      const text = vscode.l10n.t('own tests: {0}', strict.explanation);
      append(run, `${strict.success ? '✓' : '✗'} ${text}\n`);
    }
    if (problem !== undefined) append(run, `  ${problem}\n`);
  }

  private stateOf(item: vscode.TestItem, each: TestTransition, strict: Verdict | undefined) {
    return testItemState(this.items.testOf(item.id)?.status, each, strict);
  }

  private async report(
    { run, items: requested }: RunningTests,
    items: readonly vscode.TestItem[],
    evaluated: Evaluated,
  ): Promise<void> {
    const { result } = evaluated;
    const { strict } = result;
    const shown = await goldenRedactionOf(this.open);
    const expected = new Set([...requested.map(({ id }) => id), ...this.ownIds(items)]);
    const isMissing = items.some(({ id }) => casesOf(result, functionOf(id)).length === 0);
    const isOld = isMissing && !(await this.open.isCurrent());
    // Where others ran, the run did not come to this one, which is no failure.
    const isLeft = !isOld && result.tests.length > 0;
    const why = isOld
      ? vscode.l10n.t('Did not run: edited since')
      : vscode.l10n.t('Did not run: {0}', strict.explanation);
    const told = new Set<string>();
    let isTold = false;
    for (const item of items) {
      const isKnown = this.reportTest(run, item, evaluated, { shown, told });
      if (isKnown || !expected.has(item.id)) continue;
      // What prevents the whole run is said once, not at every test.
      if (isLeft || isTold) run.skipped(item);
      else run.errored(item, messageBelow(item, why));
      isTold ||= !isOld;
    }
  }

  /** Reports a test and its cases. @returns whether the result has the test */
  private reportTest(
    run: vscode.TestRun,
    item: vscode.TestItem,
    { result }: Evaluated,
    how: Pick<Reporting, 'shown' | 'told'>,
  ): boolean {
    const reporting = { ...how, strict: result.strict };
    const cases = casesOf(result, functionOf(item.id));
    const isCase = functionOf(item.id) !== item.id;
    const mine = isCase ? cases.filter((each) => each.test === item.id) : cases;
    this.reportCases(run, item, mine, reporting);
    // These rows were made from this result.
    item.children.forEach((row) =>
      this.reportCases(
        run,
        row,
        cases.filter((each) => each.test === row.id),
        reporting,
      ),
    );
    return cases.length > 0;
  }

  private reportCases(
    run: vscode.TestRun,
    item: vscode.TestItem,
    cases: readonly TestTransition[],
    { strict, shown, told }: Reporting,
  ): void {
    const telling = tellingCase(cases);
    if (telling === undefined) return;
    const state = this.stateOf(item, telling, strict);
    const milliseconds = cases.reduce(
      (sum, each) => sum + ((each.base.seconds ?? 0) + (each.fixed.seconds ?? 0)) * 1000,
      0,
    );
    if (state === 'passed') run.passed(item, milliseconds);
    else if (state === 'skipped') run.skipped(item);
    else {
      const place = placeOf(item);
      const isTold = isToldAlready([telling.base, telling.fixed], told);
      run.failed(
        item,
        place === undefined || isTold ? [] : testMessagesOf(place, shown.both(telling)),
        milliseconds,
      );
    }
  }

  /** Reports the outcomes of tests on one side. */
  reportSide(
    run: vscode.TestRun,
    items: readonly vscode.TestItem[],
    side: Side,
    results: readonly TestResult[],
    { notRun }: Pick<SessionRun['plan'], 'notRun'>,
  ): void {
    const of = (id: string): readonly TestResult[] =>
      results.filter(({ test }) => test === id || functionOf(test) === id);
    const told = new Set<string>();
    for (const item of items.flatMap((item) => [item, ...rowsBelow(item)])) {
      const mine = of(item.id);
      const bad = mine.find((each) => each.outcome === 'failed' || each.outcome === 'error');
      const milliseconds = mine.reduce((sum, each) => sum + (each.seconds ?? 0) * 1000, 0);
      const place = placeOf(item);
      if (bad !== undefined) {
        const isTold = isToldAlready([bad], told);
        const messages = place === undefined || isTold ? [] : testMessageOn(place, side, bad);
        run.failed(item, messages, milliseconds);
      } else if (mine.some((each) => each.outcome === 'passed')) run.passed(item, milliseconds);
      else if (mine.length > 0 || (results.length > 0 && notRun.length === 0)) run.skipped(item);
      else {
        const why = notRun.find((each) => each.path === fileOf(item.id))?.reason;
        const text = why ?? vscode.l10n.t('Did not run on {0}', sideName[side]);
        run.errored(item, messageBelow(item, text));
      }
    }
  }

  private failed(run: vscode.TestRun, error: unknown): void {
    if (error instanceof Cancelled) {
      append(run, `${vscode.l10n.t('Canceled.')}\n`);
      return;
    }
    const text = problemText(error);
    append(run, `${text}\n`);
    showEngineProblem(error, this.reporter, this.open.folder);
  }
}

/**
 * Whether the syntax error that prevented a test has its message, which it has once for its file.
 *
 * @param told the files whose error has it; gains this one
 */
function isToldAlready(results: readonly TestResult[], told: Set<string>): boolean {
  const [fault] = results.flatMap((result) => syntaxErrorOf(result) ?? []);
  if (fault === undefined) return false;
  const isTold = told.has(fault.path);
  told.add(fault.path);
  return isTold;
}

/** At the end of a test, since at its definition the box would cover the text about it. */
function messageBelow({ uri, range }: vscode.TestItem, text: string): vscode.TestMessage {
  const message = new vscode.TestMessage(text);
  if (uri !== undefined && range !== undefined)
    message.location = new vscode.Location(uri, range.end);
  return message;
}

function placeOf({ id, uri, range }: vscode.TestItem) {
  return uri === undefined || range === undefined ? undefined : { id, uri, range };
}

function rowsBelow(item: vscode.TestItem): vscode.TestItem[] {
  const rows: vscode.TestItem[] = [];
  item.children.forEach((row) => rows.push(row));
  return rows;
}

/** Appends output to the terminal of a run, which needs carriage returns. */
export function append(run: vscode.TestRun, output: string): void {
  run.appendOutput(output.replace(/\r?\n/g, '\r\n'));
}

/**
 * A signal that aborts with the first of these tokens: of the request, or of the run in the view.
 */
function abortSignalOf(...tokens: readonly vscode.CancellationToken[]): AbortSignal {
  const controller = new AbortController();
  for (const token of tokens) {
    if (token.isCancellationRequested) controller.abort();
    else token.onCancellationRequested(() => controller.abort());
  }
  return controller.signal;
}

/**
 * States of tests while they run on both sides. A parametrised test has no state before all its
 * cases are known. The final result of the run replaces these states.
 */
class LiveStates {
  private readonly seen: Record<Side, Map<string, Outcome>> = { base: new Map(), fixed: new Map() };
  private readonly rows: ReadonlyMap<string, vscode.TestItem>;

  constructor(
    private readonly run: vscode.TestRun,
    items: readonly vscode.TestItem[],
    private readonly listed: (item: vscode.TestItem) => ListedTest | undefined,
  ) {
    this.rows = new Map(items.map((item) => [item.id, item]));
  }

  saw(side: Side, test: string, outcome: Outcome): void {
    const item = this.rows.get(test);
    const known = item === undefined ? undefined : this.listed(item);
    if (item === undefined || known === undefined) return;
    // A second run of the test, as when a whole file follows its own tests. The other side's
    // outcome belongs to the first run.
    if (this.seen[side].has(test)) this.seen[side === 'base' ? 'fixed' : 'base'].delete(test);
    this.seen[side].set(test, outcome);
    const base = this.seen.base.get(test);
    const fixed = this.seen.fixed.get(test);
    const seen = {
      ...(base !== undefined && { base }),
      ...(fixed !== undefined && { fixed }),
    };
    item.label = `${lettersSoFar({ seen }) ?? ''}  ${known.name}`;
    if (base === undefined || fixed === undefined) return;
    const state = testItemState(known.status, { test, transition: transition(base, fixed) });
    // Reports no failure yet, since VS Code would not replace it by a better state.
    if (state === 'passed') this.run.passed(item);
  }
}
