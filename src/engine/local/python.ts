import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HumanError } from '../../domain/problem';
import type { Environment } from '../engine';

/**
 * What an interpreter says of itself. `packages` changes whenever a run could come out otherwise because of
 * something installed: names and times of the records that pip, setuptools and Debian leave in every
 * site folder, what leads elsewhere (`.pth`, `.egg-link`, finders of editable installs) with its content,
 * and the newest time below the places it leads to. Where there is more than can be looked at, it is
 * another one every time, and no run is used again.
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

LIMIT = 50000
packages = []
seen = 0

def stamp(path):
    try:
        return "%d" % os.stat(path).st_mtime_ns
    except OSError:
        return "-"

def content(path):
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20).decode("latin-1")
    except OSError:
        return "-"

def newest(root):
    """Number of the files below a folder that can be imported, and the newest time of one."""
    global seen
    count, last = 0, 0
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(".") and f not in ("__pycache__", "node_modules")]
        for name in files:
            seen += 1
            if name.endswith((".py", ".so", ".pyd", ".cfg", ".toml", ".ini")):
                count += 1
                try:
                    last = max(last, os.stat(os.path.join(folder, name)).st_mtime_ns)
                except OSError:
                    pass
        if seen > LIMIT:
            return os.urandom(16).hex()
    return "%d %d" % (count, last)

paths = sysconfig.get_paths()
standard = {os.path.realpath(paths[k]) for k in ("stdlib", "platstdlib")}
standard |= {os.path.join(p, "lib-dynload") for p in standard}
places = {paths[k] for k in ("purelib", "platlib")}
others = set()
for path in sys.path:
    if os.path.basename(path) in ("site-packages", "dist-packages"):
        places.add(path)
    elif os.path.isdir(path) and os.path.realpath(path) not in standard:
        others.add(path)
for place in sorted(places):
    for name in sorted(os.listdir(place)) if os.path.isdir(place) else ():
        path = os.path.join(place, name)
        if name.endswith((".dist-info", ".egg-info")):
            packages.append([name, stamp(path)])
            link = os.path.join(path, "direct_url.json")
            if os.path.isfile(link):
                text = content(link)
                packages.append(text)
                try:
                    told = json.loads(text)
                    if told.get("dir_info", {}).get("editable") and told["url"].startswith("file://"):
                        from urllib.request import url2pathname
                        others.add(url2pathname(told["url"][len("file://"):]))
                except Exception:
                    pass
        elif name.endswith((".pth", ".egg-link")) or name.startswith("__editable__"):
            packages.append([name, content(path)])
        elif name.endswith((".py", ".so", ".pyd")):
            packages.append([name, stamp(path)])
for path in sorted({os.path.realpath(p) for p in others}):
    packages.append([path, newest(path) if os.path.isdir(path) else stamp(path)])
print(json.dumps({
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "implementation": sys.implementation.name,
    "pytest": (version or "unknown") if spec is not None else None,
    "tox": tox,
    "packages": packages,
    "userBase": site.getuserbase() if site.ENABLE_USER_SITE else None,
}))
`;

/** An environment of this machine. */
export interface LocalEnvironment extends Environment {
  /**
   * Where the user's own packages lie (`pip install --user`); undefined when the interpreter has none.
   * Tests run with another home folder, so they must be told.
   */
  readonly userBase: string | undefined;
}

interface Answer {
  executable: string;
  version: [number, number, number];
  implementation: string;
  pytest: string | null;
  tox: string | null;
  packages: unknown[];
  userBase: string | null;
}

/**
 * The interpreter that tests run with: the one that was named, else that of the active virtual
 * environment, else `python3` or `python` on PATH. A folder is taken as a virtual environment.
 *
 * @param tracer folder of the tracer, whose content is part of the digest
 * @throws HumanError when there is none, or it is older than 3.6
 */
export async function findPython(
  named: string | undefined,
  tracer: string,
): Promise<LocalEnvironment> {
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
    const [major, minor] = answer.version;
    if (major < 3 || (major === 3 && minor < 6)) {
      failures.push(`${candidate}: Python ${answer.version.join('.')} is older than 3.6`);
      continue;
    }
    const description = `${answer.implementation === 'cpython' ? 'CPython' : answer.implementation} ${answer.version.join('.')}`;
    return {
      description,
      interpreter: answer.executable,
      pythonVersion: answer.version.join('.'),
      pytest: answer.pytest ?? undefined,
      tox: answer.tox ?? undefined,
      userBase: answer.userBase ?? undefined,
      digest: createHash('sha256')
        .update(JSON.stringify([description, answer.executable, answer.packages]))
        .update(await tracerDigest(tracer))
        .digest('hex'),
    };
  }
  throw new HumanError(
    `No Python can be run to execute tests (${failures.join('; ')})`,
    named === undefined
      ? 'Install Python 3.8 or later, or name an interpreter with --python or the setting swt-bench.python'
      : 'Name the interpreter of an environment that has the dependencies of the repository',
  );
}

/**
 * What the user has set for Python is not set for tests, and so must not be for the question what there
 * is; except where their own packages are, which tests are told.
 */
function withoutPythonSettings(): NodeJS.ProcessEnv {
  const kept = /^PYTHON(USERBASE|NOUSERSITE)$/;
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('PYTHON') || kept.test(name)),
  );
}

function ask(program: string): Promise<Answer | string> {
  return new Promise((resolve) => {
    execFile(
      program,
      ['-c', question],
      { timeout: 20_000, env: withoutPythonSettings() },
      (error, stdout, stderr) => {
        if (error !== null) {
          resolve(
            error.code === 'ENOENT' || error.code === 'ENOTDIR'
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
  });
}

/** Content of the tracer: a run made with another tracer is another run. */
export async function tracerDigest(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py')).sort();
  for (const name of names) hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest('hex');
}
