import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after_ } from 'node:timers/promises';
import { attachProgram } from '../../src/engine/docker/attachedProgram';
import { programFolder } from '../../src/engine/engine';
import {
  makeProgramVolume,
  removeAbandonedVolumes,
  removeVolume,
} from '../../src/engine/docker/sandbox/programVolume';
import { removeNow } from '../../src/engine/docker/sandbox/abandonedContainers';
import { connect, type DockerConnection } from '../../src/engine/docker/connection/connect';
import { containerLabels, imageLabels } from '../../src/engine/docker/labels';
import { pullImage } from '../../src/engine/docker/images/pull/pullImage';
import { ImageMissing, RegistryUnreachable } from '../../src/engine/docker/images/pull/pullProblem';
import { silent } from '../../src/domain/work';
import { baseImage, needDocker, plainDocker } from './dockerForTests';
import { publish, Registry, SlowLine } from './registry';
import { skipSuite } from './skipping';

const base = baseImage.replace('{python}', '3.9');

describe("Podman's compatible socket @full", function () {
  let folder: string;
  let registry: Registry;
  let line: SlowLine;
  let service: ChildProcess | undefined;
  let connection: DockerConnection;
  let socket: string;

  before(async function () {
    await needDocker(this, ['3.9']);
    folder = await mkdtemp(join(tmpdir(), 'swt-podman-'));
    const cause = await begin();
    if (cause !== undefined) skipSuite(this, cause);
  });

  after(async () => {
    if (connection !== undefined) {
      for (const { Id } of await connection.docker.listContainers({ all: true }).catch(() => [])) {
        await removeNow(connection.docker.getContainer(Id)).catch(() => undefined);
      }
      await connection.close();
    }
    line?.cut();
    await registry?.stop();
    if (service?.exitCode === null && service.signalCode === null) {
      const ended = once(service, 'exit');
      service.kill('SIGTERM');
      await ended;
    }
    if (folder !== undefined) {
      await endMonitors();
      // Podman bind-mounts its storage folder onto itself.
      await command('umount', [join(folder, 'storage', 'overlay')]);
      await rm(folder, { recursive: true, force: true });
    }
  });

  /** Starts a service apart from the user's own; returns why that is impossible, if it is. */
  async function begin(): Promise<string | undefined> {
    if ((await command('podman', ['--version'])) !== 0) return 'there is no podman';
    const started = await Registry.start(folder);
    if (started === undefined) return 'there is no docker-registry';
    registry = started;
    line = await SlowLine.open(registry.port, 20_000);
    socket = join(folder, 'podman.sock');
    const limits = await readFile('/proc/self/limits', 'utf8');
    const files = /^Max open files\s+\d+\s+(\d+)/m.exec(limits)?.[1] ?? '1024';
    // The default limits exceed what a restricted machine can give.
    const ulimits = `["nofile=${files}:${files}", "nproc=4096:4096"]`;
    await writeFile(
      join(folder, 'containers.conf'),
      `[containers]\ndefault_ulimits = ${ulimits}\n`,
    );
    const insecure = [registry.host, line.host, '127.0.0.1:1']
      .map((location) => `[[registry]]\nlocation = "${location}"\ninsecure = true\n`)
      .join('');
    await writeFile(join(folder, 'registries.conf'), insecure);
    const places = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
    service = spawn('podman', [...places, 'system', 'service', '--time=0', `unix://${socket}`], {
      stdio: 'ignore',
      env: {
        ...process.env,
        CONTAINERS_CONF: join(folder, 'containers.conf'),
        CONTAINERS_REGISTRIES_CONF: join(folder, 'registries.conf'),
      },
    });
    for (let attempt = 0; attempt < 100 && service.exitCode === null; attempt += 1) {
      try {
        connection = await connect({ host: socket });
        return undefined;
      } catch {
        await after_(100);
      }
    }
    return 'podman system service does not start';
  }

  /** Ends what Podman leaves running for some minutes after a command in a container. */
  async function endMonitors(): Promise<void> {
    for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (/conmon\0/.test(line) && line.includes(`${folder}/`))
        process.kill(Number(pid), 'SIGKILL');
    }
  }

  const place = () => ({ env: { DOCKER_CONFIG: join(folder, 'config') }, home: folder });

  it('is told apart from Docker', () => {
    assert.equal(connection.product, 'podman');
    assert.match(connection.version, /^\d+\.\d+/);
    assert.equal(connection.rootless, process.getuid?.() !== 0);
    assert.equal(connection.architecture, process.arch === 'arm64' ? 'aarch64' : 'x86_64');
  });

  it('pulls, and says why it cannot', async () => {
    const name = `${registry.host}/pod/image:1`;
    const id = await publish(plainDocker, name, [500_000, 1_000_000]);
    const work = { reporter: silent };
    assert.equal(await pullImage(connection, name, work, place()), id);
    await assert.rejects(
      pullImage(connection, `${registry.host}/pod/image:2`, work, place()),
      ImageMissing,
    );
    await assert.rejects(
      pullImage(connection, `${registry.host}/nothing/here:1`, work, place()),
      ImageMissing,
    );
    await assert.rejects(
      pullImage(connection, '127.0.0.1:1/pod/image:1', work, place()),
      RegistryUnreachable,
    );
  });

  it('says when a pull is cut off', async function () {
    await publish(plainDocker, `${registry.host}/pod/cut:1`, [8_000_000]);
    const name = `${line.host}/pod/cut:1`;
    const settled = assert.rejects(
      pullImage(connection, name, { reporter: silent }, place()),
      RegistryUnreachable,
    );
    while (line.bytes < 1_000_000) await after_(20);
    line.cut();
    await settled;
    await assert.rejects(connection.docker.getImage(name).inspect());
  });

  it('makes, fills, runs and commits what sandboxes and images are made of', async () => {
    const { docker } = connection;
    await docker.loadImage(await plainDocker.getImage(base).get());
    const container = await docker.createContainer({
      Image: base,
      Cmd: ['python3', '-c', 'import signal; signal.pause()'],
      Labels: await containerLabels('build', { instance: 'pod-1' }),
      StopTimeout: 600,
      HostConfig: {
        NetworkMode: 'none',
        Memory: 2 ** 28,
        MemorySwap: 2 ** 28,
        PidsLimit: 64,
        CapDrop: ['ALL'],
        CapAdd: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETUID', 'SETGID'],
        SecurityOpt: ['no-new-privileges'],
        Tmpfs: { '/tmp': 'rw,exec,size=16m,mode=1777' },
        LogConfig: { Type: 'none', Config: {} },
      },
    });
    await container.start();
    await container.putArchive(await container.getArchive({ path: '/etc/hostname' }), {
      path: '/srv',
    });
    const exec = await container.exec({
      Cmd: ['sh', '-c', 'ls /srv; id -u; wc -c'],
      User: '1000:1000',
      AttachStdin: true,
      AttachStdout: true,
    });
    const stream = await exec.start({ hijack: true, stdin: true });
    stream.end(Buffer.alloc(1_000_000, 'x'));
    const parts: Buffer[] = [];
    for await (const part of stream as AsyncIterable<Buffer>) parts.push(part);
    const said = Buffer.concat(parts)
      .toString('latin1')
      .replace(/[^\w\n]/g, '');
    assert.match(said, /hostname[^]*1000[^]*1000000/);

    const wanted = imageLabels('environment', { repo: 'pod/pod' });
    const { Id } = (await container.commit({
      repo: 'swt-bench/pod',
      tag: 'one',
      changes: Object.entries(wanted).map(([key, value]) => `LABEL ${key}="${value}"`) as never,
    })) as { Id: string };
    const image = await docker.getImage(Id).inspect();
    for (const [key, value] of Object.entries(wanted))
      assert.equal(image.Config.Labels[key], value);
    const same = await docker.getImage('swt-bench/pod:one').inspect();
    assert.equal(same.Id, image.Id);

    // The container ignores SIGTERM: Podman by itself would wait ten minutes.
    await removeNow(container);
    assert.deepEqual(await docker.listContainers({ all: true }), []);
  });

  it('has the program of an agent in a volume that is only read', async () => {
    const { docker } = connection;
    const program = join(folder, 'program');
    await mkdir(join(program, 'bin'), { recursive: true });
    await writeFile(join(program, 'bin', 'hello'), '#!/bin/sh\necho hello\n', { mode: 0o755 });
    await symlink('hello', join(program, 'bin', 'link'));
    const volume = await makeProgramVolume(connection, program, base);
    const container = await docker.createContainer({
      Image: base,
      Cmd: ['python3', '-c', 'import signal; signal.pause()'],
      HostConfig: {
        NetworkMode: 'none',
        Mounts: [{ Type: 'volume', Source: volume, Target: programFolder, ReadOnly: true }],
      },
    });
    await container.start();
    const { output } = await attachProgram(container, [
      ...['sh', '-c', '/agent/bin/link; echo changed > /agent/bin/hello 2>/dev/null || echo kept'],
    ]);
    const parts: Buffer[] = [];
    for await (const part of output) parts.push(part);
    assert.equal(Buffer.concat(parts).toString(), 'hello\nkept\n');
    await removeAbandonedVolumes(connection);
    assert.equal((await docker.listVolumes()).Volumes.length, 1, 'its process has not ended');
    await removeNow(container);
    await removeVolume(connection, volume);
    assert.deepEqual((await docker.listVolumes()).Volumes ?? [], []);
  });
});

/** Exit status of a command; 127 when it is not there. */
async function command(name: string, args: readonly string[]): Promise<number> {
  const child = spawn(name, args, { stdio: 'ignore' });
  return Promise.race([
    once(child, 'exit').then(([code]) => Number(code)),
    once(child, 'error').then(() => 127),
  ]).catch(() => 127);
}
