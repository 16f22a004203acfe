import { jsonText, layOut } from '../../domain/text';
import { checkedId } from '../../domain/instance';
import { HumanError, type Reporter } from '../../domain/work';
import { dockerSettings, type DockerSettings } from '../../engine/docker';
import {
  diskUse,
  freeInstance,
  freeEnvironments,
  freeMirror,
  freeVectors,
  type DiskUse,
} from '../../repository/disk';
import { checkedRepo } from '../../repository/storage';
import { EXIT, terminalReporter, type CommandContext } from '../context';
import { dockerHostOption, imageBudgetOption } from '../options/dockerOptions';
import { valuesOf } from '../options/engineOptions';
import { list } from '../options/optionValues';
import { jsonOption, storageOption } from '../options/sharedOptions';
import type { RegisterCommand } from '../registerCommand';
import { imageTable, storedImages, totalBytes, type StoredImages } from './storedImages';

interface StorageOptions {
  storage: string;
  /** Ids of instances. */
  free?: string[];
  /** `owner/name` of repositories. */
  freeMirror?: string[];
  freeVectors?: boolean;
  freeEnvironments?: boolean;
  freeAll?: boolean;
  /** Ids of instances, names of repositories (with `@version`) or of images, or `all`. */
  freeImages?: string[];
  dockerHost?: string;
  /** GiB. */
  imageBudget?: number;
  json?: boolean;
}

/** Registers the command `storage`. */
export const registerStorage: RegisterCommand = (command, context, finish) => {
  command
    .option('--free <a,b>', "remove these instances' working trees, runs and validations", list)
    .option('--free-mirror <a,b>', "remove these repositories' mirrors", list)
    .option(
      '--free-images <a,b>',
      'remove images built or pulled for these instances or repositories (owner/name, or owner/name@version), or `all`, which includes downloaded packages',
      list,
    )
    .option('--free-vectors', 'remove stored embeddings, which cost money to recreate')
    .option('--free-environments', 'remove virtual environments created for instances')
    .option(
      '--free-all',
      'remove all instances, mirrors, embeddings and virtual environments from the storage folder; keeps datasets and images',
    )
    .addOption(dockerHostOption())
    .addOption(imageBudgetOption())
    .addOption(storageOption())
    .addOption(jsonOption())
    .action(async (options: StorageOptions) => finish(await storageCommand(options, context)));
};

/**
 * `swt-bench storage`: frees what the options name, then prints the disk usage of the storage
 * folder and of images.
 */
export async function storageCommand(
  options: StorageOptions,
  context: CommandContext,
): Promise<number> {
  const { storage } = options;
  const settings = valuesOf(dockerSettings, options);
  const reporter = terminalReporter(context);
  const work = { signal: context.signal, reporter };
  const wanted = {
    instances: (options.free ?? []).map(checkedId),
    mirrors: (options.freeMirror ?? []).map(checkedRepo),
  };
  reporter.progress(`measuring ${storage}`);
  const before = await diskUse(storage, work);
  const known = {
    instances: before.instances.map(({ id }) => id),
    mirrors: before.mirrors.map(({ repo }) => repo),
  };
  const missing = [
    ...wanted.instances.filter((id) => !known.instances.includes(id)),
    ...wanted.mirrors.filter((repo) => !known.mirrors.includes(repo)),
  ];
  if (missing.length > 0) {
    reporter.clear();
    throw new HumanError(
      `${storage} has nothing stored for ${missing.join(', ')}`,
      'Run `swt-bench storage` to see what is stored',
    );
  }
  const going = options.freeAll === true ? known : wanted;
  const kept = await freeNamed(storage, going, work);
  const freesShared = await freeShared(options, before, kept);
  const images = await storedImages(
    { storage, settings, free: options.freeImages ?? [], kept: (why) => kept.push(why) },
    work,
  );
  const changed = freesShared || going.instances.length + going.mirrors.length > 0;
  const use = changed ? await diskUse(storage, work) : before;
  reporter.clear();
  const freed = Math.max(0, before.total - use.total);
  if (options.json === true) {
    const document = {
      ...{ storage, freed, kept },
      ...use,
      images: imageDocument(images, settings),
    };
    context.data(jsonText(document));
  } else {
    context.stdout(`${tableOf(use, storage)}\n`);
    if (changed) context.stdout(`freed: ${inMegabytes(freed)}\n`);
    context.stdout(imagesText(images, settings));
  }
  if ('unknown' in images) {
    context.stderr(`swt-bench: could not list images: ${images.unknown}\n`);
  }
  for (const why of kept) context.stderr(`swt-bench: ${why}\n`);
  return kept.length > 0 ? EXIT.negative : EXIT.done;
}

/**
 * Frees instances and mirrors. One that is in use does not prevent freeing the others.
 *
 * @returns one sentence for each that stays, with the reason
 */
async function freeNamed(
  storage: string,
  going: { readonly instances: readonly string[]; readonly mirrors: readonly string[] },
  work: { readonly signal: AbortSignal; readonly reporter: Reporter },
): Promise<string[]> {
  const kept: string[] = [];
  for (const id of going.instances) {
    work.reporter.progress(`freeing ${id}`);
    await attempt(kept, () => freeInstance(storage, id, work));
  }
  for (const repo of going.mirrors) {
    work.reporter.progress(`freeing the mirror of ${repo}`);
    await attempt(kept, () => freeMirror(storage, repo, work));
  }
  return kept;
}

/** Frees what no single instance owns. Returns whether there was anything to free. */
async function freeShared(
  { storage, freeAll, freeVectors: vectors, freeEnvironments: environments }: StorageOptions,
  before: DiskUse,
  kept: string[],
): Promise<boolean> {
  const freesVectors = before.vectors > 0 && (freeAll === true || vectors === true);
  if (freesVectors) await freeVectors(storage);
  const freesEnvironments = before.environments > 0 && (freeAll === true || environments === true);
  if (freesEnvironments) await attempt(kept, () => freeEnvironments(storage));
  return freesVectors || freesEnvironments;
}

/** Frees something, or adds to `kept` why it stays. */
async function attempt(kept: string[], free: () => Promise<void>): Promise<void> {
  try {
    await free();
  } catch (error) {
    if (!(error instanceof HumanError)) throw error;
    kept.push(error.message);
  }
}

function imagesText(images: StoredImages, { budgetGb }: DockerSettings): string {
  if ('unknown' in images) return '';
  const table = images.images.length > 0 ? `\n${imageTable(images.images, budgetGb)}\n` : '';
  return images.freed > 0
    ? `${table}freed by removing images: ${inMegabytes(images.freed)}\n`
    : table;
}

/** Images in the form of the JSON document; null when no engine answers. */
function imageDocument(images: StoredImages, { budgetGb }: DockerSettings): object | null {
  if ('unknown' in images) return null;
  return {
    engine: images.engine,
    freed: images.freed,
    total: totalBytes(images.images),
    budget: budgetGb * 2 ** 30,
    images: images.images.map(
      ({ id, name, kind, repo, version, instance, bytes, lastUsed, inUse }) => ({
        ...{ id, name, kind, repo, version, instance, bytes },
        ...{ last_used: lastUsed, in_use: inUse },
      }),
    ),
  };
}

function tableOf(use: DiskUse, storage: string): string {
  const larger = (a: { bytes: number }, b: { bytes: number }): number => b.bytes - a.bytes;
  return layOut([
    ['What', 'Disk'],
    ...[...use.mirrors]
      .sort(larger)
      .map((each) => [`mirror ${each.repo}`, inMegabytes(each.bytes)]),
    ...[...use.instances].sort(larger).map((each) => [each.id, inMegabytes(each.bytes)]),
    ...(
      [
        ['datasets', use.datasets],
        ['vectors', use.vectors],
        ['virtual environments', use.environments],
        ['running sandboxes', use.sandboxes],
        ['other', use.other],
      ] as const
    )
      .filter(([, bytes]) => bytes > 0)
      .map(([what, bytes]) => [what, inMegabytes(bytes)]),
    [`total in ${storage}`, inMegabytes(use.total)],
  ]);
}

const inMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
