import { HumanError, messageOf, throwIfAborted } from '../../../../domain/humanError';
import { plural } from '../../../../domain/plural';
import { usualFolder } from '../../../containerImage';
import { packageOf } from '../../../environments/projectVersion';
import { needInterpreter, type Interpreter } from '../askInterpreter';
import { inContainer, type BuildContainer, type BuildPlace } from '../build/buildContainer';
import { foreignUser } from '../build/confinement';
import { layTree } from '../build/layTree';
import {
  askedEnvironment,
  environmentName,
  packagesFor,
  removeTools,
  resolveStated,
  titleOf,
  type AskedEnvironment,
  type EnvironmentRequest,
} from '../environmentImage';
import {
  keepInstance,
  presentInstance,
  purposeOf,
  type InstanceImage,
  type InstanceLayerRequest,
} from '../instanceLayer';
import type { ResolvedRequirements } from '../resolvedRequirements';
import { compiledOf, versionRecordPath } from '../versionImage';
import { changePackages, packageChange } from './changePackages';
import {
  installedName,
  presentInstalled,
  installedRecord,
  type InstalledRecord,
} from './installedImage';

interface FurtherRequest
  extends
    Pick<InstanceLayerRequest, 'instance' | 'trees' | 'recipe' | 'named' | 'storage'>,
    Omit<EnvironmentRequest, 'atHand'> {
  /** A digest that all instances share whose environments may be the same. */
  readonly family: string;
}

/** The installed image does not serve for this instance, which is made in the usual way then. */
class NotAlike extends Error {
  override readonly name = 'NotAlike';
}

/**
 * Makes the image of an instance from one of the same version in which R of another instance is
 * installed: its tree is laid over that tree, and only the packages that differ are replaced. The
 * result is the image that would be made in the usual way.
 *
 * @returns undefined where there is no such image, or where it does not serve
 * @throws Cancelled
 */
export async function furtherInstance(
  request: FurtherRequest,
  place: BuildPlace,
): Promise<InstanceImage | undefined> {
  const { instance, named, storage } = request;
  const { work, log } = place;
  const folder = instance.environment?.folder ?? usualFolder;
  const name = await installedName({ ...request, folder, signal: work.signal });
  const image = name === undefined ? undefined : await presentInstalled(name, storage, place);
  if (name === undefined || image === undefined) return undefined;
  try {
    const asked = await askedEnvironment(request, place);
    work.reporter.progress(`${instance.id}: putting R into ${name.name}`);
    const from = { image, purpose: purposeOf(instance), runs: 'foreign' } as const;
    await inContainer(place, from, async (container) => {
      const record = await installedRecord(container);
      if (record.baseImage !== asked.base) throw new NotAlike('it is on another base image');
      if (record.stated === null && asked.known === undefined) {
        throw new NotAlike('what R requires could not be read in it');
      }
      container.superviseWith(record.base);
      const isReady = asked.known !== undefined && isSame(record.lock, asked.known.lock);
      const packages = isReady ? undefined : packagesFor(request, asked.needs, place);
      try {
        // Nothing foreign runs before R is compiled.
        const [env] = await Promise.all([
          packages?.enter(container, record.base),
          lay(container, { ...request, folder }, record, place),
        ]);
        const filling = { container, asked, record, request, env };
        const { resolved, interpreter } =
          asked.known !== undefined && isReady
            ? { resolved: asked.known, interpreter: record.interpreter }
            : await settle(filling, place);
        const { key, name: environment } = environmentName(request, resolved, asked.base);
        const source = {
          ...{ image, name: environment, digest: key, from: 'built' as const, base: asked.base },
          moved: resolved.moved,
        };
        const { executable: python } = interpreter;
        const filled = { python, after: interpreter, user: foreignUser, install: record.install };
        await keepInstance(container, { ...request, source, folder }, filled, place);
      } finally {
        packages?.close();
      }
    });
  } catch (error) {
    throwIfAborted(work.signal);
    if (!(error instanceof NotAlike) && !(error instanceof HumanError)) throw error;
    log.line(`${name.name} does not serve for ${instance.id}: ${messageOf(error)}`);
    return undefined;
  }
  return presentInstance(named, place, storage);
}

/** Makes the tree of a container equal to R. Nothing foreign may have run in it. */
async function lay(
  container: BuildContainer,
  { instance, trees, recipe, storage, folder }: FurtherRequest & { readonly folder: string },
  { base: python, baseImage, files }: InstalledRecord,
  place: BuildPlace,
): Promise<void> {
  const source = { image: '', name: '', digest: '', base: baseImage };
  await layTree(container, {
    ...{ tree: trees.base, folder, python, present: files },
    compiled: compiledOf({ instance, trees, recipe, folder, source, storage }, python, place),
    obsolete: [versionRecordPath],
    doing: `put R of ${instance.id} into the image of its version`,
    signal: place.work.signal,
  });
}

const isSame = (from: readonly string[], to: readonly string[]): boolean => {
  const { add, remove } = packageChange(from, to);
  return add.length === 0 && remove.length === 0;
};

interface Settling {
  readonly container: BuildContainer;
  readonly asked: AskedEnvironment;
  readonly record: InstalledRecord;
  readonly request: FurtherRequest;
  /** The environment of programs that run uv. */
  readonly env?: Readonly<Record<string, string>> | undefined;
}

interface Settled {
  readonly resolved: ResolvedRequirements;
  readonly interpreter: Interpreter;
}

/** Gives the environment of a container the packages that its instance needs. */
async function settle(
  { container, asked, record, request, env = {} }: Settling,
  place: BuildPlace,
): Promise<Settled> {
  const { base: python, interpreter, lock: before } = record;
  const inside = { container, stated: record.stated ?? [], python, env };
  const resolved = asked.known ?? (await resolveStated(asked, request, inside, place));
  const { moved, lock } = resolved;
  if (isSame(before, lock)) {
    await removeTools(container);
    return { resolved, interpreter };
  }
  const change = packageChange(before, lock);
  const tools = new Set(asked.needs.build.map(packageOf));
  const changed = [...change.add.map(packageOf), ...change.remove];
  const tool = changed.find((each) => tools.has(each));
  // R was installed with these, so another version might install it in another way.
  if (tool !== undefined) throw new NotAlike(`${tool} has another version`);
  const title = titleOf(request.instance);
  const count = plural(change.add.length, 'package');
  place.work.reporter.progress(`${request.instance.id}: changing ${count} for ${title}`);
  await changePackages(container, {
    ...{ change, lock, day: moved?.taken ?? asked.day, python, env },
    version: interpreter.version,
    doing: `change the packages of ${title}`,
  });
  await removeTools(container);
  const { executable } = interpreter;
  const after = await needInterpreter(container, title, [executable], true);
  return { resolved, interpreter: after };
}
