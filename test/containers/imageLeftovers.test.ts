import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { silent } from '../../src/domain/work';
import type { Instance } from '../../src/domain/instance';
import type { Engine, Sandbox, Sandboxes } from '../../src/engine/engine';
import { engines } from '../../src/engine/engines';
import { contentTime, openEngine } from '../../src/engine/sandbox';
import { environments } from '../../src/environments/environments';
import type { Trees } from '../../src/repository/trees';
import { filesOfR, plain, useExample, write, type Example } from '../processes/exampleRepository';
import { ask } from '../contract/run';
import { baseImage, needDocker, removeImagesOf, testSettings } from './dockerForTests';

/** Only the fix contains this text. A test in the sandbox searches for its reverse. */
const secret = 'said_by_the_fix_alone';

/** Files that an image has beside R: the path, and whether tests may still read it. */
const brought: readonly (readonly [path: string, stays: boolean])[] = [
  // In the tree: what running, testing and editing leave behind, whether git ignores it or not.
  ['/testbed/__pycache__/cat.cpython-39.pyc', false],
  ['/testbed/tests/__pycache__/test_cat.cpython-39-pytest-7.0.0.pyc', false],
  ['/testbed/.pytest_cache/v/cache/lastfailed', false],
  ['/testbed/.cache/v/cache/lastfailed', false],
  ['/testbed/.mypy_cache/3.9/cat.meta.json', false],
  ['/testbed/.ruff_cache/x', false],
  ['/testbed/.hypothesis/examples/x', false],
  ['/testbed/.tox/py39/log/1.log', false],
  ['/testbed/.coverage', false],
  ['/testbed/htmlcov/cat_py.html', false],
  ['/testbed/cat.py.orig', false],
  ['/testbed/cat.py.rej', false],
  ['/testbed/.cat.py.swp', false],
  ['/testbed/cat.py~', false],
  ['/testbed/model.patch', false],
  ['/testbed/ignored/fix.diff', false],
  ['/testbed/solution.py', false],
  ['/testbed/build/lib/cat.py', false],
  ['/testbed/build/lib.linux-x86_64-3.9/cat.py', false],
  ['/testbed/dist/cat-1.tar', false],
  ['/testbed/vendor/clone/.git/packed-refs', false],
  // What a build makes and tests need.
  ['/testbed/fast.cpython-39-x86_64-linux-gnu.so', true],
  ['/testbed/cat.egg-info/PKG-INFO', true],
  ['/testbed/_version.py', true],
  ['/testbed/ignored/generated.py', true],
  ['/testbed/build/temp.linux-x86_64-3.9/fast.o', true],
  // Outside the tree.
  ['/eval.sh', false],
  ['/patch.diff', false],
  ['/solution/solve.sh', false],
  ['/root/setup_repo.sh', false],
  ['/root/later/.git/packed-refs', false],
  ['/home/nonroot/fix.diff', false],
  ['/srv/fix.diff', false],
  ['/tmp/test.patch', false],
  ['/var/tmp/gold.patch', false],
  ['/opt/clone/.git/packed-refs', false],
];
/** A file that stays does not contain the text of the fix. */
const said = ([, stays]: readonly [string, boolean]): string => (stays ? 'built' : secret);

describe('an image that somebody else made', function () {
  const name = `swt-test/leftovers:${randomBytes(4).toString('hex')}`;
  const id = `octo__cat-${randomBytes(4).toString('hex')}`;
  let example: Example;
  let instance: Instance;
  let trees: Trees;
  let engine: Engine | undefined;
  let opened: Sandboxes<'base'> | undefined;
  before(async function () {
    await needDocker(this);
  });
  useExample((made) => (example = made));
  before(async () => {
    const { origin } = example;
    plain(origin, 'checkout', '-q', example.base);
    await write(origin, { '.gitignore': '*.pyc\nbuild/\nignored/\n.tox\n.coverage\n*.so\n' });
    plain(origin, 'commit', '-qam', 'more');
    const baseCommit = plain(origin, 'rev-parse', 'HEAD');
    // A later commit, on a branch in the image.
    await write(origin, { 'cat.py': `def purr():\n    return 2  # ${secret}\n` });
    const goldenPatch = `${plain(origin, 'diff')}\n`;
    plain(origin, 'commit', '-qam', `fix: ${secret}`);
    plain(origin, 'branch', 'future');
    plain(origin, 'reset', '-q', '--hard', baseCommit);
    makeImage(name, origin);
    const more = {
      ...{ id, baseCommit, goldenPatch, goldenTests: '' },
      environment: { image: name, folder: '/testbed' },
    };
    const storage = await example.storage();
    trees = await example.prepare({ kind: 'commit', from: origin }, storage, more);
    instance = example.instance(more);
    engine = await openEngine({
      engines,
      environments,
      ...{ name: 'docker', storage, assets: resolve('src/engine') },
      values: { docker: testSettings() },
    });
    const place = await engine.prepare(instance, trees, { reporter: silent, audience: 'model' });
    opened = await place.openPair({ reporter: silent }, ['base']);
    await opened.base.load('');
  });
  after(async () => {
    await opened?.dispose();
    await engine?.dispose();
    await removeImagesOf(id);
    execFileSync('docker', ['image', 'rm', '--force', name], { stdio: 'ignore' });
  });
  const sandbox = (): Sandbox => {
    if (opened === undefined) throw new Error('asked for before the tests run');
    return opened.base;
  };

  it('keeps in its tree what a build needs, and around it what programs need', async () => {
    const readable = await ask<string[]>(
      sandbox(),
      `
import json
found = []
for path in ${JSON.stringify(brought.map(([path]) => path))}:
    try: open(path, "rb").close(); found.append(path)
    except OSError: pass
print(json.dumps(found))`,
    );
    const stays = brought.filter((each) => each[1]).map(([path]) => path);
    // The compiled file in the tree is made again, from R.
    assert.deepEqual(
      readable.filter((path) => path !== '/testbed/__pycache__/cat.cpython-39.pyc').sort(),
      stays.sort(),
    );
  });

  it('tells a model nothing of what came after R: not in files, the repository, names or variables', async () => {
    const found = await ask<unknown[]>(
      sandbox(),
      `
import json, os, stat, subprocess
word = "${[...secret].reverse().join('')}"[::-1].encode()
found = [os.environ[key] for key in os.environ if word in os.environ[key].encode() or "${id}" in os.environ[key]]
for folder, folders, names in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/dev")]
    for name in folders + names:
        path = os.path.join(folder, name)
        if word in path.encode() or "${id}" in path: found.append(path)
        try:
            if stat.S_ISREG(os.stat(path).st_mode) and word in open(path, "rb").read(): found.append(path)
        except OSError: pass
for words in ["log --all -p", "fsck --unreachable --no-reflogs --no-progress", "for-each-ref", "status --porcelain"]:
    said = subprocess.run(["git"] + words.split(), stdout=-1, stderr=-2).stdout
    if word in said or words[0] not in "l" and said.strip() and "for-each" not in words: found.append([words, said.decode()])
hidden = subprocess.run(["git", "cat-file", "--batch-all-objects", "--batch"], stdout=-1).stdout
if word in hidden: found.append("an object")
for path in "/etc/hostname", "/etc/hosts", "/proc/self/cgroup", "/proc/1/cmdline":
    if "${id}" in open(path).read(): found.append(path)
print(json.dumps(found))`,
    );
    assert.deepEqual(found, []);
  });

  it('is compiled from R', async () => {
    const code = `
import importlib.util, json, marshal
data = open(importlib.util.cache_from_source("/testbed/cat.py"), "rb").read()
import cat
print(json.dumps([marshal.loads(data[16:]).co_filename.endswith("cat.py"), cat.purr()]))`;
    assert.deepEqual(await ask(sandbox(), code), [true, 1]);
  });

  it('keeps what was compiled from R, as an image has that was pushed', async () => {
    const code = `
import importlib.util, json, marshal
data = open(importlib.util.cache_from_source("/testbed/tests/test_cat.py"), "rb").read()
print(json.dumps(marshal.loads(data[16:]).co_filename))`;
    assert.equal(await ask(sandbox(), code), 'in the image');
  });

  it('lets tests write nowhere but in the tree and in places that are emptied', async () => {
    const places = await ask<string[]>(
      sandbox(),
      `
import json, os
found = []
for folder, folders, names in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/dev", "/testbed")]
    found += [path for path in [folder] + [os.path.join(folder, name) for name in names] if not os.path.islink(path) and os.access(path, os.W_OK)]
print(json.dumps(found))`,
    );
    const emptied = /^\/(tmp|var\/tmp|run\/lock)(\/|$)/;
    assert.deepEqual(
      places.filter((path) => !emptied.test(path)),
      [],
    );
  });
});

/** Compiles a file of the tree with the time that a source of R gets from its contents. */
const compile = `
import importlib.util, marshal, struct, sys
path, time = sys.argv[1:]
text = open(path, "rb").read()
with open(importlib.util.cache_from_source(path), "wb") as file:
    file.write(importlib.util.MAGIC_NUMBER + bytes(4) + struct.pack("<LL", int(time), len(text)))
    file.write(marshal.dumps(compile(text, "in the image", "exec")))
`;

/** An image like those of SWE-bench: the whole history, an environment, and leftovers of work. */
function makeImage(name: string, origin: string): void {
  const container = execFileSync(
    'docker',
    [
      ...['create', '--network', 'none', '--entrypoint', 'sleep'],
      ...[baseImage.replace('{python}', '3.9'), '600'],
    ],
    { encoding: 'utf8' },
  ).trim();
  const docker = (...args: string[]): void => {
    execFileSync('docker', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  };
  try {
    docker('cp', `${origin}/.`, `${container}:/testbed`);
    docker('start', container);
    const files = brought
      .map((each) => `mkdir -p '${join(each[0], '..')}'; echo ${said(each)} > '${each[0]}'`)
      .join('\n');
    const script = `
set -e
cd /testbed
${files}
find / -xdev -name site-packages -exec chmod 777 {} +
mkdir -p /opt/open && chmod 777 /opt/open && echo x > /opt/open/file && chmod 666 /opt/open/file
mkdir -p /var/lib/mine && chown -R 1000:1000 /var/lib/mine
chmod 755 /root; chmod -R a+rX /root /home /srv /solution
`;
    docker('exec', container, 'sh', '-c', script);
    const path = 'tests/test_cat.py';
    const time = contentTime(Buffer.from(filesOfR[path] ?? ''));
    docker('exec', '-w', '/testbed', container, 'python3', '-c', compile, path, String(time));
    docker('commit', container, name);
  } finally {
    docker('rm', '--force', container);
  }
}
