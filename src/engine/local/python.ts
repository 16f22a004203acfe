import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { sha256 } from '../../files/digest';
import { HumanError, messageOf } from '../../domain/work';
import { systemFault } from '../../files/systemFault';
import type { Environment } from '../engine';
import { pythonProgram } from '../pythonProgram';
import { runnerPackages } from '../runners/runners';
import { readInstalled, type ImportFolders, type InstalledFiles } from './installedFiles';
import { treeLink, writtenFolder } from '../environmentMaker';

/** An environment on this machine. */
export interface LocalEnvironment extends Environment {
  /**
   * Folder of the user's own packages (`pip install --user`); undefined when the interpreter has
   * none. It is passed to tests explicitly, because they run with another home folder.
   */
  readonly userBase: string | undefined;
  /** Folders that it imports from. */
  readonly folders: ImportFolders;
  /** Name of the interpreter's build. Compiled files of one build are of no use to another. */
  readonly build: string;
  /** Files that installing R in place writes into its tree: their origins by path in the tree. */
  readonly written: ReadonlyMap<string, string>;
  /** The ending of its compiled files after the name of the module, such as `.cpython-311.pyc`. */
  readonly compiledSuffix: string | undefined;
}

interface Answer {
  executable: string;
  version: [number, number, number];
  implementation: string;
  packages: Record<string, string>;
  build: string;
  cacheTag: string | null;
  sites: string[];
  standard: string[];
  others: string[];
  userBase: string | null;
}

/**
 * The interpreter that tests run with, and the present state of what it can import. It is the one
 * that was named, else that of the active virtual environment, else `python3` or `python` on PATH.
 * A folder is taken as a virtual environment.
 *
 * @param tracer folder of the tracer, whose content is part of the digest
 * @throws HumanError when there is none, or it is older than 3.6
 */
export async function findPython(
  named: string | undefined,
  tracer: string,
): Promise<LocalEnvironment & { readonly installed: InstalledFiles }> {
  const binary = process.platform === 'win32' ? ['Scripts', 'python.exe'] : ['bin', 'python'];
  const active = process.env['VIRTUAL_ENV'];
  const candidates =
    named !== undefined && named !== ''
      ? [named, join(named, ...binary)]
      : [...(active === undefined ? [] : [join(active, ...binary)]), 'python3', 'python'];
  const failures: string[] = [];
  for (const candidate of candidates) {
    const answer = await ask(candidate);
    if (typeof answer === 'string') {
      failures.push(`${candidate}: ${answer}`);
      continue;
    }
    if (isTooOld(answer)) {
      failures.push(`${candidate}: Python ${answer.version.join('.')} is older than 3.6`);
      continue;
    }
    const { sites, standard, others } = answer;
    const folders = { sites, standard, others, own: [resolve(tracer)] };
    const installed = await readInstalled(folders);
    const description = `${answer.implementation === 'cpython' ? 'CPython' : answer.implementation} ${answer.version.join('.')}`;
    return {
      description,
      interpreter: answer.executable,
      pythonVersion: answer.version.join('.'),
      packages: answer.packages,
      userBase: answer.userBase ?? undefined,
      folders,
      build: sha256(answer.build).slice(0, 16),
      written: writtenIn(sites, installed),
      compiledSuffix: answer.cacheTag === null ? undefined : `.${answer.cacheTag}.pyc`,
      installed,
      digest: sha256(
        JSON.stringify([description, answer.executable, answer.build, sites, others]),
        installed.digest,
        await tracerDigest(tracer),
      ),
    };
  }
  throw new HumanError(
    named === undefined
      ? `No Python found to run tests (${failures.join('; ')})`
      : `Python not found at ${named} (${failures.join('; ')})`,
    named === undefined
      ? 'Install Python 3.8 or later, or specify an interpreter with --python or the setting swt-bench.python'
      : 'Specify an interpreter or virtual environment with --python or the setting swt-bench.python',
  );
}

/** An interpreter in a folder of PATH. */
export interface PythonOnPath {
  readonly interpreter: string;
  readonly version: string;
  readonly pytest: string | undefined;
}

/**
 * The first interpreter in some folders that has pytest, which most repositories need; where none
 * has, the first that runs. Undefined for none.
 *
 * @param folders in the order of PATH; those that are not absolute are left out
 */
export async function pythonOnPath(folders: readonly string[]): Promise<PythonOnPath | undefined> {
  let first: PythonOnPath | undefined;
  const seen = new Set<string>();
  for (const folder of new Set(folders.filter((each) => isAbsolute(each)))) {
    for (const name of process.platform === 'win32' ? ['python.exe'] : ['python3', 'python']) {
      const path = join(folder, name);
      const real = await realpath(path).catch(() => undefined);
      if (real === undefined || seen.has(real)) continue;
      seen.add(real);
      const answer = await ask(path);
      if (typeof answer === 'string' || isTooOld(answer)) continue;
      const pytest = answer.packages['pytest'];
      const found = { interpreter: answer.executable, version: answer.version.join('.'), pytest };
      if (pytest !== undefined) return found;
      first ??= found;
    }
  }
  return first;
}

const isTooOld = ({ version: [major, minor] }: Answer): boolean =>
  major < 3 || (major === 3 && minor < 6);

/** The files that a made environment keeps for the tree under test. */
function writtenIn(
  sites: readonly string[],
  { files }: InstalledFiles,
): ReadonlyMap<string, string> {
  const roots = sites.map((site) => join(site, writtenFolder) + sep);
  const found = [...files.keys()].flatMap((path) => {
    const root = roots.find((each) => path.startsWith(each));
    return root === undefined ? [] : [[path.slice(root.length), path] as const];
  });
  return new Map(found);
}

/**
 * Tests run without the user's settings for Python, so the question about the environment must too.
 * The folder of the user's packages is an exception, because tests get it.
 */
function withoutPythonSettings(): NodeJS.ProcessEnv {
  const kept = /^PYTHON(USERBASE|NOUSERSITE)$/;
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('PYTHON') || kept.test(name)),
  );
}

function ask(program: string): Promise<Answer | string> {
  return new Promise<Answer | string>((resolve, reject) => {
    execFile(
      program,
      [pythonProgram('programs', 'ask_python.py'), treeLink, ...runnerPackages()],
      { timeout: 20_000, env: withoutPythonSettings() },
      (error, stdout, stderr) => {
        const shortage = systemFault(error);
        if (shortage !== undefined) return reject(shortage);
        if (error !== null) {
          resolve(
            error.code === 'ENOENT'
              ? 'not found'
              : error.code === 'EACCES'
                ? 'is not a program'
                : (stderr.trim().split('\n').at(-1) ?? error.message),
          );
          return;
        }
        try {
          resolve(JSON.parse(stdout) as Answer);
        } catch {
          resolve('does not respond like a Python interpreter');
        }
      },
    );
    // Node throws what it does not expect of a path, such as a file in place of a folder.
  }).catch((error: unknown) => {
    if (error instanceof HumanError) throw error;
    return /ENOTDIR/.test(messageOf(error)) ? 'not found' : messageOf(error);
  });
}

/** Digest of the tracer's files: a run with another tracer is another run. */
export async function tracerDigest(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py')).sort();
  for (const name of names) hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest('hex');
}
