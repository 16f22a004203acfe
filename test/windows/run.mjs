// Tests in a real VS Code: bundles the suites, makes their workspaces, runs each in a window of its own.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cache, root } from '../scripts/setup.mjs';
import Dockerode from 'dockerode';
import { tsImport } from 'tsx/esm/api';
import { acpProgram } from '../containers/acpProgram.mjs';
import { acquire } from './host/acquire.mjs';
import { packageExtension } from './host/packageExtension.mjs';
import { runInVSCode } from './host/run.mjs';
import { pythonWithPytest } from '../scripts/pythonWithPytest.mjs';
import { writeInstancesDataset } from './instancesDataset.mjs';
import { listenForRequests, makeHostile, makeLinked } from './hostileFolder.mjs';
import { makeLargeChange } from './largeChange.mjs';

const { withOtherAnswer } = await tsImport('../commandLine/otherAnswer.ts', import.meta.url);
const bundles = join(cache, 'vscode-tests');
/** Suites with scripted language models. */
const withModels = [
  ...['models', 'modelsReload', 'panelsReload', 'fixes', 'noInstance'],
  ...['oneAnswer', 'otherAnswer'],
];
const baseImage = process.env.SWT_BENCH_TEST_BASE_IMAGE ?? 'swt-test/python:{python}-bookworm';
/** Suites with their own workspace of the bundled instance. */
const withOwnCopy = [
  ...['authoring', 'firstSteps', 'reload', 'customDiff'],
  ...['models', 'modelsReload', 'panelsReload', 'fixes', 'environment'],
];
/** Id of the instance of the docker suite. */
const inContainers = `tallybook__tallybook-${randomBytes(3).readUIntBE(0, 3)}`;
// The docker suite needs an engine and base images from the caller, and the kubernetes suite a
// cluster whose nodes have no room (test/cluster). They run only when they are named.
const named = process.argv.slice(2);
// The longest first, so that the two windows end at about the same time. The tests of a suite
// follow one another in one window, so a suite runs completely or not at all.
const everyday = ['instance', 'customDiff', 'untrusted'];
const others = [
  ...['authoring', 'models', 'instances', 'firstSteps', 'dashboard'],
  ...['reload', 'modelsReload', 'panelsReload', 'large', 'noInstance', 'trajectories', 'fixes'],
  ...['environment', 'oneAnswer', 'otherAnswer'],
];
// By hand: `npm test` has built the extension already.
if (named.length > 0) execFileSync(process.execPath, ['esbuild.js'], { cwd: root });
const isEveryday = process.env.SWT_BENCH_TESTS === 'everyday';
const suites = named.length > 0 ? named : [...everyday, ...(isEveryday ? [] : others)];
await build({
  entryPoints: suites.map((name) => join(root, 'test', 'windows', `${name}.suite.ts`)),
  outdir: bundles,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  // Mocha's code for running files in other processes is not used here.
  external: ['vscode', 'dockerode', './worker.js', './reporters/parallel-buffered'],
  // As in esbuild.js: the package's ES module uses import.meta.url.
  alias: { 'web-tree-sitter': createRequire(import.meta.url).resolve('web-tree-sitter') },
  sourcemap: 'inline',
  logLevel: 'warning',
});

const sample = join(root, 'media', 'sample');
const scratch = mkdtempSync(join(tmpdir(), 'swt-bench-vscode-'));
const total = { passed: 0, failed: 0, skipped: 0 };
/** The windows run what users install, not the source folder. */
const vsix = join(scratch, 'extension.vsix');
/** A program that a hostile folder gets executed leaves a file here. */
const canary = join(scratch, 'canary');
const listener = await listenForRequests(join(sample, 'instance.jsonl'), canary);
try {
  if (suites.includes('docker')) await acpProgram(join(scratch, 'agent'), 'fake', 'good');
  const workspaces = new Map(suites.map((name) => [name, workspaceOf(name)]));
  const forAuthoring = suites.includes('authoring') ? withPytest() : {};
  await packageExtension(root, vsix);
  // Two windows at once would download it twice.
  await acquire((text) => console.log(`vscode: ${text}`));
  // A window mostly waits for tests and for simulated pauses, so two share the machine.
  const waiting = [...suites];
  const windows = Array.from({ length: Math.min(2, suites.length) }, async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      await runSuite(name, workspaces.get(name), forAuthoring);
    }
  });
  await Promise.all(windows);
  if (suites.includes('oneAnswer') && suites.includes('otherAnswer')) compareAnswers();
} finally {
  listener.close();
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
if (total.passed === 0) console.error('No test passed, so the step fails.');
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

/** Runs one suite in a separate window, shows its output in one piece, and adds its counts. */
async function runSuite(name, folder, forAuthoring) {
  const alone = suites.length === 1;
  const lines = [`${name}:`];
  const print = (line) => (alone ? console.log(line) : lines.push(line));
  if (alone) console.log(lines.shift());
  try {
    const hindrance = name === 'docker' ? await whyNoContainers() : undefined;
    if (hindrance !== undefined) {
      print(`skipped docker: ${hindrance}`);
      total.skipped += 1;
      return;
    }
    const { exitCode, counts } = await runInVSCode({
      vsix,
      tests: join(bundles, `${name}.suite.js`),
      folder,
      // Scripted language models.
      helpers: helpersOf(name),
      env: {
        SWT_BENCH_SAMPLE: sample,
        SWT_BENCH_SCRATCH: scratch,
        // A separate one for each suite: statuses of one would show in the next.
        SWT_BENCH_STORAGE: join(scratch, `storage-${name}`),
        SWT_BENCH_INSTANCE: inContainers,
        SWT_BENCH_AGENT: join(scratch, 'agent'),
        SWT_BENCH_RECEIVED: join(scratch, `received-${name}`),
        ...(name === 'authoring' ? forAuthoring : {}),
        ...(name === 'untrusted'
          ? { SWT_BENCH_CANARY: canary, SWT_BENCH_LINKED: join(scratch, 'linked') }
          : {}),
      },
      settings: settingsOf(name),
      asksForTrust: name === 'untrusted',
      reloads: /reload/i.test(name),
      limit: 3_600_000,
      size: { width: 1500, height: 1000 },
      print,
    });
    for (const key of Object.keys(total)) total[key] += counts?.[key] ?? 0;
    // A window that broke off is a failure, whatever had passed before.
    if (exitCode !== 0 && !(counts?.failed > 0)) total.failed += 1;
    if (name === 'docker') {
      total[(await leavesNoContainer(print)) ? 'passed' : 'failed'] += 1;
      await removeImages();
    }
  } finally {
    if (lines.length > 0) console.log(lines.join('\n'));
  }
}

/** Extensions that stand in for others: one with language models, or the Python extension. */
function helpersOf(name) {
  if (name === 'environment') return [join(root, 'test', 'windows', 'python')];
  return withModels.includes(name) ? [join(root, 'test', 'windows', 'models')] : [];
}

function withPytest() {
  const python = pythonWithPytest();
  return python === undefined ? {} : { SWT_BENCH_PYTEST_PYTHON: python };
}

function workspaceOf(name) {
  if (name === 'instance') return instanceWorkspace('tallybook__tallybook-217', 'bundled');
  if (withOwnCopy.includes(name)) {
    return instanceWorkspace('tallybook__tallybook-217', 'bundled', name);
  }
  if (name === 'untrusted') {
    const folder = instanceWorkspace('tallybook__tallybook-217', 'bundled', name);
    makeHostile(folder, { canary, listener: listener.url, source: join(sample, 'repository') });
    makeLinked(join(scratch, 'linked'));
    return folder;
  }
  if (name === 'oneAnswer' || name === 'otherAnswer') return workspaceOfAnswer(name);
  if (name === 'docker') return instanceWorkspace(inContainers, datasetInContainers());
  if (name === 'kubernetes') {
    const image = process.env.SWT_BENCH_CLUSTER_IMAGE;
    return instanceWorkspace(inContainers, datasetInContainers({ image }));
  }
  if (name === 'large') {
    const { id, dataset, source } = makeLargeChange(sample, scratch);
    return instanceWorkspace(id, dataset, name, source);
  }
  return plainWorkspace();
}

function instanceWorkspace(id, dataset, name = id, source = join(sample, 'repository')) {
  const folder = join(scratch, name);
  execFileSync(process.execPath, [
    join(root, 'dist', 'cli.js'),
    ...['open', id, '--dataset', dataset, '--source', source],
    ...['--storage', join(scratch, 'storage')],
    ...['--out', folder],
  ]);
  return folder;
}

/** The bundled instance, with its own answer or another one. What is stored of one is not of the other. */
function workspaceOfAnswer(name) {
  const dataset = join(scratch, `${name}.jsonl`);
  const row = JSON.parse(readFileSync(join(sample, 'instance.jsonl'), 'utf8'));
  writeFileSync(dataset, JSON.stringify(name === 'oneAnswer' ? row : withOtherAnswer(row)));
  if (name === 'oneAnswer') {
    execFileSync(process.execPath, [
      ...[join(root, 'dist', 'cli.js'), 'evaluate', '--predictions', 'gold', '--json'],
      ...['--dataset', dataset, '--source', join(sample, 'repository')],
      ...['--storage', storageOfAnswer(name)],
    ]);
  }
  return instanceWorkspace('tallybook__tallybook-217', dataset, name);
}

function storageOfAnswer(name) {
  return join(scratch, `stored-${name}`);
}

/** What a model received in the two windows has to be the same, to the byte. */
function compareAnswers() {
  const [one, other] = ['oneAnswer', 'otherAnswer'].map((name) => receivedIn(name));
  const isSame = one !== undefined && one === other;
  console.log(`  ${isSame ? '✓' : '✗'} a model receives the same whatever the answer is`);
  if (!isSame) console.log(firstDifference(one, other));
  total[isSame ? 'passed' : 'failed'] += 1;
}

function receivedIn(name) {
  const file = join(scratch, `received-${name}`);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function firstDifference(one = '', other = '') {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return [one, other]
    .map((each) => `    ${each.slice(Math.max(0, at - 200), at + 200)}`)
    .join('\n');
}

function settingsOf(name) {
  if (name === 'instances') return instancesSettings();
  // VS Code's own git is not ours: in a trusted folder it follows the repository's configuration.
  if (name === 'untrusted') {
    const linked = join(scratch, 'linked');
    return {
      'git.enabled': false,
      'swt-bench.dataset': join(linked, 'rows.jsonl'),
      'swt-bench.repositorySources': { '*': join(linked, 'repository') },
    };
  }
  if (['dashboard', 'trajectories'].includes(name)) return { 'swt-bench.dataset': 'bundled' };
  if (withModels.includes(name)) {
    return {
      'chat.disableAIFeatures': false,
      // The models are scripted; another test covers that a person has to allow it.
      'swt-bench.runModelTestsLocally': true,
      ...(name.endsWith('Answer') && { 'swt-bench.storageFolder': storageOfAnswer(name) }),
    };
  }
  if (name === 'kubernetes') {
    return {
      'swt-bench.engine': 'kubernetes',
      'swt-bench.docker.limits': { memory: 1024, cpus: 0.5 },
    };
  }
  if (name !== 'docker') return {};
  return {
    'swt-bench.engine': 'docker',
    'swt-bench.docker.baseImage': baseImage,
    'swt-bench.docker.prebuilt': '',
    'swt-bench.docker.limits': { memory: 512 },
  };
}

/**
 * The bundled instance under a unique name, so that its containers are distinguishable from all
 * others.
 */
function datasetInContainers(more = {}) {
  const row = JSON.parse(readFileSync(join(sample, 'instance.jsonl'), 'utf8').split('\n')[0]);
  const dataset = join(scratch, 'in-containers.jsonl');
  writeFileSync(dataset, `${JSON.stringify({ ...row, ...more, instance_id: inContainers })}\n`);
  return dataset;
}

/** Why the docker suite cannot run here; undefined when it can. */
async function whyNoContainers() {
  const told = process.env.SWT_BENCH_NO_DOCKER;
  if (told !== undefined) return told;
  const tag = baseImage.replace('{python}', '3.9');
  return new Dockerode()
    .getImage(tag)
    .inspect()
    .then(
      () => undefined,
      (error) => `no image ${tag} (${String(error.message).split('\n')[0]})`,
    );
}

async function removeImages() {
  const docker = new Dockerode();
  const label = [`swt-bench.instance=${inContainers}`];
  for (const { Id } of await docker.listImages({ filters: { label } })) {
    await docker.getImage(Id).remove({ force: true });
  }
}

/** The window has closed, and its containers must be gone. */
async function leavesNoContainer(print) {
  const left = await new Dockerode().listContainers({
    all: true,
    filters: { label: [`swt-bench.instance=${inContainers}`] },
  });
  print(
    left.length === 0
      ? '  ✓ nothing is left of the containers of the window'
      : `  ✗ ${left.length} containers are left when the window has closed`,
  );
  return left.length === 0;
}

function instancesSettings() {
  const dataset = join(scratch, 'instances.jsonl');
  writeInstancesDataset(sample, dataset);
  return {
    'swt-bench.dataset': dataset,
    'swt-bench.triageFile': join(scratch, 'triage.json'),
    // Every repository of that dataset is the bundled one under another name.
    'swt-bench.repositorySources': { '*': join(sample, 'repository') },
    'swt-bench.validationRepetitions': 2,
  };
}

function plainWorkspace() {
  const folder = join(scratch, 'plain');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'test_plain.py'), 'def test_nothing():\n    pass\n');
  return folder;
}
