// Runs as the reference harness makes them, for comparison with ours: plain containers of the same
// images, without any file of ours.
import { join } from 'node:path';
import type Dockerode from 'dockerode';
import type { Instance } from '../../src/domain/instance';
import type { Side } from '../../src/domain/outcome';
import { tarOf } from '../../src/engine/sandbox/archive';
import type { InstanceImage } from '../../src/engine/environmentMaker';
import { labels } from '../../src/engine/docker/labels';
import type { TestPlan } from '../../src/engine/runners/testPlan';
import { patchedFiles, readTreeFile, treeEntries } from '../../src/repository/treeFiles';
import type { Trees } from '../../src/repository/trees';

export interface Bench {
  readonly docker: Dockerode;
  readonly image: InstanceImage;
  readonly instance: Instance;
  readonly trees: Trees;
}

/**
 * A container of the image with the tree of one side and the golden tests, without any file of
 * ours.
 */
export async function plainContainer(bench: Bench, side: Side): Promise<Dockerode.Container> {
  const { docker, image, trees, instance } = bench;
  const container = await docker.createContainer({
    Image: image.id,
    Entrypoint: ['sleep', '100000'],
    Cmd: [],
    User: '0',
    Labels: { [labels.made]: '1', [labels.kind]: 'bench' },
    HostConfig: { NetworkMode: 'none', Init: true },
  });
  const ofR = await treeEntries(trees.base);
  const files = new Map<string, Buffer>();
  for (const [path, { id }] of await treeEntries(trees[side])) {
    const file = ofR.get(path)?.id === id ? undefined : await readTreeFile(trees[side], path);
    if (file !== undefined) files.set(path, file.content);
  }
  for (const [path, file] of await patchedFiles(trees[side], instance.goldenTests)) {
    if (file !== undefined) files.set(path, file.content);
  }
  const entries = [...files].map(([path, content]) => ({ path, content }));
  await container.putArchive(await tarOf(entries, image.user), { path: image.folder });
  await container.start();
  return container;
}

/** Runs a command to its end as tests are run, but without the tracer. */
export async function plainRun(
  bench: Bench,
  container: Dockerode.Container,
  args: readonly string[],
  plan: Pick<TestPlan, 'cwd' | 'env'>,
  {
    user = bench.image.user,
    more = {},
  }: { user?: number; more?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  const { folder, python } = bench.image;
  const env = { PYTHONPATH: folder, PYTHONHASHSEED: '0', HOME: '/tmp', ...plan.env, ...more };
  const exec = await container.exec({
    Cmd: [python, ...args],
    User: String(user),
    WorkingDir: join(folder, plan.cwd),
    Env: Object.entries(env).map(([name, value]) => `${name}=${value}`),
    AttachStdout: true,
    AttachStderr: true,
  });
  const stream = await exec.start({});
  stream.resume();
  await new Promise((done) => stream.once('end', done).once('close', done));
}

/** Six runs, one after the other, each in a new container that installs the repository again. */
export async function sixPlainRuns(bench: Bench, plan: TestPlan): Promise<void> {
  for (let n = 0; n < 6; n++) {
    const container = await plainContainer(bench, n % 2 === 0 ? 'base' : 'fixed');
    try {
      const install = bench.image.install?.slice(1) ?? [...pip];
      await plainRun(bench, container, install, { cwd: '.', env: {} }, { user: 0 });
      await plainRun(bench, container, plan.args, plan);
    } finally {
      await container.remove({ force: true });
    }
  }
}

const pip = ['-m', 'pip', 'install', '--no-deps', '--no-build-isolation', '--editable', '.'];
