import * as vscode from 'vscode';
import { throwIfAborted } from '../../domain/problem';
import type { Reporter } from '../../domain/reporter';
import type { Engine } from '../../engine/engine';
import type { InstanceSession } from '../../evaluation/session';
import type { InstanceSessions } from './instanceSessions';

/** Where an engine's progress goes. */
interface Work {
  readonly signal: AbortSignal;
}

/**
 * The session of the open instance with its sandboxes, and what is done before anything can run in
 * them, such as building an image.
 */
export class ReadySession {
  private preparingStep: string | undefined;
  private inWords: string | undefined;
  /** The session whose pair was open last. */
  private warm: InstanceSession | undefined;

  /** @param redraw called when `step` has changed */
  constructor(
    private readonly sessions: InstanceSessions,
    private readonly reporter: Reporter,
    private readonly redraw: () => void,
  ) {}

  /** What is done before anything can run; undefined when nothing is. */
  get step(): string | undefined {
    return this.preparingStep;
  }

  /** The engine and what the tests run with; undefined before it was needed. */
  get environment(): string | undefined {
    return this.inWords;
  }

  /** An engine was opened; what the tests run with there is not yet known. */
  opened(engine: Engine): void {
    this.inWords = engine.description;
  }

  /** The session, not yet with its sandboxes. */
  session(): Promise<InstanceSession> {
    return this.sessions.get();
  }

  /**
   * The session with its pair open.
   *
   * @throws HumanError, Cancelled
   */
  async get({ signal }: Work): Promise<InstanceSession> {
    const reporter: Reporter = {
      log: (line) => this.reporter.log(line),
      progress: (step) => {
        this.reporter.progress(step);
        this.show(step);
      },
    };
    const work = { signal, reporter };
    try {
      const isWarm = this.warm !== undefined && this.warm === this.sessions.current;
      if (!isWarm) this.show(vscode.l10n.t('opening the sandboxes of R and R∘X*'));
      const session = await this.sessions.get();
      throwIfAborted(signal);
      await session.warmUp(work);
      this.warm = session;
      const { engine } = session;
      const environment = await session.environment(work);
      this.inWords =
        engine.environment === undefined
          ? `${engine.description}, ${environment.description}`
          : engine.description;
      return session;
    } finally {
      this.show(undefined);
    }
  }

  private show(step: string | undefined): void {
    if (this.preparingStep === step) return;
    this.preparingStep = step;
    this.redraw();
  }

  /** Resolves when nothing of the engine is left. */
  dispose(): Promise<void> {
    return this.sessions.dispose();
  }
}
