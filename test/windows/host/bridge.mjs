import http from 'node:http';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { elements, queries } from './queries.mjs';

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 */

/**
 * The bridge between tests, which run in the extension host, and the page, which only the browser
 * side sees: an HTTP server on the loopback interface. Every request is a POST with a JSON body and a
 * JSON answer; client.ts is its typed client.
 * @param {object} options
 * @param {() => Promise<import('playwright-core').Page>} options.page
 * @param {(size: { width: number, height: number }) => Promise<void>} options.resize the window
 * @param {string} options.screenshots folder for the pictures
 * @param {(counts: Counts) => void} options.result receives the counts of the suite
 * @param {(pid: number) => boolean} options.began told when an extension host could begin the suite,
 *   after each reload too; returns whether it should
 * @param {(end: { exitCode: number, pid: number }) => void} options.ended receives the end of the
 *   suite, with the process of the extension host
 * @param {(line: string) => void} options.print
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function startBridge({ page, resize, screenshots, result, began, ended, print }) {
  /** Windows that VS Code has opened beside the one with the tests. */
  const others = async () => {
    const current = await page();
    return current
      .context()
      .pages()
      .filter((each) => each !== current);
  };
  const actions = {
    screenshot: (body) => screenshot({ page, resize, screenshots }, body),
    evaluate: async ({ query, options }) => {
      if (!Object.hasOwn(queries, query)) throw new Error(`no query is called "${query}"`);
      return (await page()).evaluate(queries[query], options ?? {});
    },
    frames: async () => {
      // A webview is a frame in a frame; the inner one has the extension's content.
      const inner = (await page()).frames().filter((frame) => /fake\.html/.test(frame.url()));
      const texts = inner.map((frame) => frame.evaluate('document.body.innerText').catch(() => ''));
      return (await Promise.all(texts)).map((text) => text.trim()).filter(Boolean);
    },
    elements: async ({ selector }) => {
      const inner = (await page()).frames().filter((frame) => /fake\.html/.test(frame.url()));
      const found = inner.map((frame) => frame.evaluate(elements, selector).catch(() => []));
      return (await Promise.all(found)).flat();
    },
    paints: async () => {
      const inner = (await page()).frames().filter((frame) => /fake\.html/.test(frame.url()));
      const found = await Promise.all(
        inner.map((frame) => frame.evaluate(paint).catch(() => null)),
      );
      return found.filter((each) => each !== null);
    },
    windows: async () => Promise.all((await others()).map(describeWindow)),
    windowScreenshot: async ({ name }) => {
      const [window] = await others();
      if (!window) throw new Error('no other window is open');
      const current = async () => window;
      return screenshot({ page: current, resize, screenshots }, { name });
    },
    commandInOtherWindow: async ({ command }) => {
      const [window] = await others();
      if (!window) throw new Error('no other window is open');
      await window.keyboard.press('F1');
      await window.keyboard.type(command, { delay: 10 });
      await window
        .locator('.quick-input-list .monaco-list-row.focused', { hasText: command })
        .waitFor({ timeout: 60_000 });
      await window.keyboard.press('Enter');
    },
    closeWindows: async () => {
      for (const window of await others()) await window.close();
    },
    clickInWebview: async ({ text, selector }) => {
      const inner = (await page()).frames().filter((frame) => /fake\.html/.test(frame.url()));
      for (const frame of inner) {
        const found = (
          selector === undefined
            ? frame.getByText(text)
            : frame.locator(selector, { hasText: text })
        ).first();
        // Redrawing the page removes its frame.
        const count = await found.count().catch(() => 0);
        if (count > 0) return found.click({ timeout: 120_000 });
      }
      throw new Error(`no webview shows "${text}"`);
    },
    keyboard: async ({ press, type }) => {
      const { keyboard } = await page();
      if (type !== undefined) await keyboard.type(type, { delay: 10 });
      if (press !== undefined) await keyboard.press(press);
    },
    click: async ({ double, button, modifiers, timeout = 120_000, ...target }) => {
      const found = await locate(page, target);
      const options = { button: button ?? 'left', modifiers: modifiers ?? [], timeout };
      await (double ? found.dblclick(options) : found.click(options));
    },
    hover: async (target) => (await locate(page, target)).hover({ timeout: 120_000 }),
    resize,
    result: async (counts) => result(counts),
    began: async ({ pid }) => began(pid),
    ended: async (end) => ended(end),
    print: async ({ line }) => print(line),
  };
  const server = http.createServer((request, response) => {
    void answer(actions, request).then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? null));
    });
  });
  await new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Runs in a webview: when it was opened, and when its data were first painted. */
const paint = `(() => {
  const at = (name) => performance.getEntriesByName(name)[0]?.startTime;
  const [received, shown] = [at('data received'), at('data shown')];
  const { timeOrigin } = performance;
  return shown === undefined
    ? null
    : { opened: timeOrigin, received: timeOrigin + received, painted: timeOrigin + shown };
})()`;

async function describeWindow(window) {
  const texts = await Promise.all(
    window
      .frames()
      .filter((frame) => frame === window.mainFrame() || /fake\.html/.test(frame.url()))
      .map((frame) => frame.evaluate('document.body.innerText').catch(() => '')),
  );
  return { title: await window.title(), text: texts.join('\n').replaceAll('\u00a0', ' ') };
}

async function answer(actions, request) {
  try {
    const name = (request.url ?? '').slice(1);
    // A page in a browser cannot send this type to another origin without a preflight request.
    const typed = request.headers['content-type'] === 'application/json';
    if (request.method !== 'POST' || !typed || !Object.hasOwn(actions, name)) {
      return { status: 404, body: { error: `no action ${request.method} ${request.url}` } };
    }
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts).toString('utf8') || '{}');
    return { status: 200, body: await actions[name](body) };
  } catch (error) {
    return { status: 500, body: { error: error.message } };
  }
}

async function screenshot({ page, resize, screenshots }, { name, width, height, selector }) {
  if (!/^[\w.-]+$/.test(name)) throw new Error(`"${name}" cannot be the name of a picture`);
  const current = await page();
  if (width && height) await resize({ width, height });
  await mkdir(screenshots, { recursive: true });
  const file = path.join(screenshots, `${name}.png`);
  const target = selector ? current.locator(selector).first() : current;
  await target.screenshot({ path: file, animations: 'disabled', timeout: 120_000 });
  return { file };
}

async function locate(page, { selector, text }) {
  const current = await page();
  const base = selector ? current.locator(selector) : undefined;
  if (text === undefined) return base.first();
  return base
    ? base.filter({ hasText: text }).first()
    : current.getByText(text, { exact: true }).first();
}
