import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { treeLink } from '../../../src/engine/environmentMaker';
import { harnessPackages, harnessPython } from '../../bench/fidelity/harnessPython';

describe('an environment with the packages of the harness', function () {
  let folder: string;
  let own: string;
  before(async function () {
    if (process.platform === 'win32') this.skip();
    folder = await mkdtemp(join(tmpdir(), 'swt-harness-'));
    own = join(folder, 'own');
    await mkdir(join(own, 'bin'), { recursive: true });
    const site = join(own, 'lib', 'python3.9', 'site-packages');
    for (const name of ['flask-2.0.dist-info', 'click-7.0.dist-info']) {
      await mkdir(join(site, name), { recursive: true });
    }
    await writeFile(join(site, treeLink), 'link');
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

  it('has those of the version, and none for a project that the harness adds nothing to', () => {
    assert.ok(harnessPackages(flask('2.0')).includes('Jinja2==3.0.1'));
    assert.ok(harnessPackages(flask('2.3')).includes('Jinja2==3.1.2'));
    assert.deepEqual(harnessPackages(flask('1.0')), []);
    assert.deepEqual(harnessPackages({ repo: 'octo/cat', version: '2.0' }), []);
  });

  /** In place of uv: answers as it does, makes the folders of an environment, and notes the rest. */
  const standIn = (log: string) =>
    script(
      join(folder, 'uv'),
      `case "$1 $2" in
"venv "*) for last; do :; done; mkdir -p "$last/bin" "$last/lib/python3.9/site-packages"; printf '#!/bin/sh' > "$last/bin/python"; chmod +x "$last/bin/python" ;;
"pip freeze") printf 'click==7.0\nblinker==1.4\nflask @ file:///tree\n' ;;
*) echo "$@" >> ${log} ;;
esac`,
    );

  it('is another one, made once, so that the environment of the row stays as it is', async () => {
    const log = join(folder, 'asked');
    const uv = await standIn(log);
    const made = await make('2.0', uv);
    assert.ok(made !== undefined && made.python !== join(own, 'bin', 'python'));
    assert.match(made.what, /Jinja2==3\.0\.1.*the others as of 2023-10-01/);
    assert.deepEqual(await make('2.0', uv), made);
    const asked = (await readFile(log, 'utf8')).trim().split('\n');
    assert.equal(asked.length, 1);
    const words = asked[0]?.split(' ') ?? [];
    assert.ok(
      words.includes('click==8.0.1') && words.includes('blinker'),
      'the others are unpinned',
    );
    assert.ok(!words.includes('click') && !words.includes('flask'), 'neither twice, nor R itself');
    assert.equal(words[words.indexOf('--exclude-newer') + 1], '2023-10-01');
    assert.ok(
      !asked[0]?.includes(`${own}/`),
      'nothing is installed into the environment of the row',
    );
    const site = join(made.python, '..', '..', 'lib', 'python3.9', 'site-packages');
    assert.deepEqual((await readdir(site)).sort(), ['flask-2.0.dist-info', treeLink]);
  });

  it('is none where the packages do not fit, and nothing is left of it', async () => {
    const before = await readdir(join(folder, 'scratch', 'harness'));
    const uv = await script(join(folder, 'failing'), 'exit 1');
    assert.equal(await make('2.3', uv), undefined);
    assert.deepEqual(await readdir(join(folder, 'scratch', 'harness')), before);
  });
});
