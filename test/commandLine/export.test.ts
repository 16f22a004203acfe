import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { filesInTar } from '../../src/engine/sandbox/archive';
import { cli, sample } from './cli';
import { withOtherAnswer, type Row } from './otherAnswer';

const id = 'tallybook__tallybook-217';

/** Files below a folder by path, as text of bytes; archives are unpacked. */
async function filesBelow(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const path = join(entry.parentPath, entry.name);
    const content = await readFile(path);
    const name = path.slice(folder.length + 1);
    if (!name.endsWith('.tar.gz')) found.set(name, content.toString('latin1'));
    else {
      for (const { path: inner, content: bytes } of await filesInTar(gunzipSync(content)))
        found.set(`${name}/${inner}`, bytes.toString('latin1'));
    }
  }
  return found;
}

describe('the command export', () => {
  let folder = '';
  let row: Row;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-export-'));
    row = JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as Row;
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function exported(name: string, format: string, of: Row = row): Promise<string> {
    const dataset = join(folder, `${name}.jsonl`);
    await writeFile(dataset, JSON.stringify(of));
    const out = join(folder, name);
    const answer = await cli([
      ...['export', '--format', format, '--dataset', dataset, '--out', out],
      ...['--storage', join(folder, 'storage'), '--base-image', 'registry.test/python:{python}'],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    assert.equal(answer.stdout, `1 task: ${out}\n`);
    return out;
  }

  it('writes what Harbor reads of a task', async () => {
    const files = await filesBelow(await exported('harbor', 'harbor'));
    const names = [...files.keys()].filter((name) => !name.includes('.tar.gz/')).sort();
    assert.deepEqual(
      names.filter((name) => !name.includes('/requirements/')),
      [
        ...['environment/Dockerfile', 'environment/take_patch.sh', 'instruction.md'],
        ...['solution/golden_tests.patch', 'solution/solve.sh', 'task.toml'],
        ...['tests/grade.py', 'tests/instance.jsonl', 'tests/test.sh'],
      ].map((name) => `${id}/${name}`),
    );
    assert.match(
      files.get(`${id}/environment/Dockerfile`) ?? '',
      /^FROM registry\.test\/python:3\.9$/m,
    );
    assert.match(files.get(`${id}/task.toml`) ?? '', /^environment_mode = "separate"$/m);
    const program = `${id}/tests/swt-bench.tar.gz/swt-bench/dist`;
    assert.ok(files.has(`${program}/cli.js`));
    // A rebuilt image of the same bytes comes from a cache.
    assert.ok(!files.has(`${id}/environment/repository.tar.gz/testbed/.git/index`));
    assert.ok(files.has(`${program}/tracer/swt_tracer.py`));
  });

  for (const [format, forAgents] of [
    ['harbor', /^[^/]+\/(?:environment\/|instruction\.md)/],
    ['inspect', /^[^/]+\/(?:environment\/|instruction\.md|compose\.yaml|sample\.json)/],
  ] as const) {
    it(`gives agents the same bytes whatever the answer is: ${format}`, async () => {
      const one = await filesBelow(await exported(`${format}-one`, format));
      const other = await filesBelow(
        await exported(`${format}-other`, format, withOtherAnswer(row)),
      );
      const seen = (files: ReadonlyMap<string, string>): Map<string, string> =>
        new Map([...files].filter(([name]) => forAgents.test(name)));
      assert.ok(seen(one).size > 20);
      assert.deepEqual(seen(one), seen(other));
      const differing = [...one].filter(([name, text]) => other.get(name) !== text);
      assert.ok(differing.every(([name]) => /^[^/]+\/(?:tests|solution)\//.test(name)));
      assert.ok(differing.length > 0);
    });
  }

  it('takes the patch of an agent that staged, committed and left files that git ignores', async () => {
    const out = await exported('patch', 'harbor');
    const environment = join(out, id, 'environment');
    execFileSync('tar', ['-xzf', join(environment, 'repository.tar.gz'), '-C', folder]);
    const tree = join(folder, 'testbed');
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
        cwd: tree,
      }).toString();
    git('reset', '--quiet', '--hard');
    const commit = join(folder, 'commit');
    await writeFile(commit, git('rev-parse', 'HEAD'));
    await writeFile(join(tree, '.git', 'info', 'exclude'), 'installed/\n');
    await mkdir(join(tree, 'installed'));
    await writeFile(join(tree, 'installed', 'file.py'), '');
    await writeFile(join(tree, 'tests', 'test_one.py'), 'one\n');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'mine');
    await writeFile(join(tree, 'tests', 'test_two.py'), 'two\n');
    git('add', '--all');
    await writeFile(join(tree, 'tests', 'test_three.py'), 'three\n');
    const script = (await readFile(join(environment, 'take_patch.sh'), 'utf8')).replace(
      '/opt/swt-bench/commit',
      commit,
    );
    const patch = execFileSync('sh', ['-c', script, 'sh', tree]).toString();
    assert.deepEqual(
      [...patch.matchAll(/^\+\+\+ b\/(.*)$/gm)].map(([, path]) => path),
      ['tests/test_one.py', 'tests/test_three.py', 'tests/test_two.py'],
    );
    // What the agent has staged stays.
    assert.match(git('status', '--short'), /^A {2}tests\/test_two\.py$/m);
  });

  it('leaves out what the local engine cannot grade, and says so', async () => {
    const dataset = join(folder, 'compiled.jsonl');
    const compiled = { ...row, instance_id: 'compiled-1', repo: 'scikit-learn/scikit-learn' };
    await writeFile(dataset, [row, compiled].map((each) => JSON.stringify(each)).join('\n'));
    const out = join(folder, 'compiled');
    const answer = await cli([
      ...['export', '--format', 'harbor', '--dataset', dataset, '--out', out],
      ...['--source', join(sample, 'repository'), '--storage', join(folder, 'storage')],
    ]);
    assert.equal(answer.status, 1);
    assert.match(answer.stderr, /compiled-1 is left out: R has code to compile/);
    assert.deepEqual(await readdir(out), [id]);
  });

  it('leaves a folder with files in it alone', async () => {
    const out = join(folder, 'full');
    await mkdir(out);
    await writeFile(join(out, 'mine'), '');
    const answer = await cli([
      ...['export', '--format', 'harbor', '--dataset', 'bundled', '--out', out],
    ]);
    assert.equal(answer.status, 2);
    assert.match(answer.stderr, /full is not empty/);
    assert.deepEqual(await readdir(out), ['mine']);
  });

  it('writes nothing where an instance has no source', async () => {
    const out = join(folder, 'nothing');
    const answer = await cli([
      ...['export', '--format', 'inspect', '--dataset', 'bundled', '--out', out],
      ...['--source', join(folder, 'no-such-source'), '--storage', join(folder, 'storage')],
    ]);
    assert.equal(answer.status, 2, answer.stderr);
    assert.ok(!(await readdir(folder)).includes('nothing'));
  });
});
