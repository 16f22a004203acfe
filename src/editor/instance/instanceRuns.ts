import type { Uri } from 'vscode';
import type { Side, Outcome } from '../../domain/outcome';
import type { MutantResults } from '../../mutation/mutantSchema';
import { Cancelled, throwIfAborted, type Reporter } from '../../domain/work';
import { workersFor } from '../../batch/workersFor';
import type { DebuggedProgram } from '../../engine/engine';
import { type CompleteRun, evaluateCandidate, evaluateSince } from '../../evaluation/candidate';
import type { CandidateResult } from '../../evaluation/candidateResult';
import type { FirstResult } from '../../evaluation/firstResult';
import type { DebuggedRun, InstanceSession, SessionRun } from '../../evaluation/session';
import { runStore } from '../../evaluation/testRun';
import { mutantsOf } from '../../mutation/mutantsOf';
import { testMutants } from '../../mutation/testMutants';
import type { RepairHooks } from '../../repair/repairPool';
import { testOnRepairs, type StandingsOnRepair } from '../../repair/testOnRepairs';
import { testsOnR, testsOnRepair } from '../../repair/testRepair';
import { storageFolder, timeoutSeconds } from '../shell/settings';
import { textsOfTests } from '../testing/textsOfTests';
import { isAsBefore, type Evaluated } from '../verdict/evaluated';
import type { KnownResults } from '../verdict/knownResults';
import { patchDigest } from './edits';
import { RunQueue } from './runQueue';
import type { WarmSession } from './warmSession';

/** What runs need of the open instance. */
interface InstanceRunsParts {
  /** The workspace folder, whose settings apply. */
  readonly scope: Uri;
  readonly session: WarmSession;
  /** Stores the verdicts. */
  readonly known: KnownResults;
  /** The author's changes in the workspace, as a patch on R. */
  candidatePatch(signal: AbortSignal): Promise<string>;
  /** Called when a run begins to wait, has a first result, or ends. */
  changed(): void;
  /** Called when something prevented a run. */
  failed(): void;
}

/** What the tests of the workspace do on R, and on R with a code patch. */
interface RanOnFix extends StandingsOnRepair {
  /** Of the author's changes that ran. */
  readonly digest: string;
}

/** Listeners of runs on several code patches. */
interface OnFixesHooks extends Pick<RepairHooks, 'onProgress'> {
  /** Called with each result, as it is there. */
  readonly onTested: (code: string, ran: RanOnFix) => void;
}

/** A complete run, which runs of few tests bring up to date. */
interface LastComplete {
  /** The session that ran it: another session has another environment. */
  readonly session: InstanceSession;
  readonly run: CompleteRun;
  /** Time when all of its tests had run. */
  readonly endedAt: Date;
}

/** Maximum number of mutants of a check in the editor; of more, a sample. */
const mostMutants = 100;
/** Mutants that run at once: one in the sandbox of R∘X*, one in a further sandbox. */
const mutantWorkers = 2;

type RunWork = RunRequestOptions & { readonly timeoutSeconds: number };

/**
 * Runs the open instance's tests, one run at a time, so that no run meets the files, output or
 * verdict of another.
 */
export class InstanceRuns {
  private readonly queue = new RunQueue();
  /** The signal of each request that has not ended. */
  private readonly requests = new Set<AbortSignal>();
  /** Aborts the runs under way when the window closes. */
  private readonly closing = new AbortController();
  /** Aborts the runs that were requested so far. */
  private stopping = new AbortController();
  private complete: LastComplete | undefined;

  constructor(private readonly parts: InstanceRunsParts) {}

  /** Whether something runs, or waits for its turn. */
  get isRunning(): boolean {
    return this.queue.length > 0;
  }

  /** Whether all that runs is cancelled and is being stopped. */
  get isCancelling(): boolean {
    return this.requests.size > 0 && [...this.requests].every(({ aborted }) => aborted);
  }

  /**
   * Opens the pair of sandboxes in advance, so that a run need not wait for it.
   *
   * @throws HumanError, Cancelled
   */
  async warmUp(signal: AbortSignal): Promise<void> {
    await this.parts.session.withPair({ signal: AbortSignal.any([signal, this.closing.signal]) });
  }

  /**
   * Opens the engine again once earlier runs have ended.
   *
   * @returns the engine and its environment, for the user
   * @throws HumanError, Cancelled
   */
  reopenEngine(options: RunRequestOptions): Promise<string> {
    return this.inTurn(options, (work) => this.parts.session.reopen(work));
  }

  /**
   * Grades the workspace as it is saved when the run's turn comes.
   *
   * @throws HumanError, Cancelled; the last verdict then stays
   */
  evaluate(options: RunRequestOptions): Promise<Evaluated> {
    const askedAt = options.askedAt ?? performance.now();
    return this.inTurn(options, async (work) => {
      const patch = await this.parts.candidatePatch(work.signal);
      const session = await this.parts.session.withPair(work);
      const { known } = this.parts;
      await known.readIssue();
      const first = this.showFirst(session, work);
      try {
        const { result, isWhole, endedAt } = await this.evaluateIn(
          session,
          patch,
          work,
          first.show,
        );
        const texts = await textsOfTests(session, result.patch);
        throwIfAborted(work.signal);
        const digest = patchDigest(patch);
        const evaluated: Evaluated = {
          result,
          digest,
          asBefore: isAsBefore(known.last, { digest, result }),
          texts,
          evaluatedAt: new Date(),
          milliseconds: performance.now() - askedAt,
          reusedFrom: isWhole ? undefined : endedAt,
          environment: this.parts.session.environmentDigest,
        };
        await known.keep(evaluated);
        return evaluated;
      } finally {
        first.end();
        known.soFar = undefined;
      }
    });
  }

  /** Grades a patch, reusing outcomes of the last complete run where that suffices. */
  private async evaluateIn(
    session: InstanceSession,
    patch: string,
    work: RunWork,
    showFirst: (first: FirstResult) => void,
  ): Promise<{ result: CandidateResult; isWhole: boolean; endedAt: Date }> {
    const last = this.complete?.session === session ? this.complete : undefined;
    const { result, complete } = await evaluateSince(
      session,
      { model: 'workspace', text: patch, format: 'unified', mode: 'unit-test' },
      {
        ...work,
        reuse: false,
        since: work.onlyAffected === true ? last?.run : undefined,
        onFirst: (first) => {
          work.onFirst?.(first);
          showFirst(first);
        },
      },
    );
    const isWhole = result.affected === undefined;
    const now = new Date();
    const endedAt = isWhole ? now : (last?.endedAt ?? now);
    throwIfAborted(work.signal);
    this.complete = complete && { session, run: complete, endedAt };
    return { result, isWhole, endedAt };
  }

  /** Shows the outcomes of the candidate's own tests until the whole files have run. */
  private showFirst(
    session: InstanceSession,
    { signal }: RunWork,
  ): { show: (first: FirstResult) => void; end: () => void } {
    let isOver = false;
    return {
      show: (first) =>
        void textsOfTests(session, first.patch)
          .catch(() => noTexts)
          .then((texts) => {
            if (isOver || signal.aborted) return;
            this.parts.known.soFar = { first, texts };
            this.parts.changed();
          }),
      end: () => {
        isOver = true;
      },
    };
  }

  /**
   * Grades a candidate that need not be in the workspace, in the warm sandboxes. The last verdict
   * stays, since it is about the workspace.
   *
   * @param patch unified diff on R
   * @throws HumanError, Cancelled
   */
  grade(patch: string, options: RunRequestOptions): Promise<CandidateResult> {
    return this.inTurn(options, async (work) =>
      evaluateCandidate(
        await this.parts.session.withPair(work),
        { model: 'candidate', text: patch, format: 'unified', mode: 'unit-test' },
        { ...work, reuse: true },
      ),
    );
  }

  /**
   * Runs the tests of the workspace on R, and on R with a code patch in place of X*. Nothing of X*
   * or T* takes part. The last verdict stays.
   *
   * @param code unified diff on R without edits of tests
   * @throws HumanError, Cancelled
   */
  onFix(code: string, options: RunRequestOptions): Promise<RanOnFix> {
    return this.inTurn(options, async (work) => {
      const patch = await this.parts.candidatePatch(work.signal);
      const digest = patchDigest(patch);
      const session = await this.parts.session.withPair(work);
      const candidate = { instanceId: session.instance.id, model: 'workspace', patch };
      const tests = await testsOnR(session, candidate, { ...work, format: 'unified' });
      const found = 'failure' in tests ? tests : await testsOnRepair(session, code, tests, work);
      return { digest, ...found };
    });
  }

  /**
   * As `onFix` with each of some code patches, several at once. They have sandboxes of their own, so
   * that the author's runs continue meanwhile.
   *
   * @param codes unified diffs on R without edits of tests, each once
   * @throws HumanError, Cancelled
   */
  async onFixes(
    codes: readonly string[],
    { signal: asked, reporter }: Pick<RunRequestOptions, 'signal' | 'reporter'>,
    { onTested, onProgress }: OnFixesHooks,
  ): Promise<void> {
    const { scope } = this.parts;
    const signal = AbortSignal.any([asked, this.closing.signal]);
    const candidate = await this.parts.candidatePatch(signal);
    const digest = patchDigest(candidate);
    const { instance, trees, engine, python } = await this.parts.session.session();
    await testOnRepairs(
      {
        instance,
        trees,
        engine,
        python,
        candidate,
        repairs: codes,
        reporter,
        store: runStore(storageFolder()),
        workers: workersFor(engine),
        timeoutSeconds: timeoutSeconds(scope),
      },
      (code, found) => onTested(code, { digest, ...found }),
      { ...(onProgress !== undefined && { onProgress }) },
      signal,
    );
  }

  /**
   * Runs the candidate of a verdict on mutants of X*, and adds the results to that verdict if it is
   * still the last one. Runs are kept.
   *
   * @returns the results, or why no mutants can be made
   * @throws HumanError, Cancelled
   */
  onMutants(
    evaluated: Pick<Evaluated, 'result' | 'digest'>,
    options: RunRequestOptions,
  ): Promise<MutantResults | { readonly failure: string }> {
    return this.inTurn(options, async (work) => {
      const session = await this.parts.session.withPair(work);
      const made = await mutantsOf(session, mostMutants, { ...work, reuse: true });
      if ('failure' in made) return made;
      const results = await testMutants(session, evaluated.result, made, {
        ...work,
        reuse: true,
        workers: mutantWorkers,
        store: runStore(storageFolder()),
      });
      this.parts.known.keepMutants(evaluated, results);
      return results;
    });
  }

  /**
   * Runs chosen tests of the workspace on one side.
   *
   * @param select ids of tests, with parameters for one case; undefined for whole files
   * @throws HumanError, Cancelled
   */
  runOn(
    side: Side,
    files: readonly string[],
    select: readonly string[] | undefined,
    options: RunRequestOptions,
  ): Promise<SessionRun> {
    return this.inTurn(options, async (work) => {
      const patch = await this.parts.candidatePatch(work.signal);
      const session = await this.parts.session.withPair(work);
      return session.run(
        { patch, files, ...(select === undefined ? {} : { select }) },
        { ...work, reuse: false, sides: [side] },
      );
    });
  }

  /**
   * Passes chosen tests of the workspace to a debugger, on one side. Other runs continue, since the
   * debugger has its own sandboxes.
   *
   * @param start starts the debugger and resolves when its session ends
   * @throws HumanError, Cancelled
   */
  async debugOn(
    side: Side,
    files: readonly string[],
    select: readonly string[],
    { signal, reporter }: Pick<RunRequestOptions, 'signal' | 'reporter'>,
    start: (program: DebuggedProgram) => Promise<void>,
  ): Promise<DebuggedRun> {
    const work = { signal: AbortSignal.any([signal, this.closing.signal]), reporter };
    const patch = await this.parts.candidatePatch(work.signal);
    const session = await this.parts.session.session();
    return session.debug({ patch, files, select }, side, work, start);
  }

  /** Does work after all earlier requests have ended. */
  private async inTurn<T>(
    options: RunRequestOptions,
    work: (options: RunWork) => Promise<T>,
  ): Promise<T> {
    const signal = AbortSignal.any([options.signal, this.closing.signal, this.stopping.signal]);
    const turn = this.queue.inTurn(signal, () => {
      options.onTurn?.();
      return work({ ...options, signal, timeoutSeconds: timeoutSeconds(this.parts.scope) });
    });
    this.requests.add(signal);
    const onAbort = (): void => this.parts.changed();
    signal.addEventListener('abort', onAbort, { once: true });
    this.parts.changed();
    try {
      return await turn;
    } catch (error) {
      if (!(error instanceof Cancelled)) this.parts.failed();
      throw error;
    } finally {
      this.requests.delete(signal);
      signal.removeEventListener('abort', onAbort);
      this.parts.changed();
    }
  }

  /** Cancels the run under way and all waiting ones; later ones run. */
  cancelRuns(): void {
    this.stopping.abort();
    this.stopping = new AbortController();
  }

  /** Cancels all runs for good, as the window closes. */
  cancel(): void {
    this.closing.abort();
  }
}

const noTexts: Evaluated['texts'] = new Map();

/** Options of a run, and its listeners. */
interface RunRequestOptions {
  readonly signal: AbortSignal;
  readonly reporter: Reporter;
  readonly onOutput?: (side: Side, text: string) => void;
  /** Called with each outcome as it arrives, if the engine reports them. */
  readonly onOutcome?: (side: Side, test: string, outcome: Outcome) => void;
  readonly onFirst?: (first: FirstResult) => void;
  /** Run only the tests that an edit since the last complete run can affect. */
  readonly onlyAffected?: boolean;
  /** Called when all earlier requests have ended. */
  readonly onTurn?: () => void;
  /** `performance.now()` of the save or request that caused the run; by default now. */
  readonly askedAt?: number;
}
