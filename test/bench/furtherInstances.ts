// A further instance of a known version, from its trees on this machine to two sandboxes that can
// run tests, by phase. Plain is a container of the same environment that gets a copy of R.
import { silent } from '../../src/domain/work';
import type { Instance } from '../../src/domain/instance';
import type { Engine } from '../../src/engine/engine';
import type { ImageRequest } from '../../src/engine/environmentMaker';
import { labels } from '../../src/engine/docker/labels';
import { treeArchive } from '../../src/engine/sandbox/treeArchive';
import { prepareTrees, type Trees } from '../../src/repository/trees';
import type { TreeSource } from '../../src/repository/source';
import { environments } from '../../src/environments/environments';

/** What is the same for all of the instances. */
interface Further extends Pick<ImageRequest, 'connection' | 'settings' | 'storage'> {
  readonly engine: Engine;
  readonly sourceOf: (instance: Instance) => Promise<TreeSource>;
}

/** A step that took some time, in milliseconds. */
export interface Phase {
  readonly what: string;
  readonly ms: number;
}

/**
 * Makes the image of an instance and opens its pair.
 *
 * @returns the phases in their order, `plain` last; none where the image was there before
 */
export async function furtherInstance(further: Further, instance: Instance): Promise<Phase[]> {
  const { connection, settings, storage, engine } = further;
  const trees = await prepareTrees(instance, await further.sourceOf(instance), storage, {
    reporter: silent,
  });
  const phases: Phase[] = [];
  let last = performance.now();
  let doing = 'finding what is known of the version';
  const next = (what: string): void => {
    const now = performance.now();
    phases.push({ what: doing, ms: now - last });
    [last, doing] = [now, what];
  };
  const reporter = {
    log: () => undefined,
    progress: (text: string) => next(text.replace(/^[^:]*: /, '').replace(/^(.{50}).+$/, '$1…')),
  };
  const image = await environments.instanceImage(
    { connection, instance, trees, settings, storage },
    { reporter },
  );
  if (phases.length === 0) return [];
  next('opening the pair');
  const place = await engine.prepare(instance, trees, { reporter: silent });
  const pair = await place.openPair({ reporter: silent });
  next('plain');
  await pair.dispose();
  last = performance.now();
  await plainCopy(further, image.id, image.folder, trees);
  next('');
  return phases;
}

/** Starts a container of the image and puts R into it, as a script would. */
async function plainCopy(
  { connection }: Further,
  image: string,
  folder: string,
  trees: Trees,
): Promise<void> {
  const container = await connection.docker.createContainer({
    Image: image,
    Entrypoint: ['sleep', '100000'],
    Cmd: [],
    Labels: { [labels.made]: '1', [labels.kind]: 'bench' },
    HostConfig: { NetworkMode: 'none', Init: true },
  });
  try {
    await container.start();
    await container.putArchive(await treeArchive(trees.base, folder.slice(1)), { path: '/' });
  } finally {
    await container.remove({ force: true });
  }
}
