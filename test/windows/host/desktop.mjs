import fs from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import {
  downloadAndUnzipVSCode,
  resolveCliPathFromVSCodeExecutablePath,
} from '@vscode/test-electron';
import { _electron as electron } from 'playwright-core';
import { findOnPath, onExit, runToEnd, startGroup, withoutEditorVariables } from './processes.mjs';

/** The version of VS Code in code-server, so that both ways test the same one. */
export const VSCODE_VERSION = '1.139.1';

const UPDATE_HOST = 'https://update.code.visualstudio.com';

/**
 * Checks whether the desktop VS Code can be downloaded and shown here.
 * @param {string} cache folder of downloads
 * @returns {Promise<{ reason: string, usable: boolean }>}
 */
export async function probeDesktop(cache) {
  if (!hasDisplay() && !(await findOnPath('Xvfb'))) {
    return { usable: false, reason: 'no display (DISPLAY, WAYLAND_DISPLAY) and no Xvfb' };
  }
  const downloaded = await fs.readdir(cache).catch(() => []);
  if (downloaded.some((name) => name.startsWith('vscode-') && name.endsWith(VSCODE_VERSION))) {
    return { usable: true, reason: 'it is downloaded already' };
  }
  const problem = await askUpdateHost(4_000);
  return problem === undefined
    ? { usable: true, reason: `${UPDATE_HOST} answers` }
    : { usable: false, reason: `${UPDATE_HOST} does not answer (${problem})` };
}

function hasDisplay() {
  return process.platform !== 'linux' || !!(process.env.DISPLAY || process.env.WAYLAND_DISPLAY);
}

/**
 * Requests the list of releases in the same way as the download (it honours proxies).
 * @param {number} limit in milliseconds
 * @returns {Promise<string | undefined>} why it failed, undefined when it answered
 */
async function askUpdateHost(limit) {
  const { getJSON } = createRequire(import.meta.url)('@vscode/test-electron/out/request.js');
  const late = new Promise((resolve) => {
    setTimeout(() => resolve(`${limit / 1000} s passed`), limit).unref();
  });
  const asked = getJSON(`${UPDATE_HOST}/api/releases/stable?released=true`, limit).then(
    () => undefined,
    (error) => String(error?.message || error?.code || error),
  );
  return Promise.race([asked, late]);
}

/**
 * Downloads VS Code unless the cache has it.
 * @param {string} cache folder
 * @returns {Promise<string>} path of the program
 */
export function downloadDesktop(cache) {
  return downloadAndUnzipVSCode({ version: VSCODE_VERSION, cachePath: cache });
}

/**
 * Installs a packaged extension for the windows that {@link startDesktop} opens.
 * @param {string} executable
 * @param {{ data: string, vsix: string }} options as for {@link startDesktop}
 */
export async function installOnDesktop(executable, { data, vsix }) {
  const args = ['--no-sandbox', '--install-extension', vsix, '--force', ...placesIn(data)];
  await runToEnd(resolveCliPathFromVSCodeExecutablePath(executable), args, {
    env: withoutEditorVariables(process.env),
  });
}

/** Where VS Code keeps everything, as arguments. */
const placesIn = (data) => [
  `--user-data-dir=${path.join(data, 'user')}`,
  `--extensions-dir=${path.join(data, 'extensions')}`,
];

/**
 * Starts VS Code for the desktop with unpackaged extensions, one of which runs the tests, on a
 * virtual display if need be.
 * @param {string} executable
 * @param {object} options
 * @param {string} options.data folder for everything it keeps
 * @param {string} [options.folder] to open
 * @param {readonly string[]} options.helpers folders of these extensions
 * @param {Record<string, unknown>} options.settings user settings
 * @param {{ width: number, height: number }} options.size of the window
 * @param {NodeJS.ProcessEnv} options.env added to this process's environment
 * @param {(text: string) => void} options.note receives what VS Code prints
 * @param {(() => void | Promise<void>)[]} options.undo receives what ends it again
 * @returns {Promise<{ page: import('playwright-core').Page, resize: (size: { width: number, height: number }) => Promise<void>, close: () => Promise<void>, broken: Promise<never> }>}
 */
export async function startDesktop(executable, options) {
  const user = path.join(options.data, 'user', 'User');
  await fs.mkdir(user, { recursive: true });
  await fs.writeFile(path.join(user, 'settings.json'), JSON.stringify(options.settings, null, 2));
  const display = hasDisplay() ? undefined : await startDisplay();
  if (display) options.undo.push(display.kill);
  const env = { ...process.env, ...options.env, ...(display && { DISPLAY: display.name }) };
  const app = await electron.launch({
    executablePath: executable,
    env: withoutEditorVariables(env),
    timeout: 300_000,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--disable-gpu-sandbox', '--disable-updates'],
      ...['--skip-welcome', '--skip-release-notes', '--disable-workspace-trust'],
      ...placesIn(options.data),
      ...options.helpers.map((each) => `--extensionDevelopmentPath=${each}`),
      ...(options.folder ? [options.folder] : []),
    ],
  });
  const child = app.process();
  options.undo.push(onExit(() => child.kill('SIGKILL')));
  const broken = new Promise((_, reject) => {
    child.on('exit', (code, signal) => reject(new Error(`VS Code ended with ${code ?? signal}`)));
  });
  broken.catch(() => undefined);
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', options.note);
  }
  const page = await app.firstWindow({ timeout: 300_000 });
  const resize = async (size) => {
    const window = await app.browserWindow(page);
    await window.evaluate((it, { width, height }) => it.setContentSize(width, height), size);
  };
  await resize(options.size);
  return { page, resize, close: () => app.close(), broken };
}

/**
 * Starts a virtual display.
 * @returns {Promise<{ name: string, kill: () => void }>} name as in DISPLAY
 */
export async function startDisplay() {
  const args = ['-displayfd', '1', '-screen', '0', '1600x1000x24', '-nolisten', 'tcp'];
  const { child, kill } = startGroup('Xvfb', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const number = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`Xvfb ended with ${code}`)));
    child.stdout.setEncoding('utf8').on('data', (text) => resolve(text.trim()));
  });
  return { name: `:${number}`, kill };
}
