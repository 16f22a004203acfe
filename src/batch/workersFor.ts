import { availableParallelism, totalmem } from 'node:os';
import { runsInContainers, type EngineName, type Machine } from '../engine/engine';

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
 * @param memoryMb limit of one sandbox of an engine in containers, in MiB
 * @param machine the machine on which tests run, as the engine reports it; this one by default
 */
export function workersFor(
  engine: { readonly name: EngineName; readonly memoryMb: number },
  machine: Machine = thisMachine(),
): number {
  const byCores = Math.floor(machine.cores / 2);
  const each = runsInContainers(engine.name) ? 2 * engine.memoryMb * 2 ** 20 : localBytes;
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
