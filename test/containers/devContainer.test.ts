import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { environments } from '../../src/environments/environments';
import { openDataset } from '../../src/dataset/dataset';
import type { Instance } from '../../src/domain/instance';
import { silent } from '../../src/domain/work';
import type { Environment } from '../../src/engine/engine';
import { engines } from '../../src/engine/engines';
import { withEngine } from '../../src/engine/sandbox';
import { prepareTrees } from '../../src/repository/trees';
import { cli, root, sample } from '../commandLine/cli';
import { baseImage, needDocker, plainDocker, removeImagesOf, testSettings } from './dockerForTests';

const run = promisify(execFile);

/** The program that VS Code opens dev containers with. */
const devcontainer = join(root, 'node_modules', '@devcontainers', 'cli', 'devcontainer.js');

describe('the dev container of an instance @full', function () {
  const id = `tallybook__tallybook-${randomBytes(3).readUIntBE(0, 3)}`;
  const label = `swt-bench.test=${id}`;
  let folder: string;
  let workspace: string;
  let environment: Environment;

  /** Runs the program and reads the one document that it prints last. */
  const up = async (): Promise<Record<string, unknown>> => {
    const { stdout } = await run(process.execPath, [
      ...[devcontainer, 'up', '--workspace-folder', workspace, '--id-label', label],
    ]);
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>;
  };
  const inside = async (...words: string[]): Promise<string> => {
    const { stdout } = await run(process.execPath, [
      ...[devcontainer, 'exec', '--workspace-folder', workspace, '--id-label', label, ...words],
    ]);
    return stdout.trim();
  };

  before(async function () {
    await needDocker(this);
    folder = await mkdtemp(join(tmpdir(), 'swt-devcontainer-'));
    workspace = join(folder, 'workspace');
    const text = await readFile(join(sample, 'instance.jsonl'), 'utf8');
    const row = JSON.parse(text.split('\n')[0] ?? '') as Record<string, unknown>;
    const dataset = join(folder, 'dataset.jsonl');
    await writeFile(dataset, `${JSON.stringify({ ...row, instance_id: id })}\n`);
    const [instance] = await (
      await openDataset(dataset, { storage: folder, reporter: silent })
    ).read([id]);
    const source = { kind: 'snapshot', from: join(sample, 'repository') } as const;
    const trees = await prepareTrees(instance as Instance, source, folder, { reporter: silent });
    const docker = testSettings();
    environment = await withEngine(
      {
        engines,
        environments,
        name: 'docker',
        storage: folder,
        assets: join(root, 'dist'),
        values: { docker },
      },
      async (engine) =>
        (await engine.prepare(instance as Instance, trees, { reporter: silent })).environment,
    );
    const opened = await cli([
      ...['open', id, '--dataset', dataset, '--source', source.from, '--devcontainer'],
      ...['--storage', folder, '--out', workspace],
      ...['--engine', 'docker', '--base-image', baseImage, '--prebuilt', 'none'],
    ]);
    assert.equal(opened.status, 0, opened.stderr);
  });
  after(async () => {
    if (folder === undefined) return;
    const made = await plainDocker.listContainers({ all: true, filters: { label: [label] } });
    for (const { Id } of made) await plainDocker.getContainer(Id).remove({ force: true });
    await removeImagesOf(id);
    await rm(folder, { recursive: true, force: true });
  });

  it('names the image that the tests of the instance run in, and nothing of the answer', async () => {
    const text = await readFile(join(workspace, '.devcontainer', 'devcontainer.json'), 'utf8');
    const file = JSON.parse(text) as Record<string, unknown>;
    const inspected = await plainDocker.getImage(String(file['image'])).inspect();
    assert.equal(inspected.Config.Labels['swt-bench.instance'], id, baseImage);
    assert.doesNotMatch(text, /left_over|by_loss|fixed/);
  });

  it('opens on it, with the Python of the tests', async () => {
    const { outcome, remoteWorkspaceFolder } = await up();
    assert.equal(outcome, 'success');
    const { interpreter, pythonVersion } = environment;
    assert.equal(
      await inside(interpreter, '-c', 'import platform; print(platform.python_version())'),
      pythonVersion,
    );
    assert.equal(await inside('pwd'), remoteWorkspaceFolder);
  });

  it('runs the code of the workspace, as it is edited, and not the copy in the image', async () => {
    await appendFile(join(workspace, 'tallybook', '__init__.py'), '\nEDITED = "just now"\n');
    const { interpreter } = environment;
    // From another folder, where only installed packages can be imported.
    const found = await inside(
      ...['sh', '-c', `cd / && ${interpreter} -c 'import tallybook; print(tallybook.EDITED)'`],
    );
    assert.equal(found, 'just now');
  });

  it('has nothing of R∘X* in it, and leaves nothing that a candidate would hold', async () => {
    assert.equal(
      await inside(
        ...['sh', '-c', 'grep -rlE "left_over|by_loss" --include=*.py "$@" || true', 'sh'],
        ...['.', '/root', '/home', '/opt', '/var', '/tmp'],
      ),
      '',
    );
    assert.equal(await inside('git', 'status', '--short'), 'M tallybook/__init__.py');
  });
});
