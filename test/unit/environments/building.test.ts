import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerImage, prebuiltName } from '../../../src/engine/docker/containerImage';
import { openBuildLog } from '../../../src/engine/docker/build/buildLog';
import { buildNetwork } from '../../../src/environments/packages/buildNetwork';
import { beyondImageBudget, type ImageUse } from '../../../src/environments/imageBudget';
import { projectVersion, versionTag, recipeOf } from '../../../src/environments/recipes';
import { noteMissing, recentlyMissing } from '../../../src/environments/image/imageRecords';
import {
  buildSystem,
  projectNeeds,
  setupRequires,
} from '../../../src/environments/plan/projectNeeds';
import { dayOf } from '../../../src/environments/environmentPlan';

describe('building images', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'swt-bench-building-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const recipe = recipeOf('octo/cat', '1.0');

  it('names prebuilt images as SWE-bench does', () => {
    assert.equal(
      prebuiltName('Psf__Requests-863', 'registry.example:5000/team/'),
      'registry.example:5000/team/sweb.eval.x86_64.psf_1776_requests-863:latest',
    );
    const { name } = containerImage({ id: 'psf__requests-863', repo: 'psf/requests' });
    assert.equal(name, prebuiltName('psf__requests-863'));
  });

  it('takes packages as of the later of two days', () => {
    assert.equal(dayOf('2020-02-03T04:05:06Z', {}), '2020-02-03');
    assert.equal(dayOf('2020-02-03T04:05:06Z', { asOf: '2023-06-01' }), '2023-06-01');
    assert.equal(dayOf('2024-02-03', { asOf: '2023-06-01' }), '2024-02-03');
    assert.equal(dayOf('', { asOf: '2023-06-01' }), '2023-06-01');
    assert.equal(dayOf('', {}), undefined);
  });

  it('tells setuptools-scm a version of three numbers', () => {
    assert.equal(projectVersion({ version: '5.4' }, recipe), '5.4.0');
    assert.equal(projectVersion({ version: '2.7.1' }, recipe), '2.7.1');
    assert.equal(projectVersion({ version: '' }, recipe), '1.0.0');
    assert.equal(projectVersion({ version: '1.3' }, { ...recipe, projectVersion: '3.1' }), '3.1');
  });

  it('tags R with its version where one is known in numbers', () => {
    const tagOf = (repo: string, version: string) => versionTag({ repo, version });
    assert.equal(tagOf('octo/cat', '4.3'), 'v4.3.0');
    assert.equal(tagOf('octo/cat', '2.7.1'), 'v2.7.1');
    assert.equal(tagOf('astropy/astropy', '1.3'), 'v3.1.0', 'as its recipe says');
    for (const version of ['', 'main', '1..2', '-1', '1.2/../x']) {
      assert.equal(tagOf('octo/cat', version), undefined, version);
    }
  });

  it('reads what a build asks for from pyproject.toml', () => {
    const text = [
      '[tool.black]',
      'requires = ["not", "this"]',
      '[build-system]',
      '# a comment with "quotes"',
      'requires = [',
      '  "setuptools>=40",  # why "so"',
      '  \'numpy==1.17.3; python_version < "3.9"\',',
      '  "pip[extra]",',
      ']',
      'build-backend = "setuptools.build_meta"',
      '[tool.other]',
      'list = ["no"]',
    ].join('\r\n');
    assert.deepEqual(buildSystem(text), [
      'setuptools>=40',
      'numpy==1.17.3; python_version < "3.9"',
      'pip[extra]',
    ]);
    assert.equal(buildSystem('[tool.black]\nline-length = 88\n'), undefined);
    assert.deepEqual(buildSystem('[build-system]\nrequires = []\n'), []);
  });

  it('reads what setuptools would fetch before a build', () => {
    const setupPy = [
      '# been installed (as setup_requires) at that point, setup_requires=["not this"]',
      'setup(',
      '    setup_requires=[',
      '        "certifi>=2020.06.20",  # for the hosts of sources',
      "        'setuptools_scm>=4,<7',",
      '        LATEST, "after something that must be run",',
      '    ],',
      '    install_requires=["cycler"],',
      ')',
    ].join('\n');
    assert.deepEqual(setupRequires(setupPy, ''), ['certifi>=2020.06.20', 'setuptools_scm>=4,<7']);
    assert.deepEqual(setupRequires('setup(setup_requires=setup_requires)', ''), []);
    const setupCfg = [
      ...['[metadata]', 'setup_requires = no', '[options]', 'setup_requires = # of the build'],
      ...['    setuptools-scm', '    # only a comment', '    cython >= 0.29', 'zip_safe = no'],
      ...['[options.extras_require]', 'setup_requires = no', ''],
    ].join('\r\n');
    assert.deepEqual(setupRequires('', setupCfg), ['setuptools-scm', 'cython >= 0.29']);
    assert.deepEqual(setupRequires('', '[options]\nsetup_requires = six'), ['six']);
  });

  it('follows requirement files, without the project itself and what lies outside of the tree', async () => {
    const write = (name: string, text: string) => writeFile(join(folder, name), text);
    await write(
      'dev.txt',
      [
        '-r base.txt # more',
        '-e .[dev]',
        '.',
        '--index-url https://example.org',
        'pytest >= 3 \\',
        '  --hash=sha256:abc',
        '-r ../outside.txt',
        '-r /etc/hostname',
        '-c limits.txt',
        '-r dev.txt',
        'pkg @ https://example.org/pkg.zip#egg=pkg',
        '',
      ].join('\n'),
    );
    await write('base.txt', 'six\n# only a comment\n');
    await write('limits.txt', 'six<2\n');
    await write('setup.py', 'setup(name="The.Cat")\n');
    const needs = await projectNeeds(folder, 'octo/cat', {
      ...recipe,
      requirementFiles: ['dev.txt', 'absent.txt'],
      packages: ['numpy'],
      without: ['pylibmc'],
    });
    assert.deepEqual(
      needs.requirements.map((line) => line.replace(/ +/g, ' ').trim()),
      ['six', 'pytest >= 3', 'pkg @ https://example.org/pkg.zip#egg=pkg', 'numpy', 'pytest'],
    );
    assert.deepEqual(needs.constraints, ['six<2']);
    assert.deepEqual(needs.hosts, ['example.org'], 'of addresses, and not of options');
    assert.deepEqual(needs.overrides, ["pylibmc; python_version < '0'"]);
    assert.equal(needs.project, 'setup.py');
    assert.equal(needs.name, 'The.Cat');
    assert.deepEqual(needs.build, ['setuptools', 'wheel']);
  });

  it('gives Debian’s package manager certificates and proxies, and keeps indexes to itself', async () => {
    const pem = join(folder, 'company.pem');
    await writeFile(pem, 'certificate');
    const { env, certificates, files, secrets, index } = await buildNetwork(
      {
        HOME: '/home/somebody',
        SSL_CERT_FILE: pem,
        PIP_CERT: join(folder, 'absent.pem'),
        PIP_INDEX_URL: 'https://user:pass%2Dword@index.example/simple/',
        UV_INDEX: 'own=https://other.example/a https://token@more.example/b',
        HTTPS_PROXY: 'http://proxy-token@proxy.example:3128',
        AWS_SECRET_ACCESS_KEY: 'no',
      },
      '/swt-build',
    );
    assert.deepEqual(
      files.map(({ path, content }) => [path, content.toString()]),
      [['swt-build/ssl_cert_file.pem', 'certificate']],
    );
    const place = '/swt-build/ssl_cert_file.pem';
    assert.deepEqual(certificates, {
      PIP_CERT: place,
      SSL_CERT_FILE: place,
      REQUESTS_CA_BUNDLE: place,
      GIT_SSL_CAINFO: place,
    });
    assert.deepEqual(env, {
      ...certificates,
      HTTPS_PROXY: 'http://proxy-token@proxy.example:3128',
    });
    assert.deepEqual(index.usual, { url: 'https://index.example/simple', login: 'user:pass-word' });
    assert.deepEqual(index.others, [
      { url: 'https://other.example/a', login: undefined },
      { url: 'https://more.example/b', login: 'token:' },
    ]);
    assert.equal(index.certificates, 'certificate');
    for (const secret of ['pass-word', 'pass%2Dword', 'token', 'proxy-token']) {
      assert.ok(secrets.includes(secret), secret);
    }
    assert.ok(secrets.includes(Buffer.from('user:pass-word').toString('base64')));
  });

  it('writes no secret and no control character into its log', async () => {
    const log = await openBuildLog(folder, 'octo/../cat', ['pass-word']);
    log.line('index https://user:pass-word@index.example');
    log.output('\u001b[31mred\u001b[0m\n');
    await log.close();
    assert.ok(log.path.startsWith(join(folder, 'images', 'logs')));
    const text = await readFile(log.path, 'utf8');
    assert.match(text, /user:\*\*\*@index/);
    assert.match(text, /^red$/m);
  });

  it('remembers an image that was not to be had', async () => {
    await noteMissing(folder, 'a:1');
    await noteMissing(folder, 'b:1');
    assert.equal(await recentlyMissing(folder, 'a:1'), true);
    assert.equal(await recentlyMissing(folder, 'c:1'), false);
    const old = new Date(Date.now() - 2 * 3600_000).toISOString();
    await writeFile(join(folder, 'images', 'missing.json'), JSON.stringify({ 'a:1': old }));
    assert.equal(await recentlyMissing(folder, 'a:1'), false);
    await writeFile(join(folder, 'images', 'missing.json'), '{ half');
    assert.equal(await recentlyMissing(folder, 'a:1'), false);
  });
});

describe('the budget of images', () => {
  const image = (
    name: string,
    bytes: number,
    day: number,
    more: Partial<ImageUse> = {},
  ): ImageUse => ({
    ...{ id: name, name, kind: 'instance', repo: '', version: '', instance: '' },
    ...{ bytes, lastUsed: `2026-01-0${day}T00:00:00.000Z`, inUse: false, carries: [] },
    ...more,
  });
  const names = (images: readonly ImageUse[]): string[] => images.map(({ name }) => name);

  it('takes what was not used for the longest time, as little of it as will do', () => {
    const all = [image('new', 5, 3), image('old', 5, 1), image('between', 5, 2)];
    assert.deepEqual(names(beyondImageBudget(all, 15)), []);
    assert.deepEqual(names(beyondImageBudget(all, 14)), ['old']);
    assert.deepEqual(names(beyondImageBudget(all, 9)), ['old', 'between']);
  });

  it('never takes what is in use, and takes what is on an environment before it', () => {
    const all = [
      image('environment', 9, 1, { carries: ['child'] }),
      image('used', 5, 1, { inUse: true }),
      image('child', 1, 1),
    ];
    assert.deepEqual(names(beyondImageBudget(all, 0)), ['child', 'environment']);
  });

  it('takes neither what was just made nor what that is on', () => {
    const all = [
      image('environment', 9, 2, { carries: ['made'] }),
      image('made', 1, 2),
      image('old', 5, 1),
    ];
    assert.deepEqual(names(beyondImageBudget(all, 0, 'made')), ['old']);
  });

  it('takes a cache of builds first that has more than a quarter, and else by its age', () => {
    const all = [image('old', 5, 1), image('cache', 3, 3, { kind: 'cache' })];
    assert.deepEqual(names(beyondImageBudget(all, 7)), ['cache']);
    assert.deepEqual(names(beyondImageBudget([...all, image('new', 10, 2)], 17)), ['old']);
    assert.deepEqual(names(beyondImageBudget(all, 8)), []);
  });
});
