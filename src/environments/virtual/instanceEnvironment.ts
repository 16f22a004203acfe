import { access, copyFile, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import type { Instance } from '../../domain/instance';
import { Cancelled, HumanError } from '../../domain/work';
import { makeFolder, writeWholeFile } from '../../files/wholeFile';
import { sha256OfJson } from '../../files/digest';
import { copyTree } from '../../repository/trees';
import { git } from '../../repository/git';
import { withLock } from '../../repository/lock';
import { environmentsFolder, lockPath } from '../../repository/storage';
import type { EngineWork } from '../../engine/engine';
import { asOfLeastDay, NoSolution, saysNoSolution, type MovedDay } from '../leastDay';
import { asOf, dayOf } from '../packageDay';
import { projectNeeds, type ProjectNeeds } from '../projectNeeds';
import { olderSetuptools } from '../plan/olderSetuptools';
import { packageOf, plainName, projectVersion, scmName } from '../projectVersion';
import { recipeOf, type Recipe } from '../recipes';
import { runProcess } from '../../engine/process';
import { pythonOfVersion } from './pythonOfVersion';
import { uvOf } from './uvOf';

interface EnvironmentRequest {
  readonly instance: Instance;
  /** The pristine tree of R, which is copied, never written to. */
  readonly tree: string;
  /** The storage folder. */
  readonly storage: string;
  /** Whether a person asked for it, whom one that somebody has changed does not help. */
  readonly isForPerson?: boolean;
}

/** Raised when environments are made in another way. */
const maker = 6;

/** Name of the variable with the folders of the tree under test, as PYTHONPATH has them. */
export const treeVariable = 'SWT_BENCH_TREE';

/**
 * Makes the tree importable at the end of the path, as an editable installation does, also for a
 * program that a test starts without PYTHONPATH. The environment is that of several trees, so the
 * line asks which one is under test.
 */
export const treeLink = 'swt-bench-tree.pth';
const linkLine =
  'import os, sys; sys.path.extend(each for each in ' +
  `os.environ.get("${treeVariable}", "").split(os.pathsep) if each and each not in sys.path)\n`;

/**
 * Folder beside the packages with the files that building R wrote into its tree, such as
 * `_version.py`. An installation in place leaves them there, and code imports them.
 */
export const writtenFolder = 'swt-bench-written';

/** A file of an environment that is complete. */
const readyFile = 'swt-bench.json';

/** What is kept about the environment of an instance. */
const knownSchema = z.object({
  /** Folder of the environment. */
  name: z.string(),
  moved: z.object({ wanted: z.string(), taken: z.string() }).optional(),
});

/** What an environment says of itself, as far as it is read back. */
const aboutSchema = z.object({
  /** The `.dist-info` folders of its packages, relative to it. */
  infos: z.array(z.string()).default([]),
});

/** An environment that was made for an instance. */
export interface MadeEnvironment {
  readonly interpreter: string;
  /** Absent where packages are as of the instance's day. */
  readonly moved?: MovedDay | undefined;
}

/**
 * The virtual environment for an instance, by the same recipe as its image: its Python, and its
 * requirements as of its day. Instances with the same Python and the same resolved versions share
 * one. R itself is not installed: its tree precedes everything, and only its metadata is there.
 *
 * @throws HumanError when Python, uv or a package cannot be had; Cancelled
 */
export async function instanceEnvironment(
  request: EnvironmentRequest,
  work: EngineWork,
): Promise<MadeEnvironment> {
  const { instance, storage } = request;
  const recipe = recipeOf(instance.repo, instance.version);
  const known = madeFor(request, recipe);
  const title = `${instance.repo} ${instance.version}`.trim();
  const before = await readKnown(known);
  const old = before && join(environmentsFolder(storage), before.name);
  if (before === undefined || old === undefined || !(await isReady(old))) {
    return made(request, recipe, title, work);
  }
  const changed = await changedPackages(old);
  if (changed.length > 0) {
    const listed = changed.slice(0, 5).join(', ');
    work.reporter.log(
      `${instance.id}: the environment of ${title} no longer has all of ${listed}: another one is made`,
    );
    try {
      return await made(request, recipe, title, work);
    } catch (error) {
      const isOurs = error instanceof HumanError && !(error instanceof Cancelled);
      if (!isOurs || request.isForPerson === true) throw error;
      // As without a network: what is there may be enough.
      work.reporter.log(`${error.message}. The changed environment is used`);
    }
  }
  return { interpreter: interpreterIn(old), moved: before.moved };
}

/** Makes the environment of an instance, or finds one of the same versions. */
async function made(
  request: EnvironmentRequest,
  recipe: Recipe,
  title: string,
  work: EngineWork,
): Promise<MadeEnvironment> {
  const { instance, tree, storage } = request;
  const known = madeFor(request, recipe);
  work.reporter.progress(`${instance.id}: looking for Python ${recipe.python}`);
  const python = await pythonOfVersion(recipe.python, title, work.signal);
  const uv = await uvOf(storage, python, work);
  const folder = environmentsFolder(storage);
  const scratch = join(folder, `.making-${randomUUID()}`);
  await makeFolder(scratch);
  try {
    const needs = await projectNeeds(tree, instance.repo, recipe);
    const copy = join(scratch, 'tree');
    await copyTree(tree, copy, work.signal);
    const day = dayOf(instance.createdAt, recipe);
    const scm = `SETUPTOOLS_SCM_PRETEND_VERSION_FOR_${scmName(needs.name)}`;
    const env = { ...toolEnvironment(), [scm]: projectVersion(instance, recipe) };
    const parts = { uv, python, needs, recipe, scratch, copy, env, title, instance, work };
    const today = new Date().toISOString().slice(0, 10);
    const { answer: lock, moved } = await asOfLeastDay(day, today, (each) =>
      resolved({ ...parts, day: each }),
    );
    const making = { ...parts, day: moved?.taken ?? day };
    const key = sha256OfJson([maker, python, title, lock]).slice(0, 12);
    const usual = `${title.replace(/\W+/g, '-')}-${key}`;
    const options = { ...work, what: `makes the environment of ${title}` };
    const name = await withLock(lockPath(storage, 'environment', usual), options, async () => {
      const { name: free, isMade } = await unchangedOrFree(folder, usual);
      if (isMade) return free;
      const at = join(folder, free);
      await rm(at, { recursive: true, force: true });
      await install(making, at, lock);
      const infos = await infosOf(at, lock);
      const about = { title, python, day: making.day, lock, infos };
      await writeWholeFile(join(at, readyFile), JSON.stringify(about));
      return free;
    });
    await makeFolder(dirname(known));
    await writeWholeFile(known, JSON.stringify({ name, moved }));
    return { interpreter: interpreterIn(join(folder, name)), moved };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * The first of `usual`, `usual-2`, … that is an environment as it was made, or that is none yet. One
 * that somebody has changed stays where it is, since tests may run with it.
 */
async function unchangedOrFree(
  folder: string,
  usual: string,
): Promise<{ readonly name: string; readonly isMade: boolean }> {
  for (let count = 1; ; count++) {
    const name = count === 1 ? usual : `${usual}-${count}`;
    const at = join(folder, name);
    if (!(await isReady(at))) return { name, isMade: false };
    if ((await changedPackages(at)).length === 0) return { name, isMade: true };
  }
}

/**
 * The file that names the environment of an instance. Requirements are resolved once for a tree,
 * since that takes seconds and asks the package index.
 */
const madeFor = ({ instance, tree, storage }: EnvironmentRequest, recipe: Recipe): string =>
  join(
    environmentsFolder(storage),
    'known',
    sha256OfJson([maker, tree, instance.repo, instance.version, instance.createdAt, recipe]),
  );

/** What is kept about an instance's environment; undefined where it cannot be read. */
async function readKnown(file: string): Promise<z.infer<typeof knownSchema> | undefined> {
  try {
    return knownSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

interface Making {
  readonly uv: string;
  readonly python: string;
  readonly needs: ProjectNeeds;
  readonly recipe: Recipe;
  readonly day: string | undefined;
  readonly scratch: string;
  /** A copy of R, which its set-up program may write to. */
  readonly copy: string;
  readonly env: Readonly<Record<string, string>>;
  readonly title: string;
  readonly instance: Instance;
  readonly work: EngineWork;
}

/**
 * Resolves the requirements to exact versions, as lines of a requirement file.
 *
 * @throws NoSolution when none fit
 */
async function resolved(making: Making): Promise<string[]> {
  const { python, needs, recipe, day, scratch, copy, title, instance, work } = making;
  work.reporter.progress(`${instance.id}: resolving the requirements of ${title}`);
  const file = async (name: string, lines: readonly string[]): Promise<string> => {
    const path = join(scratch, name);
    await writeFile(path, `${lines.join('\n')}\n`);
    return path;
  };
  const constraints = await file('constraints.txt', needs.constraints);
  const lock = join(scratch, 'lock.txt');
  const project = needs.project === undefined ? [] : [join(copy, needs.project)];
  const command = [
    ...['pip', 'compile', '--python', python, '--constraint', constraints],
    ...['--build-constraint', constraints, ...asOf(day, needs.requirements)],
    ...['--override', await file('overrides.txt', needs.overrides)],
    ...['--no-header', '--no-annotate', '--quiet', '--output-file', lock],
    // uv accepts extras only with a project among the inputs.
    ...(project.length === 0 ? [] : recipe.extras.flatMap((extra) => ['--extra', extra])),
    await file('requirements.in', needs.requirements),
    await file('build.in', needs.build),
    ...project,
  ];
  await runUv(making, `resolve the requirements of ${title}`, command, true);
  return (await readFile(lock, 'utf8'))
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^(#|--)/.test(line))
    .filter((line) => packageOf(line) !== plainName(needs.name))
    .sort();
}

/** Makes the environment with exactly these packages. */
async function install(making: Making, made: string, lock: readonly string[]): Promise<void> {
  const { python, day, scratch, copy, needs, title, instance, recipe, work } = making;
  const { length } = lock;
  work.reporter.progress(
    `${instance.id}: installing ${length} package${length === 1 ? '' : 's'} for ${title}`,
  );
  const doing = `make the environment of ${title}`;
  await runUv(making, doing, ['venv', '--quiet', '--seed', '--python', python, made]);
  const exact = join(scratch, 'exact.txt');
  await writeFile(exact, `${lock.join('\n')}\n`);
  const into = ['pip', 'install', '--quiet', '--python', interpreterIn(made), '--no-deps'];
  await runUv(making, doing, [...into, ...asOf(day, lock), '-r', exact], true);
  await compilePackages(making, made);
  for (const site of await siteFolders(made)) await writeFile(join(site, treeLink), linkLine);
  if (recipe.install !== 'editable' || needs.project === undefined) return;
  try {
    // Releases of setuptools-scm before 2021 do not know the variable that names the project.
    const version = { SETUPTOOLS_SCM_PRETEND_VERSION: projectVersion(instance, recipe) };
    const env = { ...making.env, ...version };
    await runUv({ ...making, env }, doing, [...into, '--no-build-isolation', copy]);
    await keepOnlyMetadata(made, needs.name);
    for (const site of await siteFolders(made)) await keepWritten(copy, join(site, writtenFolder));
  } catch (error) {
    if (!(error instanceof HumanError)) throw error;
    // Most tests need no metadata of R.
    work.reporter.log(`${title} itself could not be built: ${error.message}`);
  }
}

/**
 * Compiles the packages, as pip does when it installs them. Otherwise each run would compile them,
 * and where warnings are errors, a package with an invalid escape could not be imported.
 */
async function compilePackages(making: Making, made: string): Promise<void> {
  const python = interpreterIn(made);
  // Without -q, as much is printed as there are files. uv cannot compile with Python 3.6.
  const words = ['-W', 'ignore', '-m', 'compileall', '-q', ...(await siteFolders(made))];
  // Packages contain files that are meant for another Python, which do not compile.
  await start(making, [python, ...words], { cwd: made, python });
}

/**
 * Removes an installed project but for its metadata: its version and its entry points. Its code is
 * that of the tree under test, which may be another than the tree that the environment was made
 * for.
 */
async function keepOnlyMetadata(made: string, project: string): Promise<void> {
  for (const site of await siteFolders(made)) {
    for (const entry of await readdir(site)) {
      if (!entry.endsWith('.dist-info')) continue;
      if (
        plainName(entry.slice(0, -'.dist-info'.length).split('-')[0] ?? '') !== plainName(project)
      )
        continue;
      for (const path of await codeOf(join(site, entry))) {
        await rm(join(site, path), { force: true });
        await removeEmpty(dirname(join(site, path)), site);
      }
    }
  }
}

/**
 * Files that a package has installed below `site-packages`, but for its metadata and scripts:
 * https://packaging.python.org/en/latest/specifications/recording-installed-packages/
 *
 * @param info its `.dist-info` folder
 */
async function codeOf(info: string): Promise<string[]> {
  const record = await readFile(join(info, 'RECORD'), 'utf8');
  return record.split('\n').flatMap((line) => {
    const path = (/^"([^"]*)"|^([^,]*)/.exec(line) ?? []).slice(1).find(Boolean);
    const isCode =
      path !== undefined && !path.split(/[\\/]/).includes('..') && !path.includes('.dist-info/');
    return isCode ? [path] : [];
  });
}

/**
 * The `.dist-info` folders of some packages, relative to an environment. Those whose files are not
 * all there from the beginning are left out: metadata may name files that are never installed.
 */
async function infosOf(made: string, lock: readonly string[]): Promise<string[]> {
  const wanted = new Set(lock.map(packageOf));
  const found: string[] = [];
  for (const site of await siteFolders(made)) {
    for (const entry of await readdir(site)) {
      const [name = ''] = entry.split('-');
      if (!entry.endsWith('.dist-info') || !wanted.has(plainName(name))) continue;
      if (await isWhole(join(site, entry))) found.push(relative(made, join(site, entry)));
    }
  }
  return found;
}

/**
 * Names of the packages that an environment was made with and no longer has, or has in another
 * version or without some of their files. Somebody has changed it since.
 */
async function changedPackages(made: string): Promise<string[]> {
  const about = await readFile(join(made, readyFile), 'utf8')
    .then((text) => aboutSchema.parse(JSON.parse(text)))
    .catch(() => undefined);
  if (about === undefined) return [readyFile];
  const changed: string[] = [];
  for (const info of about.infos) {
    if (await isWhole(join(made, info))) continue;
    changed.push(plainName(basename(info).split('-')[0] ?? ''));
  }
  return changed;
}

/** Whether all files of a package are there. Compiled ones may be missing. */
async function isWhole(info: string): Promise<boolean> {
  try {
    const paths = (await codeOf(info)).filter((path) => !path.endsWith('.pyc'));
    await Promise.all(paths.map((path) => access(join(dirname(info), path))));
    return true;
  } catch {
    return false;
  }
}

/**
 * Keeps the Python files that building wrote into a tree. Those in folders of the build itself are
 * copies.
 */
async function keepWritten(tree: string, to: string): Promise<void> {
  const listed = await git(['ls-files', '--others', '-z'], { cwd: tree });
  const ofBuild = /^(build|dist|\.eggs)\/|(^|\/)[^/]*\.egg-info\/|(^|\/)__pycache__\//;
  for (const path of listed.split('\0')) {
    if (!path.endsWith('.py') || ofBuild.test(path)) continue;
    await makeFolder(dirname(join(to, path)));
    await copyFile(join(tree, path), join(to, path));
  }
}

/** Removes a folder and those around it below `root`, as far as they are empty. */
async function removeEmpty(folder: string, root: string): Promise<void> {
  for (let at = folder; at !== root && dirname(at) !== at; at = dirname(at)) {
    // A folder that is not empty, or gone, ends it.
    if (
      !(await rmdir(at).then(
        () => true,
        () => false,
      ))
    ) {
      return;
    }
  }
}

async function siteFolders(made: string): Promise<string[]> {
  if (process.platform === 'win32') return [join(made, 'Lib', 'site-packages')];
  const versions = await readdir(join(made, 'lib'));
  return versions.map((version) => join(made, 'lib', version, 'site-packages'));
}

const interpreterIn = (made: string): string =>
  process.platform === 'win32' ? join(made, 'Scripts', 'python.exe') : join(made, 'bin', 'python');

/** The interpreter of an environment is a link, whose Python may have been removed. */
const isReady = (made: string): Promise<boolean> =>
  Promise.all([access(join(made, readyFile)), access(interpreterIn(made))]).then(
    () => true,
    () => false,
  );

/** The person's environment, with pip's index for uv, which does not read it. */
function toolEnvironment(): Record<string, string> {
  const kept = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(PYTHON|VIRTUAL_ENV$|CONDA_)/.test(name) ? [] : [[name, value]],
  );
  const env = Object.fromEntries(kept) as Record<string, string>;
  const same = { UV_DEFAULT_INDEX: 'PIP_INDEX_URL', SSL_CERT_FILE: 'PIP_CERT' };
  for (const [name, other] of Object.entries(same)) {
    const value = env[other];
    if (env[name] === undefined && value !== undefined) env[name] = value;
  }
  return {
    ...env,
    UV_NO_CONFIG: '1',
    UV_NO_PROGRESS: '1',
    UV_PYTHON_DOWNLOADS: 'never',
    // A link to a file of uv's cache changes that file's time in all other environments, which then
    // seem to be changed by the tests that run there.
    UV_LINK_MODE: 'copy',
  };
}

/** An hour, since packages without a wheel are compiled. */
const timeoutSeconds = 3600;

/** Runs a program of the build to its end, whatever its exit status. */
async function start(
  { env, work }: Making,
  argv: readonly string[],
  place: { readonly cwd: string; readonly python: string },
): Promise<Awaited<ReturnType<typeof runProcess>>> {
  const limits = { timeoutSeconds, outputLimit: 16 << 20, signal: work.signal };
  const ended = await runProcess({ ...limits, argv, env, ...place });
  if (ended.ending === 'cancelled') throw new Cancelled();
  return ended;
}

/**
 * Runs uv, which has to succeed. A build that needs a setuptools of before it lost something is
 * repeated with that.
 *
 * @param building whether the command may build packages
 * @throws NoSolution, HumanError in uv's own words
 */
async function runUv(
  making: Making,
  doing: string,
  args: readonly string[],
  building = false,
): Promise<void> {
  const { uv, python, copy, scratch, work } = making;
  const place = { cwd: dirname(copy), python };
  let ended = await start(making, [uv, ...args], place);
  const older = building && ended.exitCode !== 0 ? olderSetuptools(ended.output) : undefined;
  if (older !== undefined) {
    const constraint = join(scratch, 'older.txt');
    await writeFile(constraint, `${older}\n`);
    ended = await start(making, [uv, ...args, '--build-constraint', constraint], place);
  }
  if (ended.output.trim() !== '') work.reporter.log(ended.output.trimEnd());
  if (ended.exitCode === 0) return;
  const said = (ended.startError ?? ended.output).trim().slice(-1500);
  throw new (saysNoSolution(ended.output) ? NoSolution : HumanError)(
    `Could not ${doing}: ${said}`,
    'See whether the package index can be reached, or use the docker engine',
  );
}
