import { join } from 'node:path';
import * as vscode from 'vscode';
import { messageOf, throwIfAborted, type Reporter } from '../../domain/work';
import type { Engine } from '../../engine/engine';
import { local } from '../../engine/local';
import { engines } from '../../engine/engines';
import { openEngine } from '../../engine/sandbox';
import { environments } from '../../environments/environments';
import type { InstanceSession } from '../../evaluation/session';
import { stepBeside } from '../shell/plainText';
import { engineSettings, startsWarm, storageFolder, type EngineSettings } from '../shell/settings';
import { withShellPython } from '../shell/shellPython';

/** What a window's session is made from. */
interface WarmSessionParts {
  /** Id of the instance. */
  readonly instance: string;
  /** The workspace folder, whose settings apply. */
  readonly scope: vscode.Uri;
  /** Folder with the tracer and the agent. */
  readonly dist: string;
  readonly reporter: Reporter;
  /** Opens a session on an engine. */
  open(engine: Engine): Promise<InstanceSession>;
  /** Called when `step` changes. */
  redraw(): void;
  /** Called with the digest of the environment in which the next run takes place. */
  runsIn(environment: string): void;
}

/**
 * The engine and the session of the open instance. Both open at the first run, and again after a
 * setting of the engine has changed.
 */
export class WarmSession {
  private opening:
    | {
        readonly settings: string;
        readonly opened: Promise<Opened>;
        readonly abort: AbortController;
      }
    | undefined;
  private closing: Promise<unknown> = Promise.resolve();
  private current: InstanceSession | undefined;
  /** The session whose pair of sandboxes opened last. */
  private warm: InstanceSession | undefined;
  private preparingStep: string | undefined;
  private environmentText: string | undefined;
  private digest: string | undefined;
  private disposed = false;

  constructor(private readonly parts: WarmSessionParts) {}

  /**
   * The preparation before anything can run, such as building an image; undefined when there is
   * none.
   */
  get step(): string | undefined {
    return this.preparingStep;
  }

  /**
   * The engine and the environment of the tests; undefined before its first use, and once the
   * settings ask for another.
   */
  get environment(): string | undefined {
    return this.opening?.settings === this.asked() ? this.environmentText : undefined;
  }

  /** What the settings ask for, as a text; undefined where they are invalid. */
  private asked(): string | undefined {
    try {
      return this.keyOf(engineSettings(this.parts.scope));
    } catch {
      return undefined;
    }
  }

  private keyOf(settings: EngineSettings): string {
    return JSON.stringify([settings, storageFolder(), startsWarm(this.parts.scope)]);
  }

  /** Digest of the environment of the run under way; undefined before the first. */
  get environmentDigest(): string | undefined {
    return this.digest;
  }

  /**
   * The session; its sandboxes may not be open yet.
   *
   * @throws HumanError when a setting is invalid or the engine is unavailable
   */
  async session(): Promise<InstanceSession> {
    if (this.disposed) throw new Error('the window closes');
    const settings = engineSettings(this.parts.scope);
    const key = this.keyOf(settings);
    let { opening } = this;
    if (opening?.settings !== key) {
      this.close();
      const abort = new AbortController();
      const opened = this.openWith(settings, abort.signal);
      this.opening = opening = { settings: key, opened, abort };
      opened.catch(() => {
        // A failure is not kept: the user may start the engine before the next run.
        if (this.opening?.opened === opened) this.opening = undefined;
      });
    }
    return (await opening.opened).session;
  }

  /**
   * The session with its pair of sandboxes open.
   *
   * @throws HumanError, Cancelled
   */
  async withPair({ signal }: { readonly signal: AbortSignal }): Promise<InstanceSession> {
    const reporter: Reporter = {
      log: (line) => this.parts.reporter.log(line),
      progress: (step) => {
        this.parts.reporter.progress(step);
        // The window is about this instance alone.
        this.show(stepBeside(this.parts.instance, step));
      },
    };
    const work = { signal, reporter };
    try {
      const isWarm = this.warm !== undefined && this.warm === this.current;
      if (!isWarm) this.show(vscode.l10n.t('starting the sandboxes of R and R∘X*'));
      const session = await this.session();
      throwIfAborted(signal);
      await session.warmUp(work);
      this.warm = session;
      const { engine } = session;
      const environment = await session.environment(work);
      this.digest = environment.digest;
      this.parts.runsIn(environment.digest);
      const described =
        engine.environment?.digest === environment.digest
          ? engine.description
          : `${engine.name === local.name ? vscode.l10n.t('local engine, environment of the instance') : engine.description}, ${environment.description}`;
      // A machine has several, which only their paths tell apart.
      const of = engine.name === local.name ? [environment.interpreter] : [];
      this.environmentText = [described, ...of].join(', ');
      return session;
    } finally {
      this.show(undefined);
    }
  }

  /**
   * Closes the engine and opens it again, so that everything about it is looked at again.
   *
   * @returns the engine and its environment, for the user
   * @throws HumanError, Cancelled
   */
  async reopen(work: { readonly signal: AbortSignal }): Promise<string> {
    this.close();
    const session = await this.withPair(work);
    return this.environmentText ?? session.engine.description;
  }

  private async openWith(settings: EngineSettings, signal: AbortSignal): Promise<Opened> {
    // The old engine closes first, since two engines would take twice the memory.
    await this.closing;
    const engine = await openEngine({
      ...(await withShellPython(settings)),
      engines,
      environments,
      storage: storageFolder(),
      assets: this.parts.dist,
      isAwaited: startsWarm(this.parts.scope),
      signal,
    });
    try {
      // The environment of the tests is not known before their sandboxes open.
      this.environmentText = engine.description;
      const session = await this.parts.open(engine);
      this.current = session;
      return { engine, session };
    } catch (error) {
      await engine.dispose();
      throw error;
    }
  }

  private show(step: string | undefined): void {
    if (this.preparingStep === step) return;
    this.preparingStep = step;
    this.parts.redraw();
  }

  /** Ends the session, if any; the next run opens another. */
  private close(): void {
    const old = this.opening;
    this.opening = undefined;
    this.current = undefined;
    if (old === undefined) return;
    old.abort.abort();
    this.closing = Promise.all([this.closing, old.opened.then(dispose, () => undefined)]).catch(
      (error: unknown) => this.parts.reporter.log(`closing the engine: ${messageOf(error)}`),
    );
  }

  /** Resolves when nothing of the engine is left. */
  async dispose(): Promise<void> {
    this.disposed = true;
    this.close();
    await this.closing;
  }
}

interface Opened {
  readonly engine: Engine;
  readonly session: InstanceSession;
}

async function dispose({ engine, session }: Opened): Promise<void> {
  try {
    await session.dispose();
  } finally {
    await engine.dispose();
  }
}

/** The folder with the tracer and the agent, in the folder of the extension. */
export const distOf = (extension: string): string => join(extension, 'dist');
