import { join } from 'node:path';
import type * as vscode from 'vscode';
import { messageOf } from '../../domain/problem';
import type { Reporter } from '../../domain/reporter';
import type { Engine } from '../../engine/engine';
import { openEngine } from '../../engine/openEngine';
import type { InstanceSession } from '../../evaluation/session';
import { engineSettings, storageFolder, type EngineSettings } from '../shell/settings';

/**
 * The engine and the session of the open instance: opened when something is to be run, and opened
 * again when a setting of the engine has changed since.
 */
export class InstanceSessions {
  private opening:
    | {
        readonly settings: string;
        readonly opened: Promise<Opened>;
        readonly abort: AbortController;
      }
    | undefined;
  private closing: Promise<unknown> = Promise.resolve();
  private opened: InstanceSession | undefined;
  private disposed = false;

  /**
   * @param dist folder with the tracer and the agent
   * @param open opens a session on an engine
   */
  constructor(
    private readonly scope: vscode.Uri,
    private readonly dist: string,
    private readonly reporter: Reporter,
    private readonly open: (engine: Engine, settings: EngineSettings) => Promise<InstanceSession>,
  ) {}

  /** The session that is open now. */
  get current(): InstanceSession | undefined {
    return this.opened;
  }

  /** @throws HumanError when a setting cannot be used or the engine cannot be had */
  async get(): Promise<InstanceSession> {
    if (this.disposed) throw new Error('the window closes');
    const settings = engineSettings(this.scope);
    const key = JSON.stringify([settings, storageFolder()]);
    let { opening } = this;
    if (opening?.settings !== key) {
      this.close();
      const abort = new AbortController();
      const opened = this.openWith(settings, abort.signal);
      this.opening = opening = { settings: key, opened, abort };
      opened.catch(() => {
        // The next run tries again: the engine may have been started.
        if (this.opening?.opened === opened) this.opening = undefined;
      });
    }
    return (await opening.opened).session;
  }

  private async openWith(settings: EngineSettings, signal: AbortSignal): Promise<Opened> {
    // Two engines of one window would hold twice the memory.
    await this.closing;
    const engine = await openEngine({
      ...settings,
      storage: storageFolder(),
      assets: this.dist,
      signal,
    });
    try {
      const session = await this.open(engine, settings);
      this.opened = session;
      return { engine, session };
    } catch (error) {
      await engine.dispose();
      throw error;
    }
  }

  /** Ends the session, if there is one; the next run opens another. */
  private close(): void {
    const old = this.opening;
    this.opening = undefined;
    this.opened = undefined;
    if (old === undefined) return;
    old.abort.abort();
    this.closing = Promise.all([this.closing, old.opened.then(dispose, () => undefined)]).catch(
      (error: unknown) => this.reporter.log(`closing the engine: ${messageOf(error)}`),
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

export const distOf = (extension: string): string => join(extension, 'dist');
