// Tests in a real VS Code: bundles the suites, makes their workspaces, runs each in a window of its own.
import { build } from 'esbuild';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cache, root } from '../scripts/setup.mjs';
import { runInVSCode } from './host/run.mjs';
import { writeInstancesDataset } from './instancesDataset.mjs';

const bundles = join(cache, 'vscode-tests');
const suites = ['instance', 'instances', 'noInstance'].filter(
  (name) => process.argv.length < 3 || process.argv.includes(name),
);
await build({
  entryPoints: suites.map((name) => join(root, 'test', 'vscode', `${name}.suite.ts`)),
  outdir: bundles,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  // Mocha's means to run files in other processes are not used here.
  external: ['vscode', './worker.js', './reporters/parallel-buffered'],
  sourcemap: 'inline',
  logLevel: 'warning',
});

const sample = join(root, 'media', 'sample');
const scratch = mkdtempSync(join(tmpdir(), 'swt-bench-vscode-'));
const total = { passed: 0, failed: 0, skipped: 0 };
try {
  for (const name of suites) {
    console.log(`${name}:`);
    const { exitCode, counts } = await runInVSCode({
      extension: root,
      tests: join(bundles, `${name}.suite.js`),
      folder: name === 'instance' ? instanceWorkspace() : plainWorkspace(),
      env: {
        SWT_BENCH_SAMPLE: sample,
        SWT_BENCH_SCRATCH: scratch,
        // Of its own for each suite: statuses of one would show in the next.
        SWT_BENCH_STORAGE: join(scratch, `storage-${name}`),
      },
      ...(name === 'instances' ? { settings: instancesSettings() } : {}),
      limit: 300_000,
      size: { width: 1500, height: 1000 },
    });
    for (const key of Object.keys(total)) total[key] += counts?.[key] ?? 0;
    // A window that broke off is a failure, whatever had passed by then.
    if (exitCode !== 0 && !(counts?.failed > 0)) total.failed += 1;
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;

function instanceWorkspace() {
  const folder = join(scratch, 'instance');
  execFileSync(process.execPath, [
    join(root, 'dist', 'cli.js'),
    ...['open', 'tallybook__tallybook-217', '--dataset', 'bundled'],
    ...['--storage', join(scratch, 'storage')],
    ...['--out', folder],
  ]);
  return folder;
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
