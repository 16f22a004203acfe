import { RetryingMemo } from '../../domain/retryingMemo';
import { holdFolder } from '../../repository/owner';
import { environmentsFolder } from '../../repository/storage';
import type { Engine } from '../engine';
import { instanceEnvironment } from './instanceEnvironment';
import { localEngine } from './localEngine';

/** In place of an interpreter: an environment is made for each instance. */
export const fittingPython = 'auto';

/**
 * The local engine with an environment that is made for each instance. Instances that share an
 * environment share an engine.
 */
export function fittingEngine(options: {
  /** Folder for environments, working copies and compiled files. */
  readonly storage: string;
  /** Folder of the Python files of the tracer. */
  readonly tracer: string;
}): Engine {
  const engines = new Map<string, RetryingMemo<Engine>>();
  const held = new RetryingMemo(() => holdFolder(environmentsFolder(options.storage)));
  return {
    name: 'local',
    description: 'local engine, an environment for each instance',
    async prepare(instance, trees, work) {
      const { storage } = options;
      await held.get();
      const python = await instanceEnvironment({ instance, tree: trees.base, storage }, work);
      const known =
        engines.get(python) ?? new RetryingMemo(() => localEngine({ ...options, python }));
      engines.set(python, known);
      return (await known.get()).prepare(instance, trees, work);
    },
    async dispose() {
      const opened = [...engines.values()];
      engines.clear();
      await Promise.all(opened.map(async (each) => (await each.made())?.dispose()));
      await (
        await held.made()
      )?.();
    },
  };
}
