// A Docker engine for the tests: the one at the usual place, or Debian's own, which is installed,
// started and finally stopped here.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Dockerode from 'dockerode';
import { baseImage, ensureBaseImage, neededPythons } from './baseImages.mjs';
import { cache } from './setup.mjs';

/** Debian's packages: the engine, and what the tests of pulling and of Podman's socket need. */
const packages = ['docker.io', 'debootstrap', 'iptables', 'ca-certificates'];
const others = ['podman', 'docker-registry'];

/**
 * Starts an engine and makes the base images, at low priority.
 *
 * @returns `cause`, why there is none, in one line; `env`, variables for the tests; `stop`, which
 *   ends the engine if it was started here
 */
export async function startDocker() {
  const log = (line) => console.log(`docker: ${line}`);
  const rig = { cause: undefined, env: {}, stop: async () => undefined };
  try {
    const docker = new Dockerode();
    if (!(await answers(docker))) rig.stop = await startEngine(docker, log);
    for (const python of neededPythons) await ensureBaseImage(docker, python, log);
    rig.env = { SWT_BENCH_TEST_BASE_IMAGE: baseImage, ...certificates() };
  } catch (error) {
    rig.cause = String(error.message ?? error).split('\n')[0];
    rig.env = { SWT_BENCH_NO_DOCKER: rig.cause };
  }
  return rig;
}

const answers = (docker) =>
  docker.ping().then(
    () => true,
    () => false,
  );

/** Installs and starts the engine; returns the function that stops it. */
async function startEngine(docker, log) {
  if (process.env.DOCKER_HOST) throw new Error(`nothing answers at ${process.env.DOCKER_HOST}`);
  if (process.platform !== 'linux') throw new Error('no engine answers');
  if (process.getuid() !== 0) throw new Error('no engine answers, and only root can start one');
  await install();
  // Where installation starts services, an engine runs now.
  for (let tries = 0; existsSync('/run/systemd/system') && tries < 20; tries += 1) {
    if (await answers(docker)) return async () => undefined;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  mkdirSync(cache, { recursive: true });
  const logFile = join(cache, 'dockerd.log');
  const out = openSync(logFile, 'w');
  // By default the engine tries a cut pull five times, which takes over a minute.
  const child = spawn('dockerd', ['--max-download-attempts', '3'], {
    detached: true,
    stdio: ['ignore', out, out],
  });
  let ended;
  child.on('error', (error) => (ended = error.message));
  child.on('exit', (code, signal) => (ended ??= `dockerd ended with ${code ?? signal}`));
  for (let waited = 0; !(await answers(docker)); waited += 250) {
    const last = readFileSync(logFile, 'utf8').trim().split('\n').at(-1);
    if (ended !== undefined) throw new Error(`${ended}: ${last}`);
    if (waited > 300_000) {
      child.kill('SIGTERM');
      throw new Error(`dockerd does not answer after 5 minutes: ${last}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  log(`dockerd started, log in ${logFile}`);
  child.unref();
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.once(name, () => {
      child.kill('SIGTERM');
      process.exit(130);
    });
  }
  return async () => {
    child.kill('SIGTERM');
    for (let waited = 0; ended === undefined && waited < 30_000; waited += 100) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    if (ended === undefined) child.kill('SIGKILL');
  };
}

async function install() {
  const has = (program) => spawnSync('which', [program]).status === 0;
  if (['dockerd', 'debootstrap', 'iptables'].every(has)) return;
  if (!has('apt-get')) {
    throw new Error('no engine answers, and without apt-get none can be installed');
  }
  const apt = (...args) => quietly('apt-get', args);
  await apt('update', '-q');
  await apt('install', '-y', '-q', '--no-install-recommends', ...packages);
  // The tests that need these packages are skipped, with the cause, where they are missing.
  await apt('install', '-y', '-q', '--no-install-recommends', ...others).catch(() => undefined);
}

/**
 * Certificate authorities of this machine, which the base images lack. A package registry behind a
 * proxy may need them. Other settings of the user stay.
 */
function certificates() {
  const file = '/etc/ssl/certs/ca-certificates.crt';
  if (!existsSync(file)) return {};
  return {
    SSL_CERT_FILE: process.env.SSL_CERT_FILE ?? file,
    PIP_CERT: process.env.PIP_CERT ?? file,
  };
}

function quietly(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn('nice', ['-n', '19', program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    });
    let tail = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => (tail = (tail + chunk).slice(-2000)));
    }
    child.on('error', reject);
    child.on('close', (status) =>
      status === 0
        ? resolve()
        : reject(new Error(`${program} ${args[0]} failed: ${tail.trim().split('\n').at(-1)}`)),
    );
  });
}
