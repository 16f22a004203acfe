import { writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import type { FigurePoint } from './drawSelection';
import type { RuleShares } from './ruleShares';
import { selectionRuleNames } from './selectionRules';

/** The shares of all rules for one number of fixes. */
export interface FigureSeries {
  readonly population: string;
  /** Name of the published rates. */
  readonly rates: string;
  readonly fixes: number;
  readonly shares: RuleShares;
}

interface Browser {
  findChromium(log: (text: string) => void): Promise<string>;
  openBrowser(
    path: string,
    size: { readonly width: number; readonly height: number },
  ): Promise<{ readonly page: Page; readonly close: () => Promise<void> }>;
}

/**
 * Writes the picture of the shares by number of fixes, drawn in a Chromium.
 *
 * @param path ends with .svg or .png
 */
export async function writeSelectionFigure(
  path: string,
  series: readonly FigureSeries[],
): Promise<void> {
  const kind = extname(path);
  if (kind !== '.svg' && kind !== '.png') throw new Error(`${path} is no .svg and no .png`);
  const points = series.flatMap(({ shares, ...rest }) =>
    selectionRuleNames.map((rule): FigurePoint => {
      const { share, interval } = shares.rules[rule];
      return { ...rest, rule, share: 100 * share, low: 100 * interval[0], high: 100 * interval[1] };
    }),
  );
  const { outputFiles } = await build({
    entryPoints: [join(__dirname, 'drawSelection.ts')],
    ...{ bundle: true, write: false, format: 'iife', globalName: 'figure', logLevel: 'warning' },
  });
  const host = join(__dirname, '..', '..', 'windows', 'host', 'browser.mjs');
  const browser = (await import(pathToFileURL(host).href)) as Browser;
  const found = await browser.findChromium(console.error);
  const { page, close } = await browser.openBrowser(found, { width: 940, height: 820 });
  try {
    await page.setContent('<!doctype html><meta charset="utf-8"><body style="margin:0">');
    await page.addScriptTag({ content: outputFiles[0]?.text ?? '' });
    const svg = await page.evaluate<string>(`figure.drawSelection(${JSON.stringify(points)})`);
    if (kind === '.svg') return await writeFile(path, svg);
    await page.setContent(`<!doctype html><meta charset="utf-8"><body style="margin:0">${svg}`);
    await page.locator('svg').first().screenshot({ path });
  } finally {
    await close();
  }
}
