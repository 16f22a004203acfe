import { rmSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { findOnPath, handleSignals, runToEnd } from './processes.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const PLACES = {
  darwin: [
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
  ],
  win32: [
    'C:/Program Files/Google/Chrome/Application/chrome.exe',
    'C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe',
  ],
};
/** A font with the symbols of the interface (→ ✓ ✗ ∘ Δ), for machines without any fonts. */
const FONTS = 'fonts-dejavu-core';

/**
 * Finds a Chromium or Chrome; as root on Debian or Ubuntu, installs one when there is none.
 * @param {(text: string) => void} log
 * @returns {Promise<string>} path of the program
 */
export async function findChromium(log) {
  const named = process.env.CHROME_PATH;
  if (named) {
    if (await exists(named)) return named;
    throw new Error(`CHROME_PATH is ${named}, which does not exist`);
  }
  const found = await search();
  if (found) return found;
  const tried = [`CHROME_PATH (not set), ${NAMES.join(', ')} on PATH`];
  const apt = await findOnPath('apt-get');
  if (apt && process.getuid?.() === 0) {
    log(`no Chromium here: installing it with apt-get ...`);
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const started = Date.now();
    try {
      await runToEnd(apt, ['update'], { env });
      const wanted = ['chromium', FONTS];
      await runToEnd(apt, ['install', '-y', '--no-install-recommends', ...wanted], { env });
      const installed = await search();
      if (installed) {
        log(`Chromium installed in ${Math.round((Date.now() - started) / 1000)} s`);
        return installed;
      }
      tried.push('apt-get install chromium (left no program)');
    } catch (error) {
      tried.push(`apt-get install chromium (${error.message})`);
    }
  } else {
    tried.push(apt ? 'apt-get (needs root)' : 'apt-get (not there)');
  }
  throw new Error(
    `no Chromium or Chrome found; tried ${tried.join('; ')}. ` +
      'Install Chromium or Google Chrome, or set CHROME_PATH to one.',
  );
}

async function search() {
  for (const name of NAMES) {
    const found = await findOnPath(name);
    if (found) return found;
  }
  for (const place of PLACES[process.platform] ?? []) {
    if (await exists(place)) return place;
  }
  return undefined;
}

function exists(file) {
  return fs.access(file).then(
    () => true,
    () => false,
  );
}

/**
 * Opens a headless Chromium with a fresh profile.
 * @param {string} executablePath
 * @param {{ width: number, height: number }} viewport in CSS pixels
 * @returns {Promise<{ page: import('playwright-core').Page, close: () => Promise<void> }>}
 */
export async function openBrowser(executablePath, viewport) {
  const profile = await fs.mkdtemp(path.join(os.tmpdir(), 'swt-bench-browser-'));
  handleSignals();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    viewport,
    // Else a test that copies waits for the answer to Chromium's question.
    permissions: ['clipboard-read', 'clipboard-write'],
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  // Registered after playwright's own handler, which kills the browser when this process ends.
  const removeProfile = () => rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  process.once('exit', removeProfile);
  const page = context.pages()[0] ?? (await context.newPage());
  const close = async () => {
    await Promise.race([
      context.close().catch(() => undefined),
      new Promise((resolve) => setTimeout(resolve, 5_000).unref()),
    ]);
    process.off('exit', removeProfile);
    removeProfile();
  };
  return { page, close };
}
