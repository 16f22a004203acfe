import { existsSync, rmSync } from 'node:fs';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { acquire, cacheFolder } from './acquire.mjs';
import { startBridge } from './bridge.mjs';
import { openBrowser } from './browser.mjs';
import { copyExtensions, folderAddress, installExtension, startServer } from './codeServer.mjs';
import { installOnDesktop, startDesktop } from './desktop.mjs';
import { isAlive, onExit } from './processes.mjs';

/**
 * Settings that make runs equal everywhere, and prevent anything from covering the tested parts of
 * the window.
 */
export const QUIET_SETTINGS = {
  'security.workspace.trust.enabled': false,
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'extensions.webWorker': false,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'update.mode': 'none',
  'update.showReleaseNotes': false,
  'git.openRepositoryInParentFolders': 'never',
  'git.autofetch': false,
  // As on the desktop. In a browser VS Code saves by itself. An undo during such a save leaves an
  // editor that counts as saved but differs from the disk.
  'files.autoSave': 'off',
  'npm.autoDetect': 'off',
  'window.commandCenter': false,
  'window.dialogStyle': 'custom',
  'window.restoreWindows': 'none',
  'files.simpleDialog.enable': true,
  // In a narrow editor the inline view would replace the original side, and with it its decorations.
  'diffEditor.renderSideBySide': true,
  'diffEditor.useInlineViewWhenSpaceIsLimited': false,
  'editor.scrollBeyondLastLine': false,
  'editor.minimap.enabled': false,
  'editor.fontFamily': "'DejaVu Sans Mono', Menlo, Consolas, monospace",
  'editor.cursorBlinking': 'solid',
  'testing.automaticallyOpenPeekView': 'never',
  'testing.automaticallyOpenTestResults': 'neverOpen',
};

/**
 * The question of trust stands in a banner, where it does not cover the tested parts of the window.
 */
const TRUST_SETTINGS = {
  'security.workspace.trust.enabled': true,
  'security.workspace.trust.startupPrompt': 'never',
  'security.workspace.trust.banner': 'never',
};

/**
 * @typedef {object} RunOptions
 * @property {string} vsix the packaged extension, which VS Code installs as a user would
 * @property {string} tests bundled CommonJS file that exports `run(): Promise<void>`
 * @property {string} [folder] to open
 * @property {readonly string[]} [helpers] folders of more extensions to load
 * @property {NodeJS.ProcessEnv} [env] added to the extension host's environment
 * @property {Record<string, unknown>} [settings] user settings over {@link QUIET_SETTINGS}
 * @property {boolean} [asksForTrust] the folder is not trusted before somebody says so
 * @property {boolean} [reloads] the suite reloads its window, and is started again each time
 * @property {number} [limit] in milliseconds, for everything after VS Code is acquired; default 3 minutes
 * @property {string} [screenshots] folder for pictures; default .cache/screenshots
 * @property {{ width: number, height: number }} [size] of the window; default 1400 x 900
 * @property {(line: string) => void} [print] default: stdout
 */

/**
 * Runs a bundled test suite in the extension host of a real VS Code.
 * @param {RunOptions} options
 * @returns {Promise<{ exitCode: number, counts: import('./bridge.mjs').Counts | null, version: string, kind: string }>}
 *   exitCode is 0 only when the suite's `run()` resolved, and it reported that tests ran and none failed.
 *   Rejects when no VS Code can be had.
 */
export async function runInVSCode(options) {
  const print = options.print ?? ((line) => console.log(line));
  const screenshots = options.screenshots ?? path.join(cacheFolder(), 'screenshots');
  for (const needed of [options.vsix, options.tests]) {
    if (!existsSync(needed)) throw new Error(`${needed}: no such file`);
  }
  const vscode = await acquire((text) => print(`vscode: ${text}`));

  const data = await fs.mkdtemp(path.join(os.tmpdir(), 'swt-bench-vscode-'));
  const undo = [onExit(() => rmSync(data, { recursive: true, force: true, maxRetries: 3 }))];
  let counts = null;
  /** Process id of the extension host that runs the suite. */
  let host;
  let end;
  let fail;
  /** @type {Promise<{ exitCode: number, pid: number }>} */
  const ended = new Promise((resolve, reject) => ([end, fail] = [resolve, reject]));
  let open;
  const window = new Promise((resolve) => (open = resolve));
  let log = '';
  const note = (text) => {
    if (process.env.SWT_BENCH_VERBOSE) print(text.trimEnd());
    log = (log + text).slice(-100_000);
  };
  const started = Date.now();
  try {
    const bridge = await startBridge({
      page: async () => (await window).page,
      resize: async (size) => {
        const { page, resize } = await window;
        await resize(size);
        // VS Code lays itself out after the event; its lists follow a frame later.
        await page.waitForTimeout(300);
      },
      screenshots,
      result: (given) => (counts = given),
      began: (pid) => {
        const isOtherWindow = host !== undefined && !options.reloads && isAlive(host);
        if (isOtherWindow) return false;
        if (host !== undefined && !options.reloads) {
          fail(new Error('the extension host has crashed'));
        }
        host = pid;
        return true;
      },
      ended: (given) => end(given),
      print,
    });
    undo.push(bridge.close);
    const setup = {
      data,
      vsix: path.resolve(options.vsix),
      folder: options.folder && path.resolve(options.folder),
      helpers: [
        await suiteExtension(data, path.resolve(options.tests)),
        ...(options.helpers ?? []).map((each) => path.resolve(each)),
      ],
      asksForTrust: options.asksForTrust ?? false,
      settings: {
        ...QUIET_SETTINGS,
        ...(options.asksForTrust ? TRUST_SETTINGS : {}),
        ...options.settings,
      },
      env: { ...options.env, SWT_BENCH_BRIDGE: bridge.url },
      size: options.size ?? { width: 1400, height: 900 },
      note,
      undo,
    };
    const opened = await (vscode.kind === 'desktop'
      ? installOnDesktop(vscode.executable, setup).then(() =>
          startDesktop(vscode.executable, setup),
        )
      : openServed(vscode, setup));
    open(opened);
    print(`vscode: ${vscode.version} opened after ${seconds(started)}`);
    const { exitCode, pid } = await withLimit(
      Promise.race([ended, opened.broken]),
      options.limit ?? 180_000,
    );
    await closed(opened, pid);
    print(`vscode: ended with ${exitCode} after ${seconds(started)}`);
    // A window that ends without a test, or without its counts, has shown nothing.
    const ran = (counts?.passed ?? 0) + (counts?.failed ?? 0);
    if (ran === 0) {
      print(
        `  ✗ no test ran: ${counts === null ? 'the window told no counts' : 'all are skipped'}`,
      );
      await explain(print, opened.page, screenshots, log);
    }
    const passed = exitCode === 0 && ran > 0 && counts.failed === 0;
    return {
      exitCode: passed ? 0 : exitCode || 1,
      counts,
      version: vscode.version,
      kind: vscode.kind,
    };
  } catch (error) {
    print(`vscode: ${error.message}`);
    const opened = await Promise.race([window, undefined]);
    await explain(print, opened?.page, screenshots, log);
    return { exitCode: 1, counts, version: vscode.version, kind: vscode.kind };
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/**
 * Makes the extension that runs the suite once VS Code has started, and again after each reload.
 * VS Code's own way of running tests refuses modal dialogs.
 */
async function suiteExtension(data, tests) {
  const folder = path.join(data, 'suite-extension');
  await fs.mkdir(folder);
  const manifest = {
    ...{ name: 'suite', publisher: 'swt-bench-tests', version: '1.0.0', main: './main.js' },
    engines: { vscode: '^1.90.0' },
    activationEvents: ['onStartupFinished'],
    capabilities: { untrustedWorkspaces: { supported: true } },
  };
  await fs.writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest));
  await fs.writeFile(
    path.join(folder, 'main.js'),
    `const tell = (action, body) =>
  fetch(\`\${process.env.SWT_BENCH_BRIDGE}/\${action}\`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const { pid } = process;
async function run() {
  const began = await tell('began', { pid });
  // A window that a test opens has this extension too.
  if (!(await began.json())) return;
  const end = (exitCode) => tell('ended', { exitCode, pid });
  await require(${JSON.stringify(tests)}).run().then(() => end(0), () => end(1));
}
exports.activate = () => {
  // VS Code waits for what this function returns, and the suite waits for VS Code.
  void run();
};
`,
  );
  return folder;
}

async function openServed(vscode, setup) {
  await copyExtensions(setup.data, setup.helpers);
  await installExtension(vscode.server, setup.data, setup.vsix);
  const server = await startServer(vscode.server, {
    ...setup,
    driver: true,
    // An empty gallery, so that a test run sends no request to the network.
    env: { ...setup.env, EXTENSIONS_GALLERY: '{}' },
  });
  setup.undo.push(server.kill);
  const { page, close } = await openBrowser(vscode.chromium, setup.size);
  setup.undo.push(close);
  const broken = new Promise((_, reject) => {
    page.on('crash', () => reject(new Error('the page of VS Code crashed')));
    page.on('close', () => reject(new Error('the page of VS Code was closed')));
    void server.ended.then((problem) => reject(new Error(problem)));
  });
  broken.catch(() => undefined);
  page.on('console', (message) => {
    const isTold = /^(error|warning)$/.test(message.type()) || process.env.SWT_BENCH_VERBOSE;
    if (isTold) setup.note(`${message.type()}: ${message.text()}\n`);
  });
  const address = new URL(folderAddress(server.origin, { folder: setup.folder }));
  address.searchParams.set('payload', JSON.stringify([['skipWelcome', 'true']]));
  await page.goto(address.href, { timeout: 300_000 });
  return { page, resize: (size) => page.setViewportSize(size), close: () => page.close(), broken };
}

/** Closes the window, and waits a while for its extensions to end, which may take them a moment. */
async function closed({ close }, pid) {
  const closing = close().catch(() => undefined);
  for (let tries = 0; tries < 300 && isAlive(pid); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  if (!isAlive(pid)) await closing;
}

function withLimit(promise, limit) {
  let timer;
  const late = new Promise((_, reject) => {
    const error = new Error(`the tests did not end within ${limit / 1000} s`);
    timer = setTimeout(() => reject(error), limit);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Writes what explains a run that ended without a result. */
async function explain(print, page, screenshots, log) {
  const end = log.trimEnd().split('\n').slice(-60).join('\n');
  if (end) print(`vscode: end of VS Code's log:\n${end}`);
  if (!page) return;
  try {
    await fs.mkdir(screenshots, { recursive: true });
    const file = path.join(screenshots, 'failure.png');
    await page.screenshot({ path: file, timeout: 10_000 });
    print(`vscode: picture of the window: ${file}`);
  } catch (error) {
    print(`vscode: no picture of the window: ${error.message.split('\n')[0]}`);
  }
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
