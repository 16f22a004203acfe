// `npm run test:cluster`: prepares what evaluate.sh needs, and runs it. Needs Linux, root and Debian's
// package registry, Go 1.24 or later, and Docker Engine, which it starts where none answers. Words
// after the command name the steps to run; by default all are run.
import { spawnSync } from 'node:child_process';
import {
  createWriteStream,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import Dockerode from 'dockerode';
import { ensureBaseImage } from '../scripts/baseImages.mjs';
import { startDocker } from '../scripts/docker.mjs';
import { pythonWithPytest } from '../scripts/pythonWithPytest.mjs';
import { cache, ensureBuilt, ensureInstalled, fail, need, root, run } from '../scripts/setup.mjs';

/** The image of the bundled instance, whose tests need pytest. */
const image = 'swt-test/bundled:1';
const pytest = 'pytest==8.3.5';

/** Programs that the steps start, with Debian's packages that have them. */
const programs = {
  ...{ etcd: 'etcd-server', containerd: 'containerd', ctr: 'containerd', runc: 'runc' },
  ...{ iptables: 'iptables', 'docker-registry': 'docker-registry', curl: 'curl', perl: 'perl' },
  ...{ ip: 'iproute2', openssl: 'openssl', munged: 'munge', slurmctld: 'slurmctld' },
  ...{
    slurmd: 'slurmd',
    sbatch: 'slurm-client',
    '/usr/lib/cni/ptp': 'containernetworking-plugins',
  },
};

/** Status of `flock` when another run has the lock. */
const isTaken = 75;

if (process.platform !== 'linux' || process.getuid() !== 0) {
  fail('The tests on a cluster start kubelets, which only root can do, on Linux.');
}
need('go', ['version'], 'to build Kubernetes');
await ensureInstalled();
await ensureBuilt();
installPackages();
const python = pythonWithPytest();
if (python === undefined) fail('The tests on Slurm need a Python with pytest.');
const rig = await startDocker();
if (rig.cause !== undefined) fail(`The tests on a cluster need Docker: ${rig.cause}.`);
mkdirSync(cache, { recursive: true });
const archive = process.env.SWT_BENCH_TEST_IMAGE ?? (await archiveOf(image));
const status = await run(
  'flock',
  [
    ...['--nonblock', '--close', '--conflict-exit-code', String(isTaken)],
    // Two clusters would share ports, addresses and control groups.
    ...['/run/lock/swt-bench-cluster', 'bash', join(root, 'test', 'cluster', 'evaluate.sh')],
    ...process.argv.slice(2),
  ],
  {
    env: {
      ...process.env,
      ...rig.env,
      SWT_BENCH_CLUSTER: process.env.SWT_BENCH_CLUSTER ?? join(cache, 'cluster'),
      SWT_BENCH_TEST_IMAGE: archive,
      SWT_BENCH_TEST_PYTHON: dirname(python),
      SWT_BENCH_TEST_IMAGE_NAME: process.env.SWT_BENCH_TEST_IMAGE_NAME ?? image,
    },
  },
);
await rig.stop();
if (status === isTaken) fail('Another run of the tests on a cluster is under way on this machine.');
process.exitCode = status;

/** Installs the packages of which a program is missing; none of their services starts. */
function installPackages() {
  const has = (program) => spawnSync('which', [program]).status === 0;
  const missing = Object.entries(programs).flatMap(([program, name]) =>
    has(program) ? [] : [name],
  );
  if (missing.length === 0) return;
  const policy = '/usr/sbin/policy-rc.d';
  const isOurs = spawnSync('test', ['-e', policy]).status !== 0;
  if (isOurs) writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 });
  try {
    const apt = (...args) =>
      spawnSync('apt-get', ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300', ...args], {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      }).status;
    apt('update');
    const names = [...new Set(missing)];
    console.log(`Installing ${names.join(', ')} …`);
    if (apt('install', '--no-install-recommends', ...names) !== 0) {
      fail(`apt-get could not install ${names.join(', ')}. Install them, and try again.`);
    }
  } finally {
    if (isOurs) rmSync(policy);
  }
}

/** Makes the image, unless it is there, and an archive of it. */
async function archiveOf(name) {
  const docker = new Dockerode();
  const known = docker.getImage(name);
  const isThere = await known.inspect().then(
    () => true,
    () => false,
  );
  if (!isThere) await makeImage(docker, name);
  const file = join(cache, 'bundled-image.tar');
  await pipeline(await known.get(), createWriteStream(`${file}.part`));
  renameSync(`${file}.part`, file);
  return file;
}

/** The base image with pytest, whose wheels this machine's pip fetches. */
async function makeImage(docker, name) {
  const from = await ensureBaseImage(docker, '3.11', console.log);
  const wheels = mkdtempSync(join(tmpdir(), 'swt-wheels-'));
  try {
    const version = ['--python-version', '3.11', '--only-binary', ':all:'];
    const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check'];
    if ((await run('python3', [...pip, ...version, '--dest', wheels, pytest])) !== 0) {
      fail(`pip could not download ${pytest}.`);
    }
    const install = `python -m pip install --quiet --no-index --find-links /wheels ${pytest}`;
    const container = await docker.createContainer({
      ...{ Image: from, Cmd: ['sh', '-c', `${install} && rm -r /wheels`] },
      HostConfig: { NetworkMode: 'none' },
    });
    try {
      const tar = spawnSync('tar', ['-C', wheels, '--transform', 's|^\\.|wheels|', '-c', '.'], {
        maxBuffer: 1 << 28,
      });
      await container.putArchive(tar.stdout, { path: '/' });
      await container.start();
      const { StatusCode: ended } = await container.wait();
      if (ended !== 0) {
        const said = await container.logs({ stdout: true, stderr: true });
        fail(`${pytest} could not be installed: ${said.toString().slice(-300)}`);
      }
      const [repo, tag] = name.split(':');
      await container.commit({ repo, tag, changes: 'CMD ["/bin/bash"]' });
    } finally {
      await container.remove({ force: true });
    }
  } finally {
    rmSync(wheels, { recursive: true });
  }
}
