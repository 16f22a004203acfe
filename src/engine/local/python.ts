import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, resolve, sep } from 'node:path';
import { sha256 } from '../../files/digest';
import { HumanError, messageOf } from '../../domain/work';
import { systemFault } from '../../files/systemFault';
import type { Environment } from '../engine';
import { treeLink, writtenFolder } from '../../environments/virtual/instanceEnvironment';
import { readInstalled, type ImportFolders, type InstalledFiles } from './installedFiles';

/**
 * Asks an interpreter for its version and the folders that it imports from. These are the folders
 * of installed packages, of the standard library, and those that paths in them lead to (`.pth`,
 * editable installs).
 */
const question = `
import sys
sys.path[:] = [p for p in sys.path if p]  # not the folder that this happens to be asked in
import json, os, site, sysconfig
try:
    import importlib.util as u
    spec = u.find_spec("pytest")
except Exception:
    spec = None
version = None
if spec is not None:
    try:
        from importlib import metadata
        version = metadata.version("pytest")
    except Exception:
        try:
            import pytest
            version = pytest.__version__
        except Exception:
            spec = None
# In an environment that is made here, R itself is only metadata: the tree under test has the code.
made = any(os.path.isfile(os.path.join(place, "${treeLink}")) for place in site.getsitepackages())
ofTree = None
if spec is None and made:
    try:
        from importlib import metadata
        ofTree = metadata.version("pytest")
    except Exception:
        pass

tox = None
try:
    if u.find_spec("tox_current_env") is not None and u.find_spec("tox") is not None:
        try:
            from importlib import metadata
            tox = metadata.version("tox")
        except ImportError:
            import tox as module
            tox = module.__version__
except Exception:
    tox = None

paths = sysconfig.get_paths()
standard = [paths[k] for k in ("stdlib", "platstdlib")]
inside = {os.path.realpath(p) for p in standard}
inside |= {os.path.join(p, "lib-dynload") for p in inside}
sites = {paths[k] for k in ("purelib", "platlib")}
user = site.getusersitepackages() if site.ENABLE_USER_SITE else None
if user:
    sites.add(user)  # also where there is none: a test could make one
others = set()
for path in sys.path:
    if os.path.basename(path) in ("site-packages", "dist-packages"):
        sites.add(path)
    elif os.path.exists(path) and os.path.realpath(path) not in inside:
        others.add(path)
for place in sorted(sites):
    for name in sorted(os.listdir(place)) if os.path.isdir(place) else ():
        link = os.path.join(place, name, "direct_url.json")
        if name.endswith(".dist-info") and os.path.isfile(link):
            try:
                with open(link, "rb") as file:
                    told = json.loads(file.read(1 << 20).decode())
                if told.get("dir_info", {}).get("editable") and told["url"].startswith("file://"):
                    from urllib.request import url2pathname
                    others.add(url2pathname(told["url"][len("file://"):]))
            except Exception:
                pass
def real(folders):
    return sorted({os.path.realpath(p) for p in folders})
print(json.dumps({
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "implementation": sys.implementation.name,
    "pytest": (version or "unknown") if spec is not None else ofTree,
    "tox": tox,
    "build": sys.version,
    "cacheTag": sys.implementation.cache_tag if sys.implementation.name == "cpython" else None,
    "sites": real(sites),
    "standard": real(standard),
    "others": real(others),
    "userBase": site.getuserbase() if user and os.path.isdir(user) else None,
}))
`;

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
  pytest: string | null;
  tox: string | null;
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
      pytest: answer.pytest ?? undefined,
      tox: answer.tox ?? undefined,
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
      ? `No Python was found to run tests (${failures.join('; ')})`
      : `Python not found at ${named} (${failures.join('; ')})`,
    named === undefined
      ? 'Install Python 3.8 or later, or name an interpreter with --python or the setting swt-bench.python'
      : 'Name an interpreter or a virtual environment with --python or the setting swt-bench.python',
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
      const { executable: interpreter, pytest } = answer;
      const found = { interpreter, version: answer.version.join('.'), pytest: pytest ?? undefined };
      if (pytest !== null) return found;
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
      ['-c', question],
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
          resolve('did not answer as a Python would');
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
