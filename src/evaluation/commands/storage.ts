import { HumanError } from '../../domain/problem';
import type { DockerSettings } from '../../engine/docker/settings';
import { diskUse, freeInstance, freeMirror, type DiskUse } from '../../repository/disk';
import { checkedId, checkedRepo } from '../../repository/storage';
import { layOut } from '../table';
import { EXIT, terminalReporter, type CommandContext } from './context';
import { dockerSettingsOf } from './engineOptions';
import { imageTable, storedImages, totalOf, type StoredImages } from './storedImages';

export interface StorageOptions {
  storage: string;
  /** Ids of instances. */
  free?: string[];
  /** `owner/name` of repositories. */
  freeMirror?: string[];
  freeAll?: boolean;
  /** Ids of instances, names of repositories (with `@version`) or of images, or `all`. */
  freeImages?: string[];
  dockerHost?: string;
  /** GiB. */
  imageBudget?: number;
  json?: boolean;
}

/** `swt-bench storage`: what the storage folder and images take on the disk, after freeing what is named. */
export async function storageCommand(
  options: StorageOptions,
  context: CommandContext,
): Promise<number> {
  const { storage } = options;
  const settings = dockerSettingsOf(options);
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
      `${storage} holds nothing of ${missing.join(', ')}`,
      'Run `swt-bench storage` to see what it holds',
    );
  }
  const { instances, mirrors } = options.freeAll === true ? known : wanted;
  const kept: string[] = [];
  /** One that is in use does not keep the others from being freed. */
  const attempt = async (free: () => Promise<void>): Promise<void> => {
    try {
      await free();
    } catch (error) {
      if (!(error instanceof HumanError)) throw error;
      kept.push(error.message);
    }
  };
  for (const id of instances) {
    reporter.progress(`freeing ${id}`);
    await attempt(() => freeInstance(storage, id, work));
  }
  for (const repo of mirrors) {
    reporter.progress(`freeing the mirror of ${repo}`);
    await attempt(() => freeMirror(storage, repo, work));
  }
  const images = await storedImages(
    {
      storage,
      settings,
      free: options.freeImages ?? [],
      kept: (why) => kept.push(why),
    },
    work,
  );
  const changed = instances.length + mirrors.length > 0;
  const use = changed ? await diskUse(storage, work) : before;
  reporter.clear();
  const freed = Math.max(0, before.total - use.total);
  if (options.json === true) {
    const document = { storage, freed, kept, ...use, images: imageDocument(images, settings) };
    context.stdout(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    context.stdout(`${tableOf(use, storage)}\n`);
    if (changed) context.stdout(`freed: ${inMegabytes(freed)}\n`);
    if ('images' in images && images.images.length > 0) {
      context.stdout(`\n${imageTable(images.images, settings.budgetGb)}\n`);
    }
    if ('freed' in images && images.freed > 0) {
      context.stdout(`freed of images: ${inMegabytes(images.freed)}\n`);
    }
  }
  if ('unknown' in images) {
    context.stderr(`swt-bench: images are not listed: ${images.unknown}\n`);
  }
  for (const why of kept) context.stderr(`swt-bench: ${why}\n`);
  return kept.length > 0 ? EXIT.negative : EXIT.done;
}

/** Images as the JSON document has them; null when no engine answers. */
function imageDocument(images: StoredImages, { budgetGb }: DockerSettings): object | null {
  if ('unknown' in images) return null;
  return {
    engine: images.engine,
    freed: images.freed,
    total: totalOf(images.images),
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
