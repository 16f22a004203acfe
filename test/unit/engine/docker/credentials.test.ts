import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HumanError } from '../../../../src/domain/work';
import {
  registryLogin,
  type RegistryLogin,
} from '../../../../src/engine/docker/images/pull/registryLogin';

describe('logins of registries', () => {
  let folder: string;
  let logged: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-login-'));
    logged = [];
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const configure = (content: unknown): Promise<void> =>
    writeFile(join(folder, 'config.json'), JSON.stringify(content));
  const loginOf = (registry: string): Promise<RegistryLogin | undefined> =>
    registryLogin(
      registry,
      { env: { DOCKER_CONFIG: folder, PATH: `${folder}:${process.env['PATH']}` }, home: folder },
      (line) => logged.push(line),
    );
  const basic = (text: string): string => Buffer.from(text).toString('base64');

  it('are none without a configuration', async () => {
    assert.equal(await loginOf('reg.io'), undefined);
    await configure({ auths: { 'reg.io': {}, 'other.io': { auth: basic('a:b') } } });
    assert.equal(await loginOf('reg.io'), undefined);
    assert.deepEqual(logged, []);
  });

  it('are read as docker login writes them, now and formerly', async () => {
    await configure({
      auths: {
        'https://index.docker.io/v1/': { auth: basic('hub:pass:word') },
        'https://old.io/v2/': { auth: basic('old:secret\0\0') },
        'token.io:5000': { identitytoken: 'abc' },
        'plain.io': { username: 'u', password: 'p' },
        'bad.io': { auth: '!!' },
      },
    });
    assert.deepEqual(await loginOf('docker.io'), {
      username: 'hub',
      password: 'pass:word',
      serveraddress: 'https://index.docker.io/v1/',
    });
    assert.deepEqual(await loginOf('old.io'), {
      ...{ username: 'old', password: 'secret', serveraddress: 'old.io' },
    });
    assert.deepEqual(await loginOf('token.io:5000'), {
      ...{ identitytoken: 'abc', serveraddress: 'token.io:5000' },
    });
    assert.deepEqual(await loginOf('plain.io'), {
      ...{ username: 'u', password: 'p', serveraddress: 'plain.io' },
    });
    assert.equal(await loginOf('bad.io'), undefined);
  });

  it('come from a helper, which is asked for the server on its input', async function () {
    if (process.platform === 'win32') return this.skip();
    const helper = join(folder, 'docker-credential-mine');
    const lines = [
      '#!/bin/sh',
      `cat > "${folder}/asked"`,
      `case "$(cat "${folder}/asked")" in`,
      `token.io) echo '{"ServerURL":"x","Username":"<token>","Secret":"t"}';;`,
      `good.io) echo '{"ServerURL":"x","Username":"u","Secret":"s"}';;`,
      'odd.io) echo "{secret";;',
      '*) echo "credentials not found in native keychain"; exit 1;;',
      'esac',
    ];
    await writeFile(helper, `${lines.join('\n')}\n`);
    await chmod(helper, 0o755);
    await configure({ credsStore: 'mine', auths: { 'absent.io': { auth: basic('a:b') } } });
    assert.deepEqual(await loginOf('good.io'), {
      ...{ username: 'u', password: 's', serveraddress: 'good.io' },
    });
    assert.equal(await readFile(join(folder, 'asked'), 'utf8'), 'good.io');
    assert.deepEqual(await loginOf('token.io'), { identitytoken: 't', serveraddress: 'token.io' });
    assert.equal((await loginOf('absent.io'))?.username, 'a');
    assert.deepEqual(logged, []);
    assert.equal(await loginOf('odd.io'), undefined);
    assert.match(logged[0] ?? '', /^docker-credential-mine gave no login for odd\.io: /);
    assert.ok(!logged.join().includes('secret'));
  });

  it('need no helper that is not there, and run none that is more than a name', async () => {
    await configure({ credHelpers: { 'reg.io': '../../evil', 'gone.io': 'gone' } });
    assert.equal(await loginOf('reg.io'), undefined);
    assert.equal(await loginOf('gone.io'), undefined);
    assert.equal(logged.length, 2);
  });

  it('are not guessed from a damaged configuration', async () => {
    await configure({ auths: [] });
    await assert.rejects(loginOf('reg.io'), HumanError);
  });
});
