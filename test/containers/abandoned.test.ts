import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { removeAbandonedContainers } from '../../src/engine/docker/sandbox/abandonedContainers';
import { connect, type DockerConnection } from '../../src/engine/docker/connection/connect';
import { containerLabels, imageLabels, labels } from '../../src/engine/docker/labels';
import { ownerWord } from '../../src/repository/lock';
import { baseImage, needDocker, plainDocker } from './dockerForTests';

const root = resolve(__dirname, '..', '..');
const Image = baseImage.replace('{python}', '3.9');

describe('containers that are left over @full', function () {
  let connection: DockerConnection;
  const made: string[] = [];

  before(async function () {
    await needDocker(this, ['3.9']);
    connection = await connect();
  });
  after(async () => {
    for (const id of made) {
      await plainDocker
        .getContainer(id)
        .remove({ force: true })
        .catch(() => undefined);
    }
    await connection?.close();
  });

  /** Starts a container with these labels. */
  const start = async (Labels: Record<string, string>): Promise<string> => {
    const container = await plainDocker.createContainer({
      Image,
      Cmd: ['sleep', '300'],
      Labels,
      HostConfig: { NetworkMode: 'none' },
    });
    made.push(container.id);
    await container.start();
    return container.id;
  };
  const isHere = (id: string): Promise<boolean> =>
    plainDocker
      .getContainer(id)
      .inspect()
      .then(() => true)
      .catch(() => false);

  it('go when their process was killed; those of others stay', async () => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', join(__dirname, 'leavingProcess.ts'), Image],
      { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    const left = said.toString().trim().split(' ');
    made.push(...left);
    assert.equal(left.length, 2);

    const own = await start(await containerLabels('pair', { instance: 'mine' }));
    const somebodys = await start({ 'com.example': '1' });
    // A container that a user starts from an image made here inherits the image's labels.
    const fromImage = await start(imageLabels('instance', { instance: 'mine' }));
    const word = await ownerWord();
    const ended = word.replace(/-\d*$/, '-1');
    const inherited = await start({ ...imageLabels('instance'), [labels.owner]: ended });
    const foreign = await start({
      ...(await containerLabels('pair')),
      [labels.owner]: '1-0123456789ab-1',
    });

    await removeAbandonedContainers(connection);
    for (const id of [...left, own]) assert.ok(await isHere(id), 'its process still runs');

    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    assert.ok((await removeAbandonedContainers(connection)) >= 2);
    for (const id of left) assert.equal(await isHere(id), false);
    for (const id of [own, somebodys, fromImage, inherited, foreign]) assert.ok(await isHere(id));
  });
});
