import { RetryingMemo } from '../../domain/work';
import { holdFolder } from '../../repository/lock';
import { environmentsFolder } from '../../repository/storage';
import type { Engine, Environment, MovedDay, TestPlace } from '../engine';
import { localEngine, type LocalOptions } from './localEngine';

/**
 * The local engine with an environment that is made for each instance. Instances that share an
 * environment share an engine.
 */
export function perInstanceEngine(options: Omit<LocalOptions, 'python'>): Engine {
  const engines = new Map<string, RetryingMemo<Engine>>();
  const held = new RetryingMemo(() => holdFolder(environmentsFolder(options.storage)));
  return {
    name: 'local',
    description: 'local engine with an environment for each instance',
    async prepare(instance, trees, work) {
      const { environments, storage } = options;
      await held.get();
      const request = { instance, tree: trees.base, storage };
      const { interpreter: python, moved } = await environments.virtualEnvironment(request, work);
      const known =
        engines.get(python) ?? new RetryingMemo(() => localEngine({ ...options, python }));
      engines.set(python, known);
      const place = await (await known.get()).prepare(instance, trees, work);
      return moved === undefined ? place : withMovedDay(place, moved);
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

/** A place of an engine that several instances share, with the day of the packages of one. */
function withMovedDay(place: TestPlace, movedDay: MovedDay): TestPlace {
  const withDay = (environment: Environment): Environment => ({ ...environment, movedDay });
  return {
    get environment() {
      return withDay(place.environment);
    },
    current: async () => withDay((await place.current?.()) ?? place.environment),
    latest: async () => {
      const latest = await place.latest?.();
      if (latest === undefined) throw new Error('the local engine knows its latest environment');
      return { ...latest, environment: withDay(latest.environment) };
    },
    openPair: (work, sides) => place.openPair(work, sides),
  };
}
