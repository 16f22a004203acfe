import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { harnessPackages, harnessPython } from '../../bench/fidelity/harnessPython';

describe('an environment with the packages of the harness', function () {
  let folder: string;
  let own: string;
  before(async function () {
    if (process.platform === 'win32') this.skip();
    folder = await mkdtemp(join(tmpdir(), 'swt-harness-'));
    own = join(folder, 'own');
    await mkdir(join(own, 'bin'), { recursive: true });
    await script(join(own, 'bin', 'python'), 'exit 0');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function script(path: string, body: string): Promise<string> {
    await writeFile(path, `#!/bin/sh\n${body}\n`);
    await chmod(path, 0o755);
    return path;
  }
  const flask = (version: string) => ({ repo: 'pallets/flask', version });
  const make = async (version: string, uv: string) => {
    const scratch = join(folder, 'scratch');
    const places = { storage: folder, scratch };
    return harnessPython(flask(version), join(own, 'bin', 'python'), places, () =>
      Promise.resolve(uv),
    );
  };

  it('has those of the version, and is unknown for another project', () => {
    assert.ok(harnessPackages(flask('2.0'))?.includes('Jinja2==3.0.1'));
    assert.ok(harnessPackages(flask('2.3'))?.includes('Jinja2==3.1.2'));
    assert.equal(harnessPackages(flask('1.0')), undefined);
    assert.equal(harnessPackages({ repo: 'octo/cat', version: '2.0' }), undefined);
  });

  it('is a copy, made once, so that the environment of the row stays as it is', async () => {
    const log = join(folder, 'asked');
    const uv = await script(join(folder, 'uv'), `echo "$@" >> ${log}`);
    const made = await make('2.0', uv);
    assert.ok(made !== undefined && made.python !== join(own, 'bin', 'python'));
    assert.match(made.what, /Jinja2==3\.0\.1/);
    assert.deepEqual(await make('2.0', uv), made);
    const asked = (await readFile(log, 'utf8')).trim().split('\n');
    assert.equal(asked.length, 1);
    assert.match(asked[0] ?? '', /^pip install .*Werkzeug==2\.3\.7/);
    assert.ok(
      !asked[0]?.includes(`${own}/`),
      'nothing is installed into the environment of the row',
    );
  });

  it('is none where the packages do not fit, and nothing is left of it', async () => {
    const before = await readdir(join(folder, 'scratch', 'harness'));
    const uv = await script(join(folder, 'failing'), 'exit 1');
    assert.equal(await make('2.3', uv), undefined);
    assert.deepEqual(await readdir(join(folder, 'scratch', 'harness')), before);
  });
});
