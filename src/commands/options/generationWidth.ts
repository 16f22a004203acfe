import { availableParallelism } from 'node:os';
import { workersFor } from '../../batch/workersFor';
import type { Engine } from '../../engine/engine';
import type { Method } from '../../method/method';

/** Requests at once by default: at a provider, and at a server on this machine. */
export const defaultRequests = { hosted: 16, own: 4 } as const;

/** What may be under way at once in a run of a method. */
export interface GenerationWidth {
  readonly requests: number;
  /** The number to which these may grow. */
  readonly mostRequests: number;
  /** Runs of tests. */
  readonly runs: number;
  readonly instances: number;
}

/** Instances with a run of tests at once: for each that runs tests, others wait for their answers. */
const instancesPerRun = 4;

/**
 * What may be under way at once: what the options say, else what fits the server and the machine.
 *
 * @param engine where tests and agents work, as far as that is known
 */
export function generationWidth(
  options: {
    readonly concurrency?: number | undefined;
    readonly workers?: number | undefined;
    readonly baseUrl?: string | undefined;
  },
  method: Pick<Method, 'runs'>,
  engine: Pick<Engine, 'machine' | 'sandboxBytes'>,
): GenerationWidth {
  const { concurrency, workers, baseUrl } = options;
  const isOwn = baseUrl !== undefined && isThisMachine(baseUrl);
  const requests = concurrency ?? (isOwn ? defaultRequests.own : defaultRequests.hosted);
  const mostRequests = concurrency ?? defaultRequests.hosted;
  const of = { requests, mostRequests };
  if (method.runs === 'nothing') {
    return { ...of, runs: availableParallelism(), instances: workers ?? mostRequests };
  }
  const runs = workers ?? workersFor(engine);
  // An agent has one sandbox, and mostly waits for the model.
  if (method.runs === 'workspace') return { ...of, runs, instances: workers ?? 2 * runs };
  return { ...of, runs, instances: Math.max(runs, Math.min(mostRequests, instancesPerRun * runs)) };
}

function isThisMachine(address: string): boolean {
  const host = URL.canParse(address) ? new URL(address).hostname : '';
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0|host\.docker\.internal)$/.test(host);
}
