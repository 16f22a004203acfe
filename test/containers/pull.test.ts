import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type DockerConnection } from '../../src/engine/docker/connection/connect';
import type { DockerFolder } from '../../src/engine/docker/connection/contexts';
import { pullImage } from '../../src/engine/docker/images/pull/pullImage';
import { ImageMissing, RegistryUnreachable } from '../../src/engine/docker/images/pull/pullProblem';
import { Cancelled, HumanError } from '../../src/domain/work';
import { needDocker, plainDocker } from './dockerForTests';
import { publish, Registry, SlowLine } from './registry';
import { skipSuite } from './skipping';

const rule = 'sweb.eval.x86_64.psf_1776_requests-1';

describe('pulling images @full', function () {
  let folder: string;
  let registry: Registry;
  let connection: DockerConnection;
  let place: DockerFolder;
  const pulled: string[] = [];
  const lines: SlowLine[] = [];
  let cutOff: Promise<void> | undefined;

  before(async function () {
    await needDocker(this, []);
    folder = await mkdtemp(join(tmpdir(), 'swt-pull-'));
    const started = await Registry.start(folder);
    if (started === undefined) skipSuite(this, 'there is no docker-registry');
    registry = started;
    connection = await connect();
    place = { env: { ...process.env, DOCKER_CONFIG: join(folder, 'config') }, home: folder };
    await mkdir(join(folder, 'config'));
    // Started early, so that the last test, which needs its result, need not wait for all of it.
    cutOff = pullCut();
    cutOff.catch(() => undefined);
  });

  after(async () => {
    for (const name of pulled) {
      await plainDocker
        .getImage(name)
        .remove({ force: true })
        .catch(() => undefined);
    }
    for (const line of lines) line.cut();
    await registry?.stop();
    await connection?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  /** A pull whose connection is cut on the way. The engine retries for over a minute. */
  const pullCut = async (): Promise<void> => {
    const line = await slowly(20_000);
    await publish(plainDocker, `${registry.host}/cut:1`, [6_000_000]);
    const name = `${line.host}/cut:1`;
    const { told, work } = listening();
    const pull = pullImage(connection, name, work, place);
    const settled = assert.rejects(pull, (error) => {
      assert.ok(error instanceof RegistryUnreachable, String(error));
      assert.match(error.what, /^The pull of .*\/cut:1 was cut off after [1-9]\d*\.\d MB: /);
      assert.ok(!/\n/.test(error.message));
      return true;
    });
    while (!/: [1-9]\d*\.\d of/.test(told.progress.at(-1) ?? '')) await turn();
    line.cut();
    await settled;
    assert.ok(told.progress.some((each) => /retrying in \d+ second/.test(each)));
    assert.equal(await isHere(name), false);
  };

  /** A reporter that records its messages. */
  const listening = (signal?: AbortSignal) => {
    const told = { progress: [] as string[], log: [] as string[] };
    const reporter = {
      progress: (step: string) => void told.progress.push(step),
      log: (line: string) => void told.log.push(line),
    };
    return { told, work: { reporter, signal } };
  };

  const slowly = async (pace: number): Promise<SlowLine> => {
    const line = await SlowLine.open(registry.port, pace);
    lines.push(line);
    return line;
  };

  const isHere = (name: string): Promise<boolean> =>
    plainDocker
      .getImage(name)
      .inspect()
      .then(() => true)
      .catch(() => false);

  it('brings an image by the naming rule, tells how far it is, and its digest', async () => {
    const name = `${registry.host}/swebench/${rule}:latest`;
    const id = await publish(plainDocker, name, [1_000_000, 3_000_000]);
    pulled.push(name);
    const { told, work } = listening();
    assert.equal(await pullImage(connection, name, work, place), id);
    assert.ok(await isHere(name));
    assert.match(told.progress.at(-1) ?? '', /: 4\.0 of 4\.0 MB, 2 of 2 layers$/);
    const { RepoDigests } = await plainDocker.getImage(name).inspect();
    const [, digest = 'none'] = RepoDigests[0]?.split('@') ?? [];
    assert.match(told.log.at(-1) ?? '', new RegExp(`${id}, digest ${digest}, 4\\.0 of`));
    // By its digest as well, which is how a row pins an image.
    await plainDocker.getImage(name).remove({ force: true });
    const pinned = `${registry.host}/swebench/${rule}@${digest}`;
    pulled.push(pinned);
    assert.equal(await pullImage(connection, pinned, listening().work, place), id);
  });

  it('says that an image is missing: no such repository, no such tag', async () => {
    const there = `${registry.host}/there:one`;
    await publish(plainDocker, there, [1000]);
    for (const name of [`${registry.host}/nothing/here:latest`, `${registry.host}/there:two`]) {
      await assert.rejects(pullImage(connection, name, listening().work, place), (error) => {
        assert.ok(error instanceof ImageMissing, String(error));
        assert.ok(error.what.startsWith(`There is no image ${name}: `));
        assert.ok(error.next);
        return true;
      });
    }
  });

  it('says that the registry cannot be reached', async () => {
    const line = await slowly(1000);
    line.cut();
    await assert.rejects(
      pullImage(connection, `${line.host}/some/image:latest`, listening().work, place),
      (error) => {
        assert.ok(error instanceof RegistryUnreachable, String(error));
        assert.match(error.what, /^The registry 127\.0\.0\.1:\d+ cannot be reached to pull /);
        return true;
      },
    );
  });

  it('stops for good when it is cancelled', async () => {
    const line = await slowly(20_000);
    await publish(plainDocker, `${registry.host}/cancel:1`, [20_000_000]);
    const name = `${line.host}/cancel:1`;
    pulled.push(name);
    const stop = new AbortController();
    const { told, work } = listening(stop.signal);
    const pull = pullImage(connection, name, work, place);
    const settled = assert.rejects(pull, Cancelled);
    while (!/: [1-9]\d*\.\d of/.test(told.progress.at(-1) ?? '')) await turn();
    stop.abort();
    await settled;
    // Receive some data, then cut the line: the whole image would be 20 MB.
    let before = -1;
    while (before !== line.bytes) {
      before = line.bytes;
      await new Promise((next) => setTimeout(next, 500));
    }
    assert.ok(line.bytes < 20_000_000, `${line.bytes} bytes came`);
    assert.equal(await isHere(name), false);
    // The next pull is complete.
    line.pace = 1e6;
    await pullImage(connection, name, listening().work, place);
    assert.ok(await isHere(name));
  });

  describe('from a registry that wants a login', () => {
    let guarded: Registry;
    let name: string;

    before(async function () {
      const inner = join(folder, 'guarded');
      await mkdir(inner);
      // The bcrypt hash of tester:secret.
      const password = '$2y$05$tTQ99AUT7nqYcCPyKc65x.J8WxBNOB0kS6LXrQW8sTL/xmUEKl7aO';
      guarded = (await Registry.start(inner, `tester:${password}\n`))!;
      name = `${guarded.host}/private/image:1`;
      const login = { username: 'tester', password: 'secret', serveraddress: guarded.host };
      await publish(plainDocker, name, [1000], login);
      pulled.push(name);
    });
    after(() => guarded?.stop());

    const configure = (content: unknown) =>
      writeFile(join(folder, 'config', 'config.json'), JSON.stringify(content));

    it('says that it wants one', async () => {
      await assert.rejects(pullImage(connection, name, listening().work, place), (error) => {
        assert.ok(error instanceof HumanError && !(error instanceof ImageMissing), String(error));
        assert.match(error.what, /wants a login for/);
        assert.equal(error.next, `Log in with: docker login ${guarded.host}`);
        return true;
      });
    });

    it('uses what docker login wrote', async () => {
      const auth = Buffer.from('tester:secret').toString('base64');
      await configure({ auths: { [guarded.host]: { auth } } });
      const { told, work } = listening();
      await pullImage(connection, name, work, place);
      assert.ok(await isHere(name));
      assert.ok(!JSON.stringify(told).includes('secret'));
      await plainDocker.getImage(name).remove({ force: true });
    });

    it('asks a credential helper', async () => {
      const programs = join(folder, 'bin');
      await mkdir(programs);
      const helper = join(programs, 'docker-credential-tests');
      await writeFile(
        helper,
        `#!/bin/sh\nread server\n[ "$1 $server" = "get ${guarded.host}" ] || { echo "credentials not found in native keychain"; exit 1; }\n` +
          `echo '{"ServerURL":"x","Username":"tester","Secret":"secret"}'\n`,
      );
      await chmod(helper, 0o755);
      await configure({ credsStore: 'tests' });
      const path = `${programs}:${process.env['PATH']}`;
      const asking = { ...place, env: { ...place.env, PATH: path } };
      await pullImage(connection, name, listening().work, asking);
      assert.ok(await isHere(name));
      await plainDocker.getImage(name).remove({ force: true });
      // A missing helper is reported, and the registry's answer follows.
      await configure({ credHelpers: { [guarded.host]: 'absent' } });
      const { told, work } = listening();
      await assert.rejects(pullImage(connection, name, work, asking), /wants a login/);
      assert.match(told.log[0] ?? '', /^docker-credential-absent gave no login for /);
    });
  });

  describe('over a line that is cut', function () {
    it('says that it was cut off, and leaves nothing half', () => cutOff);
  });
});

const turn = (): Promise<void> => new Promise((next) => setTimeout(next, 20));
