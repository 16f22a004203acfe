/**
 * `npm run bench -- dashboard [instances] [methods]`: how soon the dashboard paints simulated runs in a
 * Chromium, as the file that `report --format html` writes.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { dashboardHtml } from '../../src/study/pageHtml';
import { simulatedStudy } from '../unit/dashboard/simulated';

interface Browser {
  readonly page: Page;
  readonly close: () => Promise<void>;
}

async function main(): Promise<void> {
  const [, , , instances = '2000', methods = '10'] = process.argv;
  const host = (await import(
    pathToFileURL(join(__dirname, '..', 'windows', 'host', 'browser.mjs')).href
  )) as {
    findChromium(log: (text: string) => void): Promise<string>;
    openBrowser(path: string, size: { width: number; height: number }): Promise<Browser>;
  };
  const root = join(__dirname, '..', '..');
  const study = simulatedStudy({ instances: Number(instances), methods: Number(methods) });
  const html = await dashboardHtml(study, join(root, 'dist'));
  const folder = mkdtempSync(join(tmpdir(), 'swt-bench-dashboard-'));
  const file = join(folder, 'dashboard.html');
  writeFileSync(file, html);
  const { page, close } = await host.openBrowser(await host.findChromium(console.error), {
    width: 1400,
    height: 1000,
  });
  try {
    const refused: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') refused.push(message.text());
    });
    page.on('pageerror', (error) => refused.push(String(error)));
    // Measure also the page's own processor time, since other work may share the machine.
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
    const used = async (): Promise<number> => {
      const { metrics } = await devtools.send('Performance.getMetrics');
      return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN);
    };
    // The page defers work with timers until after the first paint, and that work must not count.
    const later = await page.context().newPage();
    await page.addInitScript(
      'const real = setTimeout; window.setTimeout = (work, ms = 0) => real(work, ms + 5000);',
    );
    const times: number[] = [];
    const computed: number[] = [];
    for (let round = 0; round < 5; round++) {
      await page.goto('about:blank');
      const before = await used();
      await page.goto(pathToFileURL(file).href, { waitUntil: 'commit' });
      await page.waitForSelector('.matrix-row');
      times.push(await page.evaluate<number>(firstPaintWithData));
      computed.push((await used()) - before);
    }
    await later.goto(pathToFileURL(file).href);
    const settled = await later.evaluate<number>(wholeSummary);
    const sorted = (list: number[]): string =>
      [...list]
        .sort((a, b) => a - b)
        .map((each) => each.toFixed(0))
        .join(', ');
    console.log(
      `${instances} instances × ${methods} runs, ${(html.length / 1e6).toFixed(1)} MB: ` +
        `matrix and table painted after ${sorted(times)} ms from the start of the navigation ` +
        `(${sorted(computed)} ms of them computing), intervals and tests after ${settled.toFixed(0)} ms`,
    );
    for (const each of new Set(refused)) console.log(`  refused: ${each}`);
    if (refused.length > 0) process.exitCode = 1;
  } finally {
    await close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs in the page: milliseconds until the frame after the first rows of the matrix. */
const firstPaintWithData = `new Promise((resolve) => {
  const look = () => {
    const [paint] = performance.getEntriesByName('data shown');
    if (paint === undefined) requestAnimationFrame(look);
    else resolve(paint.startTime);
  };
  look();
})`;

/** Runs in the page: milliseconds until the summary has its intervals. */
const wholeSummary = `new Promise((resolve) => {
  const look = () =>
    document.querySelector('[aria-busy]') === null
      ? resolve(performance.now())
      : setTimeout(look, 10);
  look();
})`;

void main();
