import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentDockerfile } from '../../../src/environments/environmentDockerfile';
import type { EnvironmentPlan } from '../../../src/environments/environmentPlan';

const plan: EnvironmentPlan = {
  title: 'owner/name 1.0',
  repo: 'owner/name',
  python: '3.9',
  day: '2022-03-01',
  packages: {
    requirements: ['pytest', "odd ; python_version < '3.9'", '$(touch here) `id`'],
    constraints: ['numpy<2'],
    build: ['setuptools'],
    extras: ['tests'],
    overrides: ["left-out; python_version < '0'"],
    project: 'setup.py',
    hosts: [],
    name: 'name',
  },
  system: { packages: [], programs: {}, locales: [] },
  services: [],
  installation: {
    install: 'editable',
    preInstall: [['sed', '-i', "s/'a'/b/", 'x']],
    version: '1.0.0',
  },
};
const parts = {
  ...{ baseImage: 'python:3.9-bookworm', folder: '/testbed', archive: 'repository.tar.gz' },
  ...{ tag: 'v1.0.0', programs: ['node==1'], today: '2022-04-15' },
};

describe('the Dockerfile of an environment', () => {
  it('installs what the plan says, in its order', async () => {
    const text = (await environmentDockerfile(plan, parts)).get('Dockerfile') ?? '';
    const order = ['FROM ', 'git --version', 'uv==', '-m venv', 'ADD repository', 'install.sh']
      .concat([
        "sed -i 's/'\\''a'\\''/b/' x",
        '--no-build-isolation --editable .',
        'git tag v1.0.0',
      ])
      .map((each) => text.indexOf(each));
    assert.ok(!order.includes(-1), text);
    assert.deepEqual(
      [...order].sort((one, other) => one - other),
      order,
    );
  });

  it('installs Debian packages, and tries those that tests alone need', async () => {
    const system = {
      packages: ['libfoo-dev'],
      programs: { svn: ['subversion'] },
      locales: ['de_DE.UTF-8'],
    };
    const built = await environmentDockerfile({ ...plan, system: system as never }, parts);
    const text = built.get('Dockerfile') ?? '';
    assert.match(text, /install -y --no-install-recommends git ca-certificates libfoo-dev/);
    assert.match(text, /\{ apt-get install -y --no-install-recommends subversion \|\| true; \}/);
    assert.match(text, /localedef -i de_DE -f UTF-8 de_DE\.UTF-8/);
  });

  it('tries the days that images try, until one has a solution', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'swt-dockerfile-'));
    try {
      const script =
        (await environmentDockerfile(plan, parts)).get('requirements/install.sh') ?? '';
      const uv = join(folder, 'uv');
      const log = join(folder, 'log');
      // It has a solution from April on.
      writeFileSync(
        uv,
        `#!/bin/sh\necho "$@" >> ${log}\ncase "$*" in *--exclude-newer\\ 2022-03*) exit 1 ;; esac\n`,
        { mode: 0o755 },
      );
      execFileSync('sh', ['-c', script.replaceAll('/opt/swt-bench/programs/bin/uv', uv)], {
        cwd: folder,
      });
      const days = [...readFileSync(log, 'utf8').matchAll(/--exclude-newer (\S+)/g)].map(
        ([, day]) => day,
      );
      assert.deepEqual(days, ['2022-03-01', '2022-03-08', '2022-03-31', '2022-04-15']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has words of R in files alone, which no shell reads', async () => {
    const built = await environmentDockerfile(plan, parts);
    const withWords = [...built].filter(([, text]) => text.includes('touch here'));
    assert.deepEqual(
      withWords.map(([name]) => name),
      ['requirements/requirements.in'],
    );
  });
});
