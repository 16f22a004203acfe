// Runs all checks, those first whose failures are cheapest to find. The last line has the counts.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathWithPython, pathWithoutPackages } from './pythonWithPytest.mjs';
import { cache, ensureInstalled, root } from './setup.mjs';

/**
 * `npm test -- unit windows` runs only the steps whose names begin so; `core` stands for the tests
 * of what opens an instance, runs its tests and grades them.
 */
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
/**
 * Whether to run also what need not delay every change: tests and suites marked `@full`, each
 * property with a new seed, the tracer under each CPython.
 */
const isFull = process.argv.includes('--full');
process.env.SWT_BENCH_TESTS = isFull ? 'full' : 'everyday';
const totals = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const skips = [];
/** The seconds that {@link childSecondsSinceLastExit} has returned so far. */
let childSecondsCounted = 0;

await ensureInstalled();
mkdirSync(cache, { recursive: true });
// Only if a step runs Python: making the environment queries the package registry the first time.
const runPython = [
  ...['tracer', 'outcomes', 'processes', 'contract', 'containers', 'commandLine'],
  ...['real', 'windows', 'windowInContainers', 'core'],
];
if (runPython.some(isWanted)) {
  process.env.PATH = pathWithPython();
}

/** Keeps programs written in Go from collecting garbage below a limit. */
const unlimited = { GOGC: 'off', GOMEMLIMIT: '3GiB' };

/** For the steps whose tests say themselves when they need pytest. */
const plainPython = { PATH: pathWithoutPackages() };

const oxfmt = join(root, 'node_modules', 'oxfmt', 'bin', 'oxfmt');
const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');
const mocha = (...args) => [
  process.execPath,
  [
    ...['--import', 'tsx', join(root, 'node_modules', 'mocha', 'bin', 'mocha.js')],
    // A test has no limit but this one, for tests that hang: a loaded machine may take twenty times as long.
    ...['--timeout', '1800000'],
    ...['--reporter', join(root, 'test', 'scripts', 'countingReporter.cjs')],
    ...['--require', join(root, 'test', 'scripts', 'seed.cjs')],
    ...(isFull ? [] : ['--grep', '@full', '--invert']),
    ...args,
  ],
];

// Installing an engine and making its base images takes minutes the first time, so other steps run
// meanwhile.
const needsDocker = ['contract', 'containers', 'windowInContainers'].some(isWanted);
// Imported only now, since it needs the packages that have just been installed.
const { startDocker } = await import('./docker.mjs');
const docker = needsDocker ? startDocker() : undefined;

// It bundles in its own way, so it cannot run beside a step that uses the bundles. Its last test leaves
// those that the other steps need.
const isPackaged = await step('package', ...mocha('test/package/**/*.test.ts'));
// The bundles are built before any step that runs them, also if that step is not named.
const runBundles = [
  'core',
  'processes',
  'commandLine',
  'containers',
  'real',
  'windows',
  'windowInContainers',
];
if (isPackaged !== true && [...runBundles, 'build'].some(isWanted)) {
  // Without garbage collection esbuild takes a fifth less.
  await step('build', process.execPath, ['esbuild.js'], unlimited, false, true);
}
// All of it is part of other steps.
if (wanted.includes('core')) {
  const rooms =
    'structure,domain,files,python,patch,repository,engine,dataset,evaluation,validation';
  const processes =
    'affectedTests,goldenTests,localEngine,ownTestsFirst,poisonedRuns,repository*,sidesLookAlike,sympyRunner,unsoundRuns,workingCopy';
  await step(
    'core',
    ...mocha(
      `test/unit/{${rooms}}/**/*.test.ts`,
      `test/processes/{${processes}}.test.ts`,
      'test/commandLine/{badInput,findings,grading}.test.ts',
    ),
    plainPython,
  );
}
// Most of the rest waits for processes, so two steps at a time finish sooner. Steps with an engine
// run beside the others, and whichever is done first takes the next of the others.
const rest = [
  ['format', process.execPath, [oxfmt, '--check']],
  // Without garbage collection the checker takes a third less.
  ['types and lint', process.execPath, [oxlint, '-c', 'oxlint.config.mjs'], unlimited],
  ['unit', ...mocha('test/unit/**/*.test.ts'), plainPython],
  ['tracer', 'python3', ['test/tracer/run.py', ...(isFull ? [] : ['--few'])]],
  ['outcomes', 'python3', ['test/tracer/outcomes.py']],
  ['processes', ...mocha('test/processes/**/*.test.ts'), plainPython],
  ['commandLine', ...mocha('test/commandLine/**/*.test.ts'), plainPython],
  ...(isFull ? [['real', ...mocha('test/real/**/*.test.ts')]] : []),
  ['windows', process.execPath, ['test/windows/run.mjs']],
];
const takeRest = async (behind) => {
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    const [name, program, args, env = {}] = next;
    // Both would fetch the same VS Code.
    if (name === 'windows') await windowClosed;
    await step(name, program, args, env, behind);
  }
};
let rig;
let closed;
const windowClosed = new Promise((resolve) => (closed = resolve));
const inContainers = (async () => {
  rig = await docker;
  const env = rig?.env;
  await step('contract', ...mocha('test/contract/**/*.test.ts'), env, true);
  await step('containers', ...mocha('test/containers/**/*.test.ts'), env, true);
  if (isFull) {
    await step(
      'windowInContainers',
      process.execPath,
      ['test/windows/run.mjs', 'docker'],
      env,
      true,
    );
  }
  closed();
  await takeRest(true);
})();
// A failed set-up must not block the other steps.
inContainers.catch(closed);
try {
  await takeRest(false);
  await inContainers;
} finally {
  await inContainers.catch(() => undefined);
  await rig?.stop();
}
if (rig?.cause !== undefined) skips.unshift(`docker: ${rig.cause}`);

console.log(
  `${(processorSeconds() / 60).toFixed(1)} processor minutes, those of Docker Engine aside`,
);
for (const name of skips) console.log(`skipped: ${name}`);
for (const name of failures) console.log(`FAILED: ${name}`);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed > 0 || totals.passed === 0 ? 1 : 0;

/** User and system time in seconds of this process and of the children that it has waited for. */
function processorSeconds() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + childSeconds();
}

/** User and system time in seconds of the children waited for; 0 on a system without /proc. */
function childSeconds() {
  if (!existsSync('/proc/self/stat')) return 0;
  // Fields 16 and 17, in ticks of 10 ms; the name before them may contain blanks.
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** The kernel adds the time of a child when it ends, so the difference belongs to that child. */
function childSecondsSinceLastExit() {
  const now = childSeconds();
  const spent = now - childSecondsCounted;
  childSecondsCounted = now;
  return spent;
}

function isWanted(name) {
  return wanted.length === 0 || wanted.some((each) => name.startsWith(each));
}

/** The failed tests, from the lines of a step that names each test on one line. */
function brokenTests(lines) {
  return lines.flatMap((line) => /^ {2}(?:✗|FAILED on) (.*)$/.exec(line)?.[1] ?? []);
}

/**
 * Runs one step with its output shown. Steps that count report through a file (mocha) or their last
 * line (`N passed, N failed, N skipped`); any other step counts as one.
 *
 * @param behind the step runs beside others: its output is shown when it has ended
 * @param isNeeded another selected step depends on this one
 * @returns {Promise<boolean | undefined>} whether all passed; undefined if the step is not run
 */
async function step(name, program, args, env = {}, behind = false, isNeeded = false) {
  if (!isWanted(name) && !isNeeded) return undefined;
  const started = Date.now();
  console.log(`\n━━ ${name}${behind ? ' (beside the others)' : ''}`);
  const kept = [];
  const show = (chunk) => (behind ? kept.push(chunk) : process.stdout.write(chunk));
  const countFile = join(cache, `counts-${name}.json`);
  rmSync(countFile, { force: true });
  const broken = [];
  const { status, lastCounts, spent } = await new Promise((resolve) => {
    let tail = '';
    let spent = 0;
    let line = '';
    const child = spawn(program, args, {
      cwd: root,
      stdio: ['ignore', 'pipe', behind ? 'pipe' : 'inherit'],
      env: { ...process.env, ...env, SWT_BENCH_COUNTS: countFile },
    });
    child.stdout.on('data', (chunk) => {
      show(chunk);
      tail = (tail + chunk.toString()).slice(-20_000);
      const lines = (line + chunk.toString()).split('\n');
      line = lines.pop() ?? '';
      broken.push(...brokenTests(lines));
    });
    child.stderr?.on('data', show);
    child.on('error', (error) => {
      console.error(error.message);
      resolve({ status: 127, spent });
    });
    child.on('exit', () => (spent = childSecondsSinceLastExit()));
    child.on('close', (code) => {
      const line = tail.trimEnd().split('\n').at(-1) ?? '';
      const match = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?(?: \((.*)\))?$/.exec(line);
      resolve({
        status: code ?? 1,
        spent,
        lastCounts: match && {
          passed: Number(match[1]),
          failed: Number(match[2]),
          skipped: Number(match[3] ?? 0),
          skips: [
            ...(/skipped: (.*)$/.exec(match[4] ?? '')?.[1]?.split(', ') ?? []),
            ...[...tail.matchAll(/^skipped (\S+: .*)$/gm)].map((found) => found[1]),
          ],
        },
      });
    });
  });
  if (behind) process.stdout.write(`\n━━ output of ${name}\n${Buffer.concat(kept).toString()}`);
  const counts = existsSync(countFile)
    ? JSON.parse(readFileSync(countFile, 'utf8'))
    : (lastCounts ?? { passed: status === 0 ? 1 : 0, failed: status === 0 ? 0 : 1, skipped: 0 });
  const told = counts.failures ?? broken;
  // A step that died is a failure, whatever its counts are.
  if (status !== 0 && counts.failed === 0) {
    counts.failed = 1;
    told.push(`ended with ${status}`);
  }
  totals.passed += counts.passed;
  totals.failed += counts.failed;
  totals.skipped += counts.skipped;
  skips.push(...(counts.skips ?? []));
  if (counts.failed > 0) failures.push(...told.map((each) => `${name}: ${each}`));
  if (counts.failed > told.length) failures.push(`${name}: ${counts.failed - told.length} more`);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`━━ ${name}: ${seconds} s, ${spent.toFixed(1)} processor seconds`);
  return counts.failed === 0;
}
