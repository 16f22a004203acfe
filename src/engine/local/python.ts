import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { HumanError } from '../../domain/problem';
import type { Environment } from '../engine';

const question = `
import json, os, site, sys, sysconfig
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
places = {sysconfig.get_paths()[k] for k in ("purelib", "platlib")}
# Debian's own packages and those of the user lie elsewhere.
places.update(p for p in sys.path if os.path.basename(p) in ("site-packages", "dist-packages"))
packages = set()
for place in places:
    for name in os.listdir(place) if os.path.isdir(place) else ():
        if not name.endswith((".dist-info", ".egg-info", ".egg-link", ".pth")):
            continue
        packages.add(name)
        # What leads to another place is another package when it leads elsewhere.
        link = os.path.join(place, name, "direct_url.json") if name.endswith("-info") else os.path.join(place, name)
        if os.path.isfile(link):
            with open(link, "rb") as file:
                packages.add(name + " " + file.read(65536).decode("latin-1"))
print(json.dumps({
    "executable": sys.executable,
    "version": list(sys.version_info[:3]),
    "implementation": sys.implementation.name,
    "pytest": (version or "unknown") if spec is not None else None,
    "packages": sorted(packages),
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
  packages: string[];
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
      pytest: answer.pytest ?? undefined,
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

function ask(program: string): Promise<Answer | string> {
  return new Promise((resolve) => {
    execFile(
      program,
      ['-c', question],
      { timeout: 20_000, env: { ...process.env, PYTHONPATH: '' } },
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
async function tracerDigest(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.py')).sort();
  for (const name of names) hash.update(name).update(await readFile(join(folder, name)));
  return hash.digest('hex');
}
