import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Cancelled } from '../../src/domain/humanError';
import { silent } from '../../src/domain/reporter';
import { instanceEnvironment } from '../../src/engine/local/instanceEnvironment';
import { pythonOfVersion } from '../../src/engine/local/pythonOfVersion';
import { orSkip } from '../environments';
import { plain, useExample, write, type Example } from './exampleRepository';

describe('the environment that is made for an instance @full', function () {
  let example: Example;
  useExample((made) => (example = made));

  it('has its Python, its requirements as of its day, and of R only the metadata', async function () {
    const python = await pythonOfVersion('3.9', 'octo/cat').catch(() => this.skip());
    const { origin, base } = example;
    plain(origin, 'checkout', '-q', base);
    const setup =
      'from setuptools import setup\nsetup(name="cat", version="7", py_modules=["cat"], install_requires=["click"])\n';
    await write(origin, { 'setup.py': setup });
    plain(origin, 'add', 'setup.py');
    plain(origin, 'commit', '-qm', 'a project');
    const baseCommit = plain(origin, 'rev-parse', 'HEAD');
    const storage = await example.storage();
    const about = { baseCommit, createdAt: '2023-04-14T00:00:00Z' };
    const source = { kind: 'commit', from: origin } as const;
    const trees = await example.prepare(source, storage, about);
    const request = { instance: example.instance(about), tree: trees.base, storage };
    const steps: string[] = [];
    const work = { reporter: { ...silent, progress: (step: string) => void steps.push(step) } };
    const make = () => orSkip(this, 'packages', () => instanceEnvironment(request, work));
    const made = await make();
    const list = execFileSync(made, ['-m', 'pip', 'list', '--format', 'freeze']).toString();
    // The latest releases of that day.
    assert.match(list, /^pytest==7\.3\.[01]$/m);
    assert.match(list, /^click==8\.1\.3$/m);
    assert.match(list, /^cat==7$/m);
    const version = execFileSync(made, ['-c', 'import sys; print(sys.version_info[:2])']);
    assert.equal(version.toString().trim(), '(3, 9)');
    assert.throws(() => execFileSync(made, ['-c', 'import cat'], { cwd: '/', stdio: 'ignore' }));
    assert.ok(steps.some((step) => /installing \d+ packages/.test(step)));
    assert.equal(existsSync(join(trees.base, 'cat.egg-info')), false, 'R is as it was');
    steps.length = 0;
    assert.equal(await make(), made);
    assert.ok(
      steps.every((step) => !step.includes('installing')),
      'it is reused',
    );
    const folder = dirname(dirname(dirname(made)));
    const entries = await readdir(folder);
    assert.ok(
      entries.every((name) => !name.startsWith('.making')),
      entries.join(),
    );
    assert.notEqual(python, made);

    const abort = new AbortController();
    const asked = { ...request, storage: await example.storage() };
    const cancelled = instanceEnvironment(asked, {
      signal: abort.signal,
      reporter: { ...silent, progress: () => abort.abort() },
    });
    await assert.rejects(cancelled, Cancelled);
  });

  it('says how to get a Python that is not there', async () => {
    await assert.rejects(
      pythonOfVersion('3.99', 'octo/cat 1.0'),
      /Python 3\.99 is not on this machine, and octo\/cat 1\.0 needs it.*uv python install 3\.99/,
    );
  });
});
