import { createRequire } from 'node:module';
import fs from 'node:fs/promises';
import path from 'node:path';
import { downloadAndUnzipVSCode } from '@vscode/test-electron';
import { chromium } from 'playwright-core';
import { findOnPath, freePort, startGroup } from './processes.mjs';

/** The same VS Code that code-server carries, so that both ways test one version. */
export const VSCODE_VERSION = '1.139.1';

const UPDATE_HOST = 'https://update.code.visualstudio.com';

/**
 * Can VS Code for the desktop be had and shown here?
 * @param {string} cache folder of downloads
 * @returns {Promise<{ reason: string, usable: boolean }>}
 */
export async function probeDesktop(cache) {
  const display = await findDisplay();
  if (display === undefined) {
    return { usable: false, reason: 'no display (DISPLAY, WAYLAND_DISPLAY) and no xvfb-run' };
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

/** @returns {Promise<string[] | undefined>} what to put before the command, undefined without a display */
async function findDisplay() {
  if (process.platform !== 'linux') return [];
  if (process.env.DISPLAY || process.env.WAYLAND_DISPLAY) return [];
  const xvfb = await findOnPath('xvfb-run');
  return xvfb ? [xvfb, '-a', '-s', '-screen 0 1600x1000x24'] : undefined;
}

/**
 * Asks for the list of releases in the way the download itself will ask (it honours proxies).
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
 * Starts VS Code for the desktop with an extension and its tests, and attaches to its window.
 * @param {string} executable
 * @param {object} options
 * @param {string} options.data folder for everything it keeps
 * @param {string} options.extension folder
 * @param {string} options.tests bundled CommonJS file that exports `run(): Promise<void>`
 * @param {string} [options.folder] to open
 * @param {Record<string, unknown>} options.settings user settings
 * @param {NodeJS.ProcessEnv} options.env added to this process's environment
 * @param {(text: string) => void} options.print receives what VS Code and the tests print
 * @returns {Promise<{ page: import('playwright-core').Page, exit: Promise<number>, kill: () => void, close: () => Promise<void> }>}
 */
export async function startDesktop(executable, options) {
  const user = path.join(options.data, 'user', 'User');
  await fs.mkdir(user, { recursive: true });
  await fs.writeFile(path.join(user, 'settings.json'), JSON.stringify(options.settings, null, 2));
  const port = await freePort();
  const [command, ...args] = [
    ...((await findDisplay()) ?? []),
    executable,
    ...['--no-sandbox', '--disable-gpu', '--disable-gpu-sandbox', '--disable-updates'],
    ...['--skip-welcome', '--skip-release-notes', '--disable-workspace-trust'],
    `--remote-debugging-port=${port}`,
    `--user-data-dir=${path.join(options.data, 'user')}`,
    `--extensions-dir=${path.join(options.data, 'extensions')}`,
    `--extensionDevelopmentPath=${options.extension}`,
    `--extensionTestsPath=${options.tests}`,
    ...(options.folder ? [options.folder] : []),
  ];
  const { child, kill } = startGroup(command, args, {
    env: { ...process.env, ...options.env, ELECTRON_RUN_AS_NODE: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', options.print);
  }
  const exit = new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
  try {
    const { page, close } = await attach(port, exit);
    return { page, exit, kill, close };
  } catch (error) {
    kill();
    throw error;
  }
}

async function attach(port, exit) {
  const gone = exit.then((code) => ({ code }));
  for (let attempt = 0; attempt < 120; attempt++) {
    const browser = await chromium
      .connectOverCDP(`http://127.0.0.1:${port}`)
      .catch(() => undefined);
    const page = browser
      ?.contexts()
      .flatMap((context) => context.pages())
      .find((candidate) => candidate.url().includes('workbench'));
    if (page) return { page, close: () => browser.close().catch(() => undefined) };
    await browser?.close().catch(() => undefined);
    const ended = await Promise.race([gone, new Promise((resolve) => setTimeout(resolve, 500))]);
    if (ended) throw new Error(`VS Code ended with ${ended.code} before its window opened`);
  }
  throw new Error('the window of VS Code did not appear within a minute');
}
