import { setTimeout as sleep } from 'node:timers/promises';
import { Cancelled, HumanError } from '../../domain/work';
import { sides, type Side } from '../../domain/outcome';
import {
  sandboxesOf,
  type Engine,
  type EngineWork,
  type Pair,
  type Sandbox,
  type TestPlace,
} from '../engine';

/** Seconds that an engine may take for each operation before it counts as stuck. */
export interface EngineLimits {
  /** An image may have to be pulled and built. */
  readonly prepare: number;
  readonly openPair: number;
  readonly load: number;
  /** In addition to the run's own time limit, which the engine enforces. */
  readonly afterRun: number;
  readonly dispose: number;
}

const defaultLimits: EngineLimits = {
  prepare: 3 * 3600,
  openPair: 900,
  load: 900,
  afterRun: 300,
  dispose: 120,
};

/** The longest delay of Node's timers, in milliseconds. */
const longestTimer = 2 ** 31 - 1;

/** Milliseconds to wait for the engine after a cancellation. */
const endTimeout = 3000;

/**
 * An engine neither did what it was asked to nor reported an error. There is no retry, since it had
 * its time.
 */
class EngineStuck extends HumanError {}

/**
 * The same engine with limits on every operation. An operation that exceeds its limit is cancelled
 * and given up. A batch at night thus does not stand still for one instance.
 */
export function guardedEngine(engine: Engine, limits: EngineLimits = defaultLimits): Engine {
  const guard = new EngineGuard(engine, limits);
  return {
    name: engine.name,
    get description() {
      return engine.description;
    },
    get environment() {
      return engine.environment;
    },
    ...(engine.machine === undefined ? {} : { machine: engine.machine }),
    ...(engine.sandboxBytes === undefined ? {} : { sandboxBytes: engine.sandboxBytes }),
    prepare: (instance, trees, work) => guard.prepare(instance, trees, work),
    dispose: () => engine.dispose(),
  };
}

class EngineGuard {
  constructor(
    private readonly engine: Engine,
    private readonly limits: EngineLimits,
  ) {}

  async prepare(...[instance, trees, work]: Parameters<Engine['prepare']>): Promise<TestPlace> {
    const { prepare } = this.limits;
    const place = await this.within(prepare, `preparing ${instance.id}`, work.signal, (signal) =>
      this.engine.prepare(instance, trees, { ...work, signal }),
    );
    return {
      get environment() {
        return place.environment;
      },
      current: async () => (await place.current?.()) ?? place.environment,
      latest: async () =>
        (await place.latest?.()) ?? {
          environment: (await place.current?.()) ?? place.environment,
          isPresent: true,
        },
      openPair: (opening, asked: readonly Side[] = sides) => this.openPair(place, opening, asked),
    };
  }

  private async openPair(
    place: TestPlace,
    work: EngineWork,
    asked: readonly Side[],
  ): Promise<Pair> {
    const { openPair, dispose } = this.limits;
    const pair = await this.within(openPair, 'opening sandboxes', work.signal, (signal) =>
      place.openPair({ ...work, signal }, asked),
    );
    return {
      ...sandboxesOf<Side>(asked.map((side) => this.guarded(pair[side]))),
      dispose: () => this.within(dispose, 'removing sandboxes', undefined, () => pair.dispose()),
    };
  }

  private guarded(sandbox: Sandbox): Sandbox {
    const { load, afterRun } = this.limits;
    return {
      side: sandbox.side,
      load: (patch, signal) =>
        this.within(load, 'loading a candidate into its sandbox', signal, (both) =>
          sandbox.load(patch, both),
        ),
      run: (request) =>
        this.within(
          request.timeoutSeconds + afterRun,
          'running tests, beyond their own time limit',
          request.signal,
          (signal) => sandbox.run({ ...request, signal }),
        ),
    };
  }

  /**
   * Settles at the limit, or a few seconds after the caller cancelled, whether or not the engine
   * heeds the signal.
   *
   * @throws EngineStuck, Cancelled
   */
  private async within<T>(
    seconds: number,
    doing: string,
    signal: AbortSignal | undefined,
    start: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = new AbortController();
    const ended = new AbortController();
    const both = signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]);
    const stuck = async (): Promise<never> => {
      await sleep(Math.min(seconds * 1000, longestTimer), undefined, { signal: ended.signal });
      limit.abort();
      throw new EngineStuck(
        `The ${this.engine.name} engine took more than ${seconds} s for ${doing} and was abandoned`,
        'Repeat the command; the engine’s log may show the cause',
      );
    };
    const deaf = async (): Promise<never> => {
      if (signal?.aborted !== true) {
        const aborts = [ended.signal, ...(signal === undefined ? [] : [signal])];
        await new Promise<void>((resolve) =>
          AbortSignal.any(aborts).addEventListener('abort', () => resolve(), { once: true }),
        );
      }
      await sleep(endTimeout, undefined, { signal: ended.signal });
      throw new Cancelled();
    };
    try {
      return await Promise.race([start(both), stuck(), deaf()]);
    } finally {
      ended.abort();
    }
  }
}
