import { sideName, type Side } from '../../domain/outcome';
import type { Limit } from '../../domain/verdict';
import { SandboxUnusable } from '../engine';
import type { Ending } from '../programs/process';
import type { AgentFrame, AgentProtocol } from './agentProtocol';

/** Why an agent is gone: its tests used up the memory, or something else, in words. */
export type Loss = { readonly ending: 'out of memory' } | { readonly why: string };

/** A container whose agent is ready. */
export interface AgentParts {
  readonly side: Side;
  readonly wire: AgentProtocol;
  /** The engine's address, for messages. */
  readonly address: string;
  /** Kills the container, for when the agent does not answer. */
  readonly kill: () => void;
  /** Asks the platform why the agent is gone, where the platform knows. Never throws. */
  readonly whyLost?: (() => Promise<Loss | undefined>) | undefined;
}

/**
 * Milliseconds that the agent has to end a run. Nobody wants to wait after a cancellation. After a
 * timeout, the results so far are worth waiting for.
 */
const stopTimeout = (why: Ending): number => (why === 'cancelled' ? 1500 : 15_000);

/** Milliseconds for restoring the tree after a run, which may have left many files. */
const settlingTime = 120_000;

/** A request whose agent has ended. */
interface LostRequest {
  /** Why it was stopped before, if it was. */
  readonly stopped: Ending | undefined;
  /** The limit that its program had reached first, as far as the agent said so. */
  readonly reached: Limit | undefined;
  readonly isRun: boolean;
  readonly seconds: number;
}

type Done = Extract<AgentFrame['header'], { kind: 'done' }>;
type Settled = Extract<AgentFrame['header'], { kind: 'settled' }>;

/**
 * The connection to the agent of one sandbox. It handles one request at a time, and remembers why
 * the agent is gone.
 */
export class Agent {
  private gone: string | undefined;

  constructor(private readonly parts: AgentParts) {}

  /** Marks the sandbox as gone, for a reason in words. */
  close(why: string): void {
    this.gone ??= why;
    this.parts.wire.close();
  }

  get isThere(): boolean {
    return this.gone === undefined;
  }

  /** @throws SandboxUnusable when the sandbox is gone */
  mustBeThere(): void {
    if (this.gone !== undefined) throw this.unusable(this.gone);
  }

  /** Marks the sandbox as gone and returns the error that says so, with a reason in words. */
  unusable(why: string): SandboxUnusable {
    this.close(why);
    return new SandboxUnusable(
      `The sandbox of ${sideName[this.parts.side]} (engine at ${this.parts.address}) can no longer be used: ${this.gone}`,
      'Run the tests again; if it happens again, check the engine',
    );
  }

  /** What the platform says of the loss of a sandbox that nobody here has ended. */
  private async whyLost(): Promise<Loss | undefined> {
    return this.isThere ? this.parts.whyLost?.() : undefined;
  }

  private lost(loss?: Loss): SandboxUnusable {
    if (loss !== undefined) {
      return this.unusable('why' in loss ? loss.why : 'it ran out of memory');
    }
    const complaint = this.parts.wire.complaint();
    const words = complaint === '' ? '' : ` (${complaint.split('\n').at(-1)})`;
    return this.unusable(`the connection to its container was lost${words}`);
  }

  /** Sends one request and returns its answer. */
  async ask(header: object, payload?: Buffer): Promise<AgentFrame & { header: Done }> {
    return this.untilDone(header, payload === undefined ? {} : { payload });
  }

  /**
   * Sends a request and passes output on until the request is done or stopped. The signal, the time
   * limit in seconds, `end`, which counts as that limit, or the receiver of the output can stop it.
   *
   * @throws SandboxUnusable when the agent is gone or did not understand
   */
  async untilDone(
    header: object,
    options: {
      readonly payload?: Buffer;
      readonly signal?: AbortSignal | undefined;
      readonly seconds?: number;
      readonly end?: AbortSignal | undefined;
      readonly onOutput?: (data: Buffer, stop: (why: Ending) => void) => void;
    },
  ): Promise<AgentFrame & { header: Done }> {
    this.mustBeThere();
    const { wire } = this.parts;
    const began = performance.now();
    let stopped: Ending | undefined;
    let reached: Limit | undefined;
    let giveUp: NodeJS.Timeout | undefined;
    const stop = (why: Ending): void => {
      if (stopped !== undefined) return;
      stopped = why;
      wire.send({ kind: 'stop', why });
      giveUp = setTimeout(() => {
        this.close('it did not end a run in time');
        this.parts.kill();
      }, stopTimeout(why));
    };
    const cancel = (): void => stop('cancelled');
    const end = (): void => stop('timed out');
    options.signal?.addEventListener('abort', cancel, { once: true });
    options.end?.addEventListener('abort', end, { once: true });
    const timer =
      options.seconds === undefined
        ? undefined
        : setTimeout(() => stop('timed out'), Math.min(options.seconds * 1000, 2 ** 31 - 1));
    try {
      wire.send(header, options.payload);
      // A signal that is already aborted fires no event.
      if (options.signal?.aborted === true) cancel();
      if (options.end?.aborted === true) end();
      for (;;) {
        const frame = await wire.receive();
        if (frame === undefined) {
          const seconds = (performance.now() - began) / 1000;
          const isRun = options.onOutput !== undefined;
          return await this.afterLoss({ stopped, reached, isRun, seconds });
        }
        if (frame.header.kind === 'limit') reached ??= frame.header.what;
        if (frame.header.kind === 'output') {
          if (stopped === undefined) options.onOutput?.(frame.payload, stop);
        } else if (frame.header.kind === 'failed') {
          throw this.unusable(frame.header.why);
        } else if (frame.header.kind === 'done') {
          return { header: frame.header, payload: frame.payload };
        }
      }
    } finally {
      clearTimeout(timer);
      clearTimeout(giveUp);
      options.signal?.removeEventListener('abort', cancel);
      options.end?.removeEventListener('abort', end);
    }
  }

  /**
   * What a request came to of which the agent has ended.
   *
   * @throws SandboxUnusable when nobody stopped it, and the loss is no result of a run
   */
  private async afterLoss({
    stopped,
    reached,
    isRun,
    seconds,
  }: LostRequest): Promise<AgentFrame & { header: Done }> {
    const payload = Buffer.alloc(0);
    const done = (ending: Ending) => ({
      header: { kind: 'done' as const, bytes: 0, ending, seconds, remarks: [] },
      payload,
    });
    if (stopped !== undefined) {
      this.close('it did not end a run in time');
      return done(stopped === 'cancelled' ? stopped : (reached ?? stopped));
    }
    const loss = await this.whyLost();
    // The kernel may kill all that is in a container for memory, the agent included.
    if (loss === undefined || !('ending' in loss) || !isRun) throw this.lost(loss);
    this.close('it ran out of memory');
    return done(reached ?? loss.ending);
  }

  /**
   * What tests did to the tree. The agent reports it after the result of each run. Looking through
   * thousands of files takes longer than some tests, and no outcome depends on it.
   *
   * @throws SandboxUnusable when the agent is gone
   */
  async settled(): Promise<Settled> {
    const timer = setTimeout(() => {
      this.close('it did not restore the tree in time');
      this.parts.kill();
    }, settlingTime);
    try {
      const frame = await this.parts.wire.receive();
      if (frame === undefined) throw this.lost(await this.whyLost());
      const { header } = frame;
      if (header.kind === 'settled') return header;
      throw this.unusable(header.kind === 'failed' ? header.why : 'it sent an unexpected answer');
    } finally {
      clearTimeout(timer);
    }
  }
}
