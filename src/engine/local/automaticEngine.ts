import { Cancelled, HumanError } from '../../domain/work';
import type { Engine, TestPlace } from '../engine';
import { perInstanceEngine } from './perInstanceEngine';
import { localEngine, type LocalOptions } from './localEngine';
import { findIncompatibility } from './findIncompatibility';

/**
 * The local engine with the interpreter at hand, where the user named none. Where R cannot be
 * imported with it, an environment is made for the instance. Where that fails, the interpreter at
 * hand is used anyway, and the log says why.
 *
 * @throws HumanError when there is no interpreter
 */
export async function automaticEngine(options: LocalOptions): Promise<Engine> {
  const { environments, storage } = options;
  const given = await localEngine(options);
  const fitting = perInstanceEngine(options);
  /** Why an environment could not be made, by repository and version. */
  const failures = new Map<string, string>();
  let isGivenForAll = true;

  type Prepared = Parameters<Engine['prepare']>;
  const incompatibility = (
    place: TestPlace,
    ...[instance, trees, work]: Prepared
  ): Promise<string | undefined> =>
    findIncompatibility(place, { environments, instance, tree: trees.base, storage }, work);

  const made = async (...[instance, trees, work]: Prepared): Promise<TestPlace | undefined> => {
    const title = `${instance.repo} ${instance.version}`;
    const failed = failures.get(title);
    if (failed !== undefined) {
      work.reporter.log(`${instance.id}: ${failed}`);
      return undefined;
    }
    try {
      const place = await fitting.prepare(instance, trees, work);
      const still = await incompatibility(place, instance, trees, work);
      if (still === undefined) return place;
      failures.set(title, `R is also incompatible with the environment created for it (${still})`);
    } catch (error) {
      if (error instanceof Cancelled || !(error instanceof HumanError)) throw error;
      failures.set(title, `its own environment could not be created: ${error.message}`);
    }
    work.reporter.log(`${instance.id}: ${failures.get(title)}`);
    return undefined;
  };

  return {
    name: 'local',
    get description() {
      return given.description;
    },
    get environment() {
      return isGivenForAll ? given.environment : undefined;
    },
    async prepare(instance, trees, work) {
      const place = await given.prepare(instance, trees, work);
      const why = await incompatibility(place, instance, trees, work);
      if (why === undefined) return place;
      const { description, interpreter } = place.environment;
      work.reporter.log(
        `${instance.id}: R is incompatible with ${description}, ${interpreter} (${why}); creating an environment for it`,
      );
      const own = await made(instance, trees, work);
      if (own === undefined) return place;
      isGivenForAll = false;
      return own;
    },
    async dispose() {
      await Promise.all([given.dispose(), fitting.dispose()]);
    },
  };
}
