// `npm run web [-- FOLDER] [--port N]`: a real VS Code in the browser with this extension installed.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cacheFolder } from './acquire.mjs';
import { folderAddress, installCodeServer, installExtension, startServer } from './codeServer.mjs';
import { packageExtension } from './packageExtension.mjs';
import { freePort, isFree, runToEnd } from './processes.mjs';

const PROJECT = path.resolve(fileURLToPath(import.meta.url), '../../../..');
/** A fixed port, so that the browser finds the data that it keeps for this address. */
const USUAL_PORT = 8421;

const FIRST_SETTINGS = {
  'chat.disableAIFeatures': true,
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'extensions.ignoreRecommendations': true,
};

/**
 * Builds, packages and installs the extension, and serves VS Code on the loopback interface. Its
 * data stay in the cache folder.
 * @param {object} options
 * @param {string} [options.extension] folder of the extension; default: this project
 * @param {string} [options.folder] to open
 * @param {number} [options.port]
 * @param {(text: string) => void} options.log
 * @returns {Promise<{ address: string, ended: Promise<string> }>} `ended` says why, if the server
 *   ends
 */
export async function startWeb({ extension = PROJECT, folder, port, log }) {
  const data = path.join(cacheFolder(), 'web');
  await fs.mkdir(data, { recursive: true });
  const server = await installCodeServer(path.join(cacheFolder(), 'vscode'), log);

  const build = path.join(extension, 'esbuild.js');
  if (existsSync(build)) await runToEnd(process.execPath, [build], { cwd: extension });
  const vsix = path.join(data, 'extension.vsix');
  await packageExtension(extension, vsix);
  await installExtension(server, data, vsix);

  const settingsFile = path.join(data, 'data/User/settings.json');
  const token = await keptToken(path.join(data, 'token'));
  const { origin, ended } = await startServer(server, {
    data,
    port: port ?? ((await isFree(USUAL_PORT)) ? USUAL_PORT : await freePort()),
    token,
    ...(existsSync(settingsFile) ? {} : { settings: FIRST_SETTINGS }),
  });
  return { address: folderAddress(origin, { folder, token }), ended };
}

/** Other users of the machine reach the loopback interface too; the token keeps them out. */
async function keptToken(file) {
  const kept = await fs.readFile(file, 'utf8').catch(() => '');
  if (/^[0-9a-f]{32}$/.test(kept)) return kept;
  const token = randomBytes(16).toString('hex');
  await fs.writeFile(file, token, { mode: 0o600 });
  return token;
}

/**
 * Opens an address in the browser of a desktop.
 * @param {string} address
 * @returns {boolean} whether there is a desktop
 */
function openInBrowser(address) {
  const { DISPLAY, WAYLAND_DISPLAY } = process.env;
  const hasDesktop = process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY);
  if (!hasDesktop) return false;
  const program = { darwin: 'open', win32: 'explorer' }[process.platform] ?? 'xdg-open';
  const child = spawn(program, [address], { stdio: 'ignore', detached: true });
  // Without such a program, the printed address serves.
  child.on('error', () => undefined);
  child.unref();
  return true;
}

/**
 * The command line: `[FOLDER] [--port N] [--extension DIR]`.
 * @param {string[]} args
 * @returns {Promise<number>} exit status
 */
export async function main(args) {
  let folder;
  let port;
  let extension;
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { port: { type: 'string' }, extension: { type: 'string', default: PROJECT } },
    });
    extension = path.resolve(values.extension);
    folder = positionals[0] && path.resolve(positionals[0]);
    if (folder && !existsSync(folder)) throw new Error(`${folder}: no such folder`);
    port = values.port === undefined ? undefined : Number(values.port);
    if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
      throw new Error(`--port ${values.port}: not a port number`);
    }
    if (port !== undefined && !(await isFree(port))) throw new Error(`port ${port} is in use`);
  } catch (error) {
    console.error(error.message);
    return 2;
  }
  // Ctrl-C is how this command ends, so it is no failure.
  process.on('SIGINT', () => process.exit(0));
  try {
    const log = (text) => console.log(`vscode: ${text}`);
    const { address, ended } = await startWeb({ extension, folder, port, log });
    const how = openInBrowser(address) ? 'opens in your browser' : 'is ready';
    console.log(`\nVS Code ${how}:  ${address}\nPress Ctrl-C to stop it.`);
    console.error(await ended);
  } catch (error) {
    console.error(error.message);
  }
  return 1;
}

if (process.argv[1] && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exit(await main(process.argv.slice(2)));
}
