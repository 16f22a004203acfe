import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  environmentPlan,
  planDigest,
  withCompilers,
  type EnvironmentPlan,
} from '../../../src/environments/environmentPlan';

describe('the plan of an environment', () => {
  let tree: string;
  beforeEach(async () => {
    tree = await mkdtemp(join(tmpdir(), 'swt-bench-plan-'));
  });
  afterEach(() => rm(tree, { recursive: true, force: true }));

  const row = { repo: 'octo/cat', version: '2.1', createdAt: '2020-02-03T04:05:06Z' };
  const write = async (files: Readonly<Record<string, string>>): Promise<void> => {
    await mkdir(tree, { recursive: true });
    for (const [path, text] of Object.entries(files)) await writeFile(join(tree, path), text);
  };
  const planOf = (more: Partial<typeof row> = {}): Promise<EnvironmentPlan> =>
    environmentPlan({ ...row, ...more }, tree);

  it('is data that can be printed, with all that is to be made', async () => {
    await write({ 'setup.py': 'setup(name="cat", setup_requires=["cython<3"])' });
    const plan = await planOf();
    assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
    assert.deepEqual(
      [plan.title, plan.python, plan.day, plan.installation],
      [
        'octo/cat 2.1',
        '3.9',
        '2020-02-03',
        { install: 'editable', preInstall: [], version: '2.1.0' },
      ],
    );
    assert.deepEqual(plan.packages.build, ['setuptools', 'wheel', 'cython<3']);
    assert.deepEqual(plan.system.packages, ['build-essential', 'ccache', 'python3-dev']);
  });

  it('has compilers only where something shows that R compiles', async () => {
    await write({ 'setup.py': 'setup(name="cat")' });
    const plan = await planOf();
    assert.deepEqual(plan.system.packages, []);
    const built = withCompilers(plan);
    assert.deepEqual(built.system.packages, ['build-essential', 'ccache', 'python3-dev']);
    assert.deepEqual({ ...built, system: plan.system }, plan);
    assert.notEqual(planDigest(built), planDigest(plan));
  });

  it('has a digest that changes with what is made, and with nothing else', async () => {
    await write({ 'setup.py': 'setup(name="cat")', 'README.md': 'a cat' });
    const digest = planDigest(await planOf());
    await write({ 'README.md': 'two cats', 'test_cat.py': 'assert True' });
    assert.equal(planDigest(await planOf({ createdAt: '2020-02-03T23:00:00Z' })), digest);
    const others = [await planOf({ createdAt: '2020-02-04' }), await planOf({ version: '2.2' })];
    await write({ 'pyproject.toml': '[build-system]\nrequires = ["flit-core"]\n' });
    others.push(await planOf());
    const all = [digest, ...others.map(planDigest)];
    assert.equal(new Set(all).size, all.length);
  });

  it('brings the services of a recipe along, as of their own day', async () => {
    const { services } = await planOf({ repo: 'psf/requests' });
    assert.deepEqual(
      services.map(({ name, day }) => [name, day]),
      [['httpbin', '2024-06-01']],
    );
  });
});
