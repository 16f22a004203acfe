import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { environment } from '../environments';
import { baseImage, certificates } from './dockerForTests';
import { skipSuite } from './skipping';

const run = promisify(execFile);
const cache = process.env['SWT_BENCH_CACHE'] ?? join(__dirname, '..', '..', '.cache');
const mirror = process.env['SWT_BENCH_DEBIAN_MIRROR'] ?? 'http://deb.debian.org/debian';

/** Debian packages with the plugins of docker that Harbor and inspect_ai need. */
const plugins = [
  'pool/main/d/docker-compose/docker-compose_2.26.1-4_amd64.deb',
  'pool/main/d/docker-buildx/docker-buildx_0.13.1+ds1-3_amd64.deb',
];

/**
 * The environment of a process that calls `docker compose`: that of this process where the plugin is
 * installed, else with Debian's. Skips the suite, with the cause, where there is none.
 */
export async function withCompose(suite: Mocha.Context): Promise<NodeJS.ProcessEnv> {
  const answers = (env: NodeJS.ProcessEnv): Promise<boolean> =>
    run('docker', ['compose', 'version'], { env }).then(
      () => true,
      () => false,
    );
  if (await answers(process.env)) return process.env;
  const config = join(cache, 'docker');
  const env = { ...process.env, DOCKER_CONFIG: config };
  if (await answers(env)) return env;
  const beside = `${config}.${process.pid}`;
  try {
    await mkdir(join(beside, 'cli-plugins'), { recursive: true });
    for (const path of plugins) {
      const answer = await fetch(`${mirror}/${path}`);
      if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
      const archive = join(beside, 'package.deb');
      await writeFile(archive, Buffer.from(await answer.arrayBuffer()));
      execFileSync('dpkg-deb', ['-x', archive, join(beside, 'files')]);
    }
    const folder = join(beside, 'files', 'usr', 'libexec', 'docker', 'cli-plugins');
    for (const name of readdirSync(folder))
      await copyFile(join(folder, name), join(beside, 'cli-plugins', name));
    await rm(config, { recursive: true, force: true });
    await rename(beside, config);
  } catch (error) {
    return skipSuite(suite, `docker compose is not here and cannot be had (${String(error)})`);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
  return (await answers(env)) ? env : skipSuite(suite, 'docker compose does not answer');
}

/**
 * An environment with programs of the field, for which they want Python 3.12. Skips the suite, with
 * the cause, where there is no such Python or the registry cannot be reached.
 */
export async function fieldEnvironment(
  suite: Mocha.Context,
  packages: readonly string[],
): Promise<string> {
  const versions = join(process.env['PYENV_ROOT'] ?? join(homedir(), '.pyenv'), 'versions');
  const found = existsSync(versions)
    ? readdirSync(versions)
        .filter((name) => name.startsWith('3.12.'))
        .map((name) => join(versions, name, 'bin', 'python'))
    : [];
  const python = [...found, '/usr/bin/python3.12'].find(existsSync);
  if (python === undefined) return skipSuite(suite, 'there is no Python 3.12');
  return environment(suite, python, packages);
}

/**
 * The base images of the tests with the certificates of this machine, since what builds a Dockerfile
 * fetches packages itself.
 *
 * @returns the name for `--base-image`
 */
export async function certifiedBase(pythons: readonly string[]): Promise<string> {
  if (certificates === undefined) return baseImage;
  const name = 'swt-test/certified:{python}';
  const folder = await mkdtemp(join(tmpdir(), 'swt-certified-'));
  try {
    await copyFile(certificates, join(folder, 'certificates.crt'));
    for (const python of pythons) {
      const path = '/etc/ssl/certs/ca-certificates.crt';
      const lines = [
        `FROM ${baseImage.replace('{python}', python)}`,
        `COPY certificates.crt ${path}`,
        `ENV SSL_CERT_FILE=${path} PIP_CERT=${path}`,
      ];
      await writeFile(join(folder, 'Dockerfile'), lines.join('\n'));
      await run('docker', ['build', '-q', '-t', name.replace('{python}', python), folder]);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return name;
}
