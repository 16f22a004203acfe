import { availableParallelism, totalmem } from 'node:os';
import type { Engine, Machine } from '../engine/engine';

const gibibyte = 2 ** 30;

/**
 * Memory that the two sides of a test run usually stay below with the local engine, which sets no
 * limit.
 */
const localBytes = 2 * gibibyte;

/**
 * How many candidates to evaluate at once by default. Both sides of each get a core and the memory
 * that they may use.
 *
 * @param engine its machine is this one by default
 */
export function workersFor({
  machine = thisMachine(),
  sandboxBytes,
}: Pick<Engine, 'machine' | 'sandboxBytes'>): number {
  const byCores = Math.floor(machine.cores / 2);
  const each = sandboxBytes === undefined ? localBytes : 2 * sandboxBytes;
  const byMemory = Math.floor(machine.memoryBytes / each);
  return Math.max(1, Math.min(byCores, byMemory));
}

/** This machine, within the limit that a container or a service sets on this process. */
function thisMachine(): Machine {
  const limit = process.constrainedMemory();
  return {
    cores: availableParallelism(),
    // 0, or more than the machine has, where there is no limit.
    memoryBytes: limit > 0 ? Math.min(limit, totalmem()) : totalmem(),
  };
}
