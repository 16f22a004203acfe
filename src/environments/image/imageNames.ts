import { z } from 'zod';
import type { Instance } from '../../domain/instance';
import {
  labelLines,
  type BuildContainer,
  type BuildPlace,
  inspectImage,
  type PresentImage,
  imageLabels,
  labels,
  purposeOf,
} from '../../engine/docker';
import type { MovedDay } from '../../engine/engine';
import type { FilledImage, InstanceImage } from '../../engine/environmentMaker';
import type { Trees } from '../../repository/trees';
import { planDigest, planVersion, type EnvironmentPlan } from '../environmentPlan';
import { recipeOf } from '../recipes';
import { identityDigest, noteUse } from './imageRecords';
import { packagesOfRunners } from '../../engine/runners';

/** Repository part of the names of environments that are built here. */
export const environmentRepository = 'swt-bench/environment';
/** Repository part of the names of instance images. */
export const instanceRepository = 'swt-bench/instance';

/** Makes an image start a shell instead of the command of its build container. */
export const plainStart = ['ENTRYPOINT []', 'CMD ["/bin/sh"]', 'WORKDIR /'];

/** Label that finds the environments of a repository and version before their key is known. */
export const familyLabel = 'swt-bench.family';

/**
 * A digest that all instances share whose environments may be the same.
 *
 * @param baseImage name of the base image
 */
export const familyOf = (
  { repo, version }: Pick<Instance, 'repo' | 'version'>,
  baseImage: string,
): string => identityDigest(planVersion, repo, version, recipeOf(repo, version), baseImage);

/** A tag that the user can read, and that its key makes unique. */
export const environmentTag = (
  { repo, version }: Pick<Instance, 'repo' | 'version'>,
  key: string,
): string =>
  `${`${repo.replace('/', '__')}-${version}`
    .replace(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100)}-${key}`;

/** Labels that describe an image, in addition to those of everything that is made here. */
const ownLabels = {
  from: 'swt-bench.from',
  folder: 'swt-bench.folder',
  python: 'swt-bench.python',
  pythonVersion: 'swt-bench.python-version',
  packages: 'swt-bench.packages',
  user: 'swt-bench.user',
  install: 'swt-bench.install',
  wantedDay: 'swt-bench.wanted-day',
  takenDay: 'swt-bench.taken-day',
  digest: 'swt-bench.digest',
} as const;

const described = z.object({
  [labels.made]: z.literal('1'),
  [labels.recipe]: z.string(),
  [ownLabels.from]: z.enum(['row', 'prebuilt', 'built']),
  [ownLabels.folder]: z.string(),
  [ownLabels.python]: z.string(),
  [ownLabels.pythonVersion]: z.string(),
  [ownLabels.packages]: z.string(),
  [ownLabels.user]: z.coerce.number().int(),
  [ownLabels.install]: z.string(),
  [ownLabels.wantedDay]: z.string(),
  [ownLabels.takenDay]: z.string(),
  [ownLabels.digest]: z.string(),
});

/** The name of an instance image, and the digest of what it must have been made from to count. */
interface InstanceName {
  readonly name: string;
  readonly tag: string;
  readonly key: string;
}

/**
 * The name of the image of an instance on a certain environment.
 *
 * @param source everything that distinguishes the environment, as far as it is known beforehand
 */
export function instanceName(
  { id }: Pick<Instance, 'id'>,
  trees: Pick<Trees, 'digest'>,
  plan: EnvironmentPlan,
  source: readonly unknown[],
): InstanceName {
  const key = identityDigest(planDigest(plan), id, trees.digest.base, source);
  const tag = `${id.toLowerCase().slice(0, 100)}-${key}`;
  return { name: `${instanceRepository}:${tag}`, tag, key };
}

/**
 * An instance image that was made before. Undefined when it is missing or does not match its name.
 */
export async function presentInstance(
  { name, key }: InstanceName,
  { connection }: Pick<BuildPlace, 'connection'>,
  storage: string,
): Promise<InstanceImage | undefined> {
  const found = await inspectImage(connection, name);
  const image = found === undefined ? undefined : describedImage(found, name, key);
  if (found !== undefined && image !== undefined) {
    await noteUse(storage, { name, id: found.id, kind: 'instance', bytes: found.bytes });
  }
  return image;
}

function describedImage(found: PresentImage, name: string, key: string): InstanceImage | undefined {
  const read = described.safeParse(found.labels);
  if (!read.success || read.data[labels.recipe] !== key) return undefined;
  const said = read.data;
  const install = said[ownLabels.install];
  const moved = { wanted: said[ownLabels.wantedDay], taken: said[ownLabels.takenDay] };
  return {
    id: found.id,
    name,
    from: said[ownLabels.from],
    folder: said[ownLabels.folder],
    python: said[ownLabels.python],
    pythonVersion: said[ownLabels.pythonVersion],
    packages: packagesOfRunners(said[ownLabels.packages].split(' ')),
    user: said[ownLabels.user],
    ...(install === '' ? {} : { install: install.split(' ') }),
    ...(moved.taken === '' ? {} : { moved }),
    digest: said[ownLabels.digest],
  };
}

/** What an instance image is made of, apart from what its container is. */
export interface InstanceParts {
  readonly instance: Instance;
  readonly trees: Trees;
  readonly plan: EnvironmentPlan;
  readonly named: InstanceName;
  /** Folder of R in the image. */
  readonly folder: string;
}

/** Where the environment of an instance image comes from. */
interface EnvironmentSource {
  readonly from: InstanceImage['from'];
  /** Digest of the environment; equal for equal environments. */
  readonly digest: string;
  readonly moved?: MovedDay | undefined;
}

/** Makes the image of an instance of a container that is finished. */
export async function keepInstance(
  container: BuildContainer,
  { instance, trees, plan, named, folder }: InstanceParts,
  source: EnvironmentSource,
  { python, after, user, install }: FilledImage,
  { work }: BuildPlace,
): Promise<void> {
  const digest = identityDigest(
    ...[planVersion, source.digest, trees.digest.base, folder, user],
    ...[plan.installation.preInstall, install, after.version, after.packages],
  );
  work.reporter.progress(`${instance.id}: saving the image`);
  await container.commit(instanceRepository, named.tag, [
    ...labelLines({
      ...imageLabels('instance', { ...purposeOf(instance), recipe: named.key }),
      [ownLabels.from]: source.from,
      [ownLabels.folder]: folder,
      [ownLabels.python]: python,
      [ownLabels.pythonVersion]: after.version,
      [ownLabels.packages]: Object.entries(packagesOfRunners(after.packages))
        .map((each) => each.join('=='))
        .join(' '),
      [ownLabels.user]: String(user),
      [ownLabels.install]: install.join(' '),
      [ownLabels.wantedDay]: source.moved?.wanted ?? '',
      [ownLabels.takenDay]: source.moved?.taken ?? '',
      [ownLabels.digest]: digest,
    }),
    ...plainStart,
  ]);
}
