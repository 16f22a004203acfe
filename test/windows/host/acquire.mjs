import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findChromium } from './browser.mjs';
import { CODE_SERVER_VERSION, installCodeServer } from './codeServer.mjs';
import { VSCODE_VERSION, downloadDesktop, probeDesktop } from './desktop.mjs';

const PROJECT = path.resolve(fileURLToPath(import.meta.url), '../../../..');

/** @returns {string} folder for downloads that are kept between runs: SWT_BENCH_CACHE or .cache */
export function cacheFolder() {
  return path.resolve(process.env.SWT_BENCH_CACHE || path.join(PROJECT, '.cache'));
}

/**
 * @typedef {{ kind: 'desktop', executable: string, version: string, why: string }} Desktop
 * @typedef {{ kind: 'code-server', server: import('./codeServer.mjs').CodeServer, chromium: string, version: string, why: string }} Served
 */

/**
 * Gets a VS Code for tests. It is the desktop version where that can be downloaded and shown, else
 * the one in the npm package code-server with a Chromium. SWT_BENCH_VSCODE=desktop or code-server
 * forces one.
 * @param {(text: string) => void} log progress, one line each
 * @returns {Promise<Desktop | Served>} rejects, with the attempts, when neither is available
 */
export async function acquire(log) {
  const forced = process.env.SWT_BENCH_VSCODE;
  if (forced && forced !== 'desktop' && forced !== 'code-server') {
    throw new Error(`SWT_BENCH_VSCODE is "${forced}": it must be desktop or code-server`);
  }
  const cache = path.join(cacheFolder(), 'vscode');
  const failures = [];

  if (forced !== 'code-server') {
    const downloads = path.join(cache, 'desktop');
    const probe = forced
      ? { usable: true, reason: 'SWT_BENCH_VSCODE asks for it' }
      : await probeDesktop(downloads);
    if (probe.usable) {
      log(`VS Code ${VSCODE_VERSION} for the desktop: ${probe.reason}`);
      try {
        const executable = await downloadDesktop(downloads);
        return { kind: 'desktop', executable, version: VSCODE_VERSION, why: probe.reason };
      } catch (error) {
        failures.push(`VS Code for the desktop: ${error.message}`);
      }
    } else {
      failures.push(`VS Code for the desktop: ${probe.reason}`);
    }
  }

  if (forced !== 'desktop') {
    const why = failures[0] ?? 'SWT_BENCH_VSCODE asks for it';
    log(`VS Code from npm's code-server ${CODE_SERVER_VERSION} with Chromium: ${why}`);
    try {
      const chromium = await findChromium(log);
      const server = await installCodeServer(cache, log);
      return { kind: 'code-server', server, chromium, version: server.version, why };
    } catch (error) {
      failures.push(`code-server ${CODE_SERVER_VERSION}: ${error.message}`);
    }
  }

  throw new Error(
    [
      'No VS Code to run the tests in. Tried:',
      ...failures.map((failure) => `  - ${failure}`),
      'Either make https://update.code.visualstudio.com reachable on a machine with a display (or',
      'xvfb-run), or make the npm registry reachable and install Chromium (or set CHROME_PATH).',
    ].join('\n'),
  );
}
