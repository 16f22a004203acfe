import { access, copyFile, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { Cancelled, HumanError } from '../../domain/work';
import { plural } from '../../domain/text';
import type { EngineWork } from '../../engine/engine';
import {
  treeLink,
  treeVariable,
  writtenFolder,
  type VirtualEnvironment,
  type VirtualEnvironmentRequest,
} from '../../engine/environmentMaker';
import { makeFolder, writeWholeFile } from '../../files/wholeFile';
import { sha256OfJson } from '../../files/digest';
import { copyTree } from '../../repository/trees';
import { git } from '../../repository/git';
import { withLock } from '../../repository/lock';
import { environmentsFolder, lockPath } from '../../repository/storage';
import { environmentPlan, planDigest, planVersion, type EnvironmentPlan } from '../environmentPlan';
import { pythonText } from '../../engine/pythonProgram';
import { asOfLeastDay } from '../plan/packageDay';
import { packageOf, plainName, scmName } from '../plan/projectNeeds';
import { installPackages, resolvePackages, type PackagePlace } from '../plan/resolvePackages';
import { interpreterIn, pythonOfVersion, runTool, toolEnvironment, uvOf } from './tools';

/** The environment is that of several trees, so the line asks which one is under test. */
const linkLine =
  'import os, sys; sys.path.extend(each for each in ' +
  `os.environ.get("${treeVariable}", "").split(os.pathsep) if each and each not in sys.path)\n`;

/** A file of an environment that is complete. */
const readyFile = 'swt-bench.json';

/** What is kept about the environment of an instance. */
const knownSchema = z.object({
  /** Folder of the environment. */
  name: z.string(),
  moved: z.object({ wanted: z.string(), taken: z.string() }).optional(),
});

/** What an environment records about itself, as far as it is read back. */
const aboutSchema = z.object({
  /** The `.dist-info` folders of its packages, relative to it. */
  infos: z.array(z.string()).default([]),
});

/**
 * The virtual environment for an instance, by the same plan as its image: its Python, and its
 * requirements as of its day. Instances with the same Python and the same resolved versions share
 * one. R itself is not installed: its tree precedes everything, and only its metadata is there.
 *
 * @throws HumanError when Python, uv or a package is not available; Cancelled
 */
export async function virtualEnvironment(
  request: VirtualEnvironmentRequest,
  work: EngineWork,
): Promise<VirtualEnvironment> {
  const { instance, tree, storage } = request;
  const plan = await environmentPlan(instance, tree);
  // Requirements are resolved once for a tree, since that takes seconds and asks the package index.
  const key = sha256OfJson([planDigest(plan), tree]);
  const known = join(environmentsFolder(storage), 'known', key);
  const before = await readKnown(known);
  const old = before && join(environmentsFolder(storage), before.name);
  if (before === undefined || old === undefined || !(await isReady(old))) {
    return made(request, plan, known, work);
  }
  const changed = await changedPackages(old);
  if (changed.length > 0) {
    const listed = changed.slice(0, 5).join(', ');
    work.reporter.log(
      `${instance.id}: the environment of ${plan.title} no longer has all of ${listed}; creating a new one`,
    );
    try {
      return await made(request, plan, known, work);
    } catch (error) {
      const isOurs = error instanceof HumanError && !(error instanceof Cancelled);
      if (!isOurs || request.isForPerson === true) throw error;
      // As without a network: what is there may be enough.
      work.reporter.log(`${error.message}. Using the changed environment`);
    }
  }
  return { interpreter: interpreterIn(old), moved: before.moved };
}

/**
 * Makes the environment of an instance, or finds one of the same versions.
 *
 * @param known file that names the environment from then on
 */
async function made(
  { instance, tree, storage }: VirtualEnvironmentRequest,
  plan: EnvironmentPlan,
  known: string,
  work: EngineWork,
): Promise<VirtualEnvironment> {
  const { title, day } = plan;
  const { id } = instance;
  work.reporter.progress(`${id}: looking for Python ${plan.python}`);
  const python = await pythonOfVersion(plan.python, title, work.signal);
  const uv = await uvOf(storage, python, work);
  const folder = environmentsFolder(storage);
  const scratch = join(folder, `.making-${randomUUID()}`);
  await makeFolder(scratch);
  try {
    const copy = join(scratch, 'tree');
    await copyTree(tree, copy, work.signal);
    const making: Making = { id, uv, python, plan, scratch, copy, work };
    const today = new Date().toISOString().slice(0, 10);
    const { answer: lock, moved } = await asOfLeastDay(day, today, (each) => {
      work.reporter.progress(`${id}: resolving the requirements of ${title}`);
      return resolvePackages(plan, placeOf(making), each);
    });
    const usual = `${title.replace(/\W+/g, '-')}-${sha256OfJson([planVersion, python, title, lock]).slice(0, 12)}`;
    const options = { ...work, what: `makes the environment of ${title}` };
    const name = await withLock(lockPath(storage, 'environment', usual), options, async () => {
      const { name: free, isMade } = await unchangedOrFree(folder, usual);
      if (isMade) return free;
      const at = join(folder, free);
      await rm(at, { recursive: true, force: true });
      await install(making, at, lock, moved?.taken ?? day);
      const infos = await infosOf(at, lock);
      const about = { title, python, day: moved?.taken ?? day, lock, infos };
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
 * The first of `usual`, `usual-2`, … that is an environment as it was made, or does not exist yet. One
 * that someone has changed stays where it is, since tests may run with it.
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

/** What is kept about an instance's environment; undefined where it cannot be read. */
async function readKnown(file: string): Promise<z.infer<typeof knownSchema> | undefined> {
  try {
    return knownSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

interface Making {
  /** Of the instance. */
  readonly id: string;
  readonly uv: string;
  readonly python: string;
  readonly plan: EnvironmentPlan;
  readonly scratch: string;
  /** A copy of R, which its set-up program may write to. */
  readonly copy: string;
  readonly work: EngineWork;
}

/**
 * This machine as the place of a plan.
 *
 * @param more variables in addition to those of every build
 */
function placeOf(making: Making, more: Readonly<Record<string, string>> = {}): PackagePlace {
  const { uv, python, copy, scratch, plan, work } = making;
  const scm = `SETUPTOOLS_SCM_PRETEND_VERSION_FOR_${scmName(plan.packages.name)}`;
  const env = { ...toolEnvironment(), [scm]: plan.installation.version, ...more };
  const run: PackagePlace['uv'] = async (args) => {
    const { signal } = work;
    const ended = await runTool([uv, ...args], {
      ...{ env, python, cwd: scratch, signal },
    });
    if (ended.output.trim() !== '') work.reporter.log(ended.output.trimEnd());
    return { code: ended.exitCode ?? 1, output: ended.startError ?? ended.output };
  };
  const folder = join(scratch, 'tools');
  return {
    python,
    tools: { folder, python: interpreterIn(folder) },
    ofTree: (path) => join(copy, path),
    async write(name, lines) {
      const path = join(scratch, name);
      await writeFile(path, `${lines.join('\n')}\n`);
      return path;
    },
    uv: (args, doing) => run([...args, '--quiet'], doing),
    async compile(args, doing) {
      // uv prefers what such a file already has.
      const lock = join(scratch, `${randomUUID()}.txt`);
      const ended = await run(['pip', 'compile', ...args, '--output-file', lock], doing);
      return { ...ended, lock: ended.code === 0 ? await readFile(lock, 'utf8') : '' };
    },
    failed: ({ output }, doing) =>
      new HumanError(
        `Could not ${doing}: ${output.trim().slice(-1500)}`,
        'Check that the package index is reachable, or use the docker engine',
      ),
  };
}

/** Makes the environment with exactly these packages. */
async function install(
  making: Making,
  made: string,
  lock: readonly string[],
  day: string | undefined,
): Promise<void> {
  const { id, python, copy, plan, work, scratch } = making;
  const { title, installation } = plan;
  work.reporter.progress(`${id}: installing ${plural(lock.length, 'package')} for ${title}`);
  const doing = `create the environment of ${title}`;
  const own = interpreterIn(made);
  const place = placeOf(making);
  const seeded = await place.uv(['venv', '--seed', '--python', python, made], doing);
  if (seeded.code !== 0) throw place.failed(seeded, doing);
  await installPackages(lock, own, place, { day, doing });
  // Otherwise each run would compile them, and where warnings are errors, a package with an invalid
  // escape could not be imported.
  for (const site of await siteFolders(made)) {
    const program = pythonText('compile_sources.py', 'compile_folder.py');
    const command = [own, '-I', '-S', '-c', program, site];
    await runTool(command, { python: own, cwd: scratch, signal: work.signal });
    await writeFile(join(site, treeLink), linkLine);
  }
  if (installation.install !== 'editable' || plan.packages.project === undefined) return;
  // Releases of setuptools-scm before 2021 do not know the variable that names the project.
  const building = placeOf(making, { SETUPTOOLS_SCM_PRETEND_VERSION: installation.version });
  const words = ['pip', 'install', '--python', own, '--no-deps', '--no-build-isolation', copy];
  const ended = await building.uv(words, doing);
  if (ended.code !== 0) {
    // Most tests need no metadata of R.
    const { message } = building.failed(ended, doing);
    work.reporter.log(`${title} itself could not be built: ${message}`);
    return;
  }
  await keepOnlyMetadata(made, plan.packages.name);
  for (const site of await siteFolders(made)) await keepWritten(copy, join(site, writtenFolder));
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
 * version or without some of their files. Someone has changed it since.
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

/** The interpreter of an environment is a link, whose Python may have been removed. */
const isReady = (made: string): Promise<boolean> =>
  Promise.all([access(join(made, readyFile)), access(interpreterIn(made))]).then(
    () => true,
    () => false,
  );
