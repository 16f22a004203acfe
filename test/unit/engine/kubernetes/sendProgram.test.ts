import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cancelled, HumanError } from '../../../../src/domain/work';
import { SandboxUnusable } from '../../../../src/engine/engine';
import { sendProgram } from '../../../../src/engine/kubernetes/sendProgram';
import { programBytes } from '../../../../src/engine/sandbox/programArchive';
import { channelMessage, servePodStreams, type PodStreamServer } from './podStreamServer';

/** What ends the container, and would end this machine. */
const ending = 'os.kill(1, signal.SIGTERM)';

describe('the program of an agent', () => {
  let folder = '';
  let from = '';
  let to = '';
  let server: PodStreamServer;
  let containers: string[];
  const programs: ChildProcess[] = [];
  /** Does something with a program that has begun. */
  let onProgram: (program: ChildProcess) => void;

  // An API server whose pods are processes of this machine.
  before(async () => {
    server = await servePodStreams((peer, url) => {
      const query = new URL(url, 'http://c').searchParams;
      containers.push(query.get('container') ?? '');
      const [program = '', ...argv] = query.getAll('command');
      assert.ok(argv.some((word) => word.includes(ending)));
      const words = argv.map((word) =>
        word === '/agent' ? to : word.replace(ending, 'os.write(1, b"ended")'),
      );
      const child = spawn(program, words);
      programs.push(child);
      child.stdout.on('data', (data: Buffer) => peer.send(channelMessage(1, data)));
      child.stderr.on('data', (data: Buffer) => peer.send(channelMessage(2, data)));
      child.stdin.on('error', () => undefined);
      child.on('close', () => peer.close());
      peer.on('message', (data) => child.stdin.write(data.subarray(1)));
      peer.on('close', () => child.kill('SIGKILL'));
      onProgram(child);
    });
  });
  beforeEach(async () => {
    containers = [];
    onProgram = () => undefined;
    folder = await mkdtemp(join(tmpdir(), 'swt-program-'));
    [from, to] = [join(folder, 'from'), join(folder, 'to')];
    await mkdir(join(from, 'bin'), { recursive: true });
    await mkdir(to);
    await writeFile(join(from, 'bin', 'run'), '#!/bin/sh\n');
    await chmod(join(from, 'bin', 'run'), 0o700);
    await symlink('bin/run', join(from, 'link'));
    await writeFile(join(from, 'large'), Buffer.alloc(3 << 20, 7));
  });
  afterEach(() => rm(folder, { recursive: true }));
  after(() => {
    for (const each of programs) each.kill('SIGKILL');
    server.close();
  });

  const send = (signal?: AbortSignal): Promise<void> =>
    sendProgram(server.cluster, 'pod-1', { folder: from, pythons: ['python3'] }, signal);

  it('is unpacked by the container that may write it, which everybody may then read', async () => {
    await send();
    assert.deepEqual(containers, ['program']);
    assert.deepEqual(await readFile(join(to, 'large')), Buffer.alloc(3 << 20, 7));
    assert.equal(await readlink(join(to, 'link')), 'bin/run');
    assert.equal((await stat(join(to, 'bin', 'run'))).mode & 0o777, 0o755);
    assert.equal((await stat(join(to, 'large'))).mode & 0o777, 0o644);
    assert.ok((await programBytes(from)) >= 3 << 20);
  });

  it('is a fault of the sandbox where it does not fit, with what the container said', async () => {
    await rm(to, { recursive: true });
    await writeFile(to, 'no folder');
    await assert.rejects(send(), (error: unknown) => {
      assert.ok(error instanceof SandboxUnusable);
      assert.match(
        error.message,
        /Could not send the agent in .* to the pod pod-1: .*(File exists|Not a dir)/,
      );
      return true;
    });
  });

  it('is a fault of the sandbox where the container ends in the middle', async () => {
    onProgram = (program) => program.kill('SIGKILL');
    await assert.rejects(send(), SandboxUnusable);
  });

  it('that is not there is named, and tried no second time', async () => {
    await rm(from, { recursive: true });
    for (const work of [() => send(), () => programBytes(from)]) {
      await assert.rejects(work, (error: unknown) => {
        assert.ok(error instanceof HumanError && !(error instanceof SandboxUnusable));
        assert.match(error.message, /The agent folder .*from cannot be read/);
        return true;
      });
    }
  });

  it('is sent no further when the work is cancelled', async () => {
    const controller = new AbortController();
    onProgram = () => controller.abort();
    await assert.rejects(send(controller.signal), Cancelled);
  });
});
