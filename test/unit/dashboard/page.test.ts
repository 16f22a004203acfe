import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import type { StudyDocument } from '../../../src/study/document';
import { dashboardHtml } from '../../../src/study/pageHtml';
import { simulatedStudy } from './simulated';

interface Host {
  findChromium(log: (text: string) => void): Promise<string>;
  openBrowser(
    path: string,
    size: { width: number; height: number },
  ): Promise<{ readonly page: Page; readonly close: () => Promise<void> }>;
}

const root = join(__dirname, '..', '..', '..');
const attack =
  '</script><img src=x onerror="document.title = 1"><script>document.title = 2</script>';

/** The page in a real browser, as `report --format html` writes it. */
describe('the dashboard as a file', function () {
  const folder = mkdtempSync(join(tmpdir(), 'swt-bench-page-'));
  const file = join(folder, 'dashboard.html');
  const complaints: string[] = [];
  let page: Page;
  let close: () => Promise<void>;
  const open = async (study: StudyDocument): Promise<void> => {
    writeFileSync(file, await dashboardHtml(study, folder));
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector('.matrix-row');
  };
  /** Row and column of the cell that has the focus. */
  const at = (): Promise<string | null> =>
    page.evaluate<string | null>("document.activeElement?.getAttribute('data-at') ?? null");
  /** Polls an expression, since the page's policy forbids the usual way to wait for one. */
  const until = async (expression: string): Promise<void> => {
    for (let turn = 0; turn < 4000; turn++) {
      if (await page.evaluate<boolean>(expression)) return;
      await page.waitForTimeout(50);
    }
    assert.fail(`never: ${expression}`);
  };
  const count = (selector: string): Promise<number> => page.locator(selector).count();

  before(async () => {
    await build({
      entryPoints: ['main.ts', 'dashboard.css'].map((name) => join(root, 'src/dashboard', name)),
      entryNames: 'dashboard',
      outdir: folder,
      bundle: true,
      format: 'iife',
      platform: 'browser',
      logLevel: 'error',
    });
    const host = (await import(
      pathToFileURL(join(root, 'test', 'windows', 'host', 'browser.mjs')).href
    )) as Host;
    const size = { width: 1200, height: 900 };
    ({ page, close } = await host.openBrowser(await host.findChromium(console.error), size));
    page.setDefaultTimeout(240_000);
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });

  after(async () => {
    await close();
    rmSync(folder, { recursive: true, force: true });
  });

  afterEach(() => {
    // Refusals by the content security policy are complaints too.
    assert.deepEqual(complaints.splice(0), []);
  });

  it('tells what could not be read, openly where there is no run', async () => {
    const study = { ...simulatedStudy({ instances: 1, methods: 1 }), problems: ['a run is gone'] };
    await open(study);
    assert.equal(await page.getByText('a run is gone').isVisible(), false);
    writeFileSync(file, await dashboardHtml({ ...study, runs: [] }, folder));
    await page.goto(pathToFileURL(file).href);
    await page.getByText('a run is gone').waitFor({ state: 'visible' });
  });

  it('holds only the rows in sight, and tells a screen reader of all', async () => {
    await open(simulatedStudy({ instances: 1500, methods: 3 }));
    assert.ok((await count('.matrix-row')) < 100);
    const grid = page.locator('[role=grid]');
    assert.equal(await grid.getAttribute('aria-rowcount'), '1501');
    assert.equal(await grid.getAttribute('aria-colcount'), '4');
    await page.evaluate("document.querySelector('.matrix').scrollTop = 20000");
    await page.waitForSelector('[aria-rowindex="850"]');
    assert.ok((await count('.matrix-row')) < 100);
  });

  it('is gone through with the keyboard: one stop, arrows, details, and back', async () => {
    await open(simulatedStudy({ instances: 300, methods: 3 }));
    assert.equal(await count('[role=grid] [tabindex="0"]'), 1);
    await page.locator('[role=grid] [tabindex="0"]').focus();
    assert.equal(await at(), '0 0');
    for (const key of ['ArrowUp', 'ArrowLeft', 'ArrowRight', 'ArrowDown', 'ArrowDown']) {
      await page.keyboard.press(key);
    }
    assert.equal(await at(), '2 1');
    await page.keyboard.press('End');
    assert.equal(await at(), '2 3');
    await page.keyboard.press('Control+End');
    assert.equal(await at(), '299 3');
    assert.equal(await count('[role=grid] [tabindex="0"]'), 1);
    await page.keyboard.press('Enter');
    const id = await page.locator('[data-at="299 0"]').textContent();
    assert.equal(await page.locator('.details h3').textContent(), id);
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'H3');
    await page.keyboard.press('Escape');
    assert.equal(await at(), '299 3');
    assert.equal(await page.locator('.details').isVisible(), false);
  });

  it('filters, and says when a filter cannot be read', async () => {
    await open(simulatedStudy({ instances: 200, methods: 2 }));
    await page.getByLabel('Filter').fill('repo:django');
    await until("!document.body.innerText.includes('200 of 200 instances')");
    const ids = await page.locator('[role=rowheader]').allTextContents();
    assert.ok(ids.length > 0 && ids.every((id) => id.startsWith('django__')));
    await page.getByLabel('Filter').fill('nonsense:1');
    await page.waitForSelector('input[aria-invalid=true]');
    assert.match(await page.locator('#filter-note').innerText(), /nonsense/);
    await page.getByLabel('Filter').fill('');
    await until("document.body.innerText.includes('200 of 200 instances')");
  });

  it('has the palette of the scheme, light or dark', async () => {
    const colours = (): Promise<string[]> =>
      page.evaluate(
        "['background-color', 'color'].map((name) => getComputedStyle(document.body).getPropertyValue(name))",
      );
    await page.emulateMedia({ colorScheme: 'dark' });
    await open(simulatedStudy({ instances: 3, methods: 1 }));
    assert.deepEqual(await colours(), ['rgb(31, 31, 31)', 'rgb(212, 212, 212)']);
    await page.evaluate("document.body.className = 'vscode-light'");
    assert.deepEqual(await colours(), ['rgb(255, 255, 255)', 'rgb(31, 31, 31)']);
    await page.emulateMedia({ colorScheme: 'light' });
    await page.evaluate("document.body.className = 'vscode-high-contrast vscode-dark'");
    assert.deepEqual(await colours(), ['rgb(31, 31, 31)', 'rgb(212, 212, 212)']);
    await page.evaluate("document.body.className = ''");
    assert.deepEqual(await colours(), ['rgb(255, 255, 255)', 'rgb(31, 31, 31)']);
  });

  it('shows texts of tests and models as texts', async () => {
    const study = simulatedStudy({ instances: 3, methods: 1 });
    const [run] = study.runs;
    assert.ok(run);
    const entries = run.entries.map((entry) => ({ ...entry, explanation: attack, model: attack }));
    await open({ ...study, runs: [{ ...run, label: attack, entries }], problems: [attack] });
    await page.locator('[role=gridcell]').first().click();
    assert.equal(await page.locator('.explanation').textContent(), attack);
    assert.equal(await count('img'), 0);
    assert.equal(await page.title(), `SWT-Bench: ${attack} · 2026-11-21`);
  });

  it('marks findings, shows their evidence as text, counts them by method, and shows these alone', async () => {
    const study = simulatedStudy({ instances: 20, methods: 2 });
    const [run, ...others] = study.runs;
    const one = run?.entries.find(({ success }) => success);
    assert.ok(run && one);
    const entries = run.entries.map((entry) => ({
      ...entry,
      findings: entry === one ? [{ kind: 'inspects source', evidence: [attack] } as const] : [],
    }));
    await open({ ...study, runs: [{ ...run, entries }, ...others] });
    assert.equal(await count('.matrix-row .finding'), 1);
    const cell = page.locator('[role=gridcell]:has(.finding)');
    assert.match(
      (await cell.getAttribute('title')) ?? '',
      /^success; .*; findings: inspects source$/,
    );
    await cell.click();
    const details = page.locator('.finding-details');
    assert.match(await details.innerText(), /^⚠ The tests inspect source files, the repository/);
    assert.equal(await details.locator('li').textContent(), attack);
    const table = page.locator('table:has(caption:has-text("Findings:"))');
    const telling = run.entries.filter(({ failToPass }) => failToPass > 0).length;
    const successes = run.entries.filter(({ success }) => success).length;
    assert.deepEqual(await table.locator('tbody td').allTextContents(), [
      ...[String(telling), '1', '1', String(successes), '1'],
    ]);
    await page.getByLabel('Show').selectOption('finding: inspects source');
    assert.equal(await count('.matrix-row'), 1);
    assert.equal(await page.locator('[role=rowheader]').textContent(), one.instance);
  });

  it('counts mutants by candidate and method, and lists those that survive as text', async () => {
    const study = simulatedStudy({ instances: 20, methods: 2 });
    const [run, ...others] = study.runs;
    const one = run?.entries.find(({ success }) => success);
    assert.ok(run && one);
    const survivor = { path: 'lib/cat.py', line: 7, operator: 'constant', before: attack } as const;
    const entries = run.entries.map((entry, index) =>
      entry === one
        ? {
            ...entry,
            mutants: { killed: 2, all: 5 },
            survivors: [
              { ...survivor, after: '1', status: 'survived' as const },
              { ...survivor, line: 9, before: '<', after: '<=', status: 'not covered' as const },
            ],
          }
        : index === run.entries.indexOf(one) + 1
          ? { ...entry, mutants: { killed: 3, all: 3 } }
          : entry,
    );
    await open({ ...study, runs: [{ ...run, entries }, ...others] });
    const head = page.locator('.summary').first().locator('thead th');
    const at = (await head.allTextContents()).indexOf('mutants killed');
    const cells = page.locator('.summary').first().locator('tbody tr');
    const figure = cells.first().locator('th, td').nth(at);
    assert.equal(await figure.textContent(), '62.55 of 8');
    assert.equal(await figure.getAttribute('title'), 'over 2 of 20 instances');
    assert.equal(await cells.nth(1).locator('th, td').nth(at).textContent(), '–');
    await page.locator('[role=gridcell][title*="kills 2 of 5 mutants"]').click();
    assert.match(await page.locator('.details dl').innerText(), /Mutants killed\s+40 % \(2\/5\)/);
    const survivors = page.locator('details.survivors');
    assert.equal(await survivors.locator('li').first().isVisible(), false);
    await survivors.locator('summary').click();
    assert.deepEqual(await survivors.locator('li').allTextContents(), [
      `lib/cat.py:7 ${attack} → 1`,
      'lib/cat.py:9 < → <= (no test runs the line)',
    ]);
    assert.match(await survivors.innerText(), /1 more are in report\.json/);
    assert.equal(await count('img'), 0);
  });

  it('shows S alone of a run that was published as a summary', async () => {
    const study = simulatedStudy({ instances: 10, methods: 2 });
    const [run, ...others] = study.runs;
    assert.ok(run);
    await open({ ...study, runs: [{ ...run, known: 'success', grading: 'harness' }, ...others] });
    const cells = page.locator('.summary').first().locator('tbody tr').first().locator('td');
    const [, , wellFormed, success, failToAny] = await cells.allTextContents();
    assert.deepEqual([wellFormed?.trim(), failToAny?.trim()], ['–', '–']);
    assert.match(success ?? '', /^\d+\.\d/);
    await page.locator('[role=gridcell]').first().click();
    const names = await page.locator('.details dt').allTextContents();
    assert.ok(names.includes('Harness grading') && !names.includes('F→P'), names.join());
  });

  it('says which methods are known to look at the answer, measured or published', async () => {
    const study = simulatedStudy({ instances: 10, methods: 2 });
    const [run, ...others] = study.runs;
    assert.ok(run);
    const entries = run.entries.map((entry) => ({ ...entry, model: 'DevstralTestGen' }));
    await open({ ...study, runs: [{ ...run, entries }, ...others] });
    assert.equal(await count('.summary tr:has-text("known to see the answer")'), 1);
    await page.getByLabel('Published rows').check();
    const published = page.locator('.published tr:has-text("known to see the answer")');
    await published.first().waitFor();
    assert.equal(await published.count(), 3);
    await page.locator('[role=gridcell]').first().click();
    assert.match(await page.locator('.details').innerText(), /names? the fixed version/);
  });

  it('marks warnings in trajectories, shows their steps as text, and counts them by method', async () => {
    const study = simulatedStudy({ instances: 20, methods: 2 });
    const [run, ...others] = study.runs;
    const one = run?.entries.find(({ success }) => success);
    assert.ok(run && one);
    const found = { severity: 'warning', step: 14, text: attack, why: 'reads git' } as const;
    const entries = run.entries.map((entry) => ({
      ...entry,
      trajectoryFindings: entry === one ? [{ ...found, kind: 'history' } as const] : [],
    }));
    await open({ ...study, runs: [{ ...run, entries }, ...others] });
    assert.equal(await count('.matrix-row .finding'), 1);
    await page.locator('[role=gridcell]:has(.finding)').click();
    const details = page.locator('.finding-details');
    assert.match(await details.innerText(), /^⚠ The agent looked at the repository's history\./);
    assert.equal(
      await details.locator('li').textContent(),
      `Step 14 of the trajectory: ${attack} (reads git)`,
    );
    const successes = entries.filter(({ success }) => success).length;
    const table = page.locator('table:has(caption:has-text("Findings in trajectories"))');
    assert.deepEqual(await table.locator('tbody td').allTextContents(), [
      ...[String(entries.length), '1', '1', String(successes), '1', '0'],
    ]);
    await page.getByLabel('Show').selectOption('finding in the trajectory: history');
    assert.equal(await count('.matrix-row'), 1);
  });

  it('completes the summary with intervals and tests against a chosen method', async () => {
    await open(simulatedStudy({ instances: 150, methods: 3 }));
    await page.waitForSelector('.summary .success_differs');
    const intervals = await page.locator('.summary .interval').allInnerTexts();
    assert.ok(intervals.filter((each) => /^\d+\.\d–\d+\.\d$/.test(each)).length >= 3 * 8);
    const rows = "[...document.querySelectorAll('.summary tbody tr')].map((row) => row.innerText)";
    // Within the event, so before the differences are computed.
    const atOnce = await page.evaluate<string[]>(`(() => {
      const options = [...document.querySelectorAll('option')];
      const { value, parentElement } = options.find(({ label }) => label === 'method-3');
      parentElement.value = value;
      parentElement.dispatchEvent(new Event('change'));
      return ${rows};
    })()`);
    assert.deepEqual(
      atOnce.map((row) => /baseline|…/.exec(row)?.[0]),
      ['…', '…', 'baseline'],
    );
    await until(`!${rows}.some((row) => row.includes('…'))`);
    assert.match((await page.evaluate<string[]>(rows))[2] ?? '', /baseline/);
    await page.getByLabel('Published rows').check();
    await page.waitForSelector('.published');
  });

  it('shows the summary without scrolling sideways, with mutants in 1,000 pixels and in 760', async () => {
    const study = simulatedStudy({ instances: 2000, methods: 4 });
    const runs = study.runs.map((run, index) => ({
      ...run,
      entries: run.entries.map((entry) => ({
        ...entry,
        model: `zero-shot-plus/anthropic/some-model-${index}-20240620`,
        mutants: { killed: 12, all: 34 },
      })),
    }));
    try {
      for (const width of [1000, 760]) {
        await page.setViewportSize({ width, height: 900 });
        await open({ ...study, runs });
        await page.waitForSelector('.summary .success_differs .interval');
        const [needed, there] = await page.evaluate<[number, number]>(
          "(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector('.summary').parentElement)",
        );
        assert.ok(needed <= there, `${needed} pixels where there are ${there}`);
        const tallest = await page.evaluate<number>(
          "Math.max(...[...document.querySelectorAll('.summary .interval')].map((each) => each.offsetHeight))",
        );
        assert.equal(tallest, 15, 'each interval is one line');
        assert.ok(there > width - 100);
      }
    } finally {
      await page.setViewportSize({ width: 1200, height: 900 });
    }
  });

  it('fits 900 and 480 pixels: only boxes of tables scroll sideways, and rows keep their names', async () => {
    const study = simulatedStudy({ instances: 80, methods: 6 });
    const runs = study.runs.map((run, index) => ({
      ...run,
      entries: run.entries.map((entry) => ({
        ...entry,
        model: `zero-shot-plus/anthropic/some-model-${index}-20240620`,
        cost: { dollars: 1.25, inputTokens: 123_456, outputTokens: 7890, seconds: 60 },
      })),
    }));
    try {
      for (const width of [900, 480]) {
        await page.setViewportSize({ width, height: 900 });
        await open({ ...study, runs });
        for (const card of await page.locator('.card').all()) await card.scrollIntoViewIfNeeded();
        await until("document.querySelectorAll('.card table').length >= 6");
        await page.evaluate(
          "document.querySelectorAll('details').forEach((each) => (each.open = true))",
        );
        const needed = await page.evaluate<number>('document.documentElement.scrollWidth');
        assert.ok(needed <= width, `the page needs ${needed} of ${width} pixels`);
        const moved = await page.evaluate<number[]>(
          `[...document.querySelectorAll('.wide')].map((box) => {
            box.scrollLeft = 200;
            const name = box.querySelector('tbody th').getBoundingClientRect();
            return name.left - box.getBoundingClientRect().left;
          })`,
        );
        assert.ok(
          moved.every((each) => Math.abs(each) < 2),
          `the names of rows are at ${moved.join(', ')}`,
        );
      }
    } finally {
      await page.setViewportSize({ width: 1200, height: 900 });
    }
  });

  it('gives the columns of the matrix the room that there is, and few rows no empty box', async () => {
    await open(simulatedStudy({ instances: 3, methods: 2 }));
    const sizes = await page.evaluate<{ box: number; cell: number; rows: number; height: number }>(
      `(() => {
        const box = document.querySelector('.matrix');
        const cell = document.querySelector('.matrix-cell').getBoundingClientRect();
        return {
          box: box.clientWidth,
          cell: cell.width,
          rows: document.querySelector('.matrix-body').offsetHeight,
          height: box.clientHeight,
        };
      })()`,
    );
    assert.equal(sizes.cell, 280, 'as wide as it gets, in a box with room');
    assert.ok(sizes.box > 260 + 2 * 280);
    assert.ok(sizes.height <= sizes.rows + 48, `${sizes.height} for ${sizes.rows}`);
  });

  it('shows details and the cell that they are about together, beside each other or not', async () => {
    const inSight = `[...document.querySelectorAll('.following [tabindex="0"], .details h3')].map((each) => {
      const { left, right, top, bottom } = each.getBoundingClientRect();
      const x = (left + right) / 2;
      const at = document.elementFromPoint(x, (top + bottom) / 2);
      return right <= innerWidth && (each === at || each.contains(at));
    })`;
    try {
      for (const width of [1400, 1000, 640]) {
        await page.setViewportSize({ width, height: 900 });
        await open(simulatedStudy({ instances: 60, methods: 4 }));
        await page.locator('[data-at="12 4"]').click();
        await until(`${inSight}.length === 2 && ${inSight}.every(Boolean)`);
      }
    } finally {
      await page.setViewportSize({ width: 1200, height: 900 });
    }
  });

  it('has the title of its tab, and one sentence in place of a table of zeros', async () => {
    const study = simulatedStudy({ instances: 20, methods: 1 });
    const runs = study.runs.map((run) => ({
      ...run,
      entries: run.entries.map((entry) => ({ ...entry, findings: [] })),
    }));
    await open({ ...study, runs });
    assert.equal(await page.locator('h1').innerText(), await page.title());
    assert.equal(await count('table:has(caption:has-text("Findings:"))'), 0);
    await page.getByText(/^No findings in the \d+ candidates with/).waitFor();
  });

  it('begins with the filter that it was exported with, and shows all without it', async () => {
    const study = simulatedStudy({ instances: 40, methods: 2 });
    const ids = study.runs[0]?.instances.slice(0, 7).map(({ id }) => id) ?? [];
    await open({ ...study, asked: { filter: { text: 'status:valid', ids } } });
    assert.equal(await page.getByLabel('Filter').inputValue(), 'status:valid');
    assert.equal(await count('.matrix-row'), 7);
    assert.match(await page.locator('.denominators').innerText(), /shares of the 7 instances/);
    await page.getByLabel('Filter').fill('');
    await until("document.body.innerText.includes('40 of 40 instances')");
    assert.match(await page.locator('.denominators').innerText(), /the 40 selected instances/);
    // A page by itself does not know what is valid, but for this one text.
    await page.getByLabel('Filter').fill('status:valid');
    await until("document.querySelectorAll('.matrix-row').length === 7");
  });

  it('explains the signs of the summary on the page, on paper too', async () => {
    await open(simulatedStudy({ instances: 5, methods: 2 }));
    await page.emulateMedia({ media: 'print' });
    const signs = await page.locator('.signs').innerText();
    await page.emulateMedia({ media: null });
    for (const sign of ['W the candidate applies to R', 'S at least one F→P', 'F→×', 'ΔC ¬S']) {
      assert.ok(signs.includes(sign), `no ${sign} in ${signs}`);
    }
  });

  it('draws every plot and every row on paper', async () => {
    const study = simulatedStudy({ instances: 300, methods: 3, samples: 2 });
    await open(study);
    assert.ok((await count('.plot > svg')) < 8, 'plots out of sight are not drawn yet');
    await page.evaluate(
      "addEventListener('beforeprint', () => (globalThis.rows = document.querySelectorAll('.matrix-row').length))",
    );
    const paper = await page.pdf({ format: 'A4' });
    assert.ok(paper.length > 1000);
    assert.equal(await count('.plot > svg'), 8);
    assert.equal(await page.evaluate('globalThis.rows'), 300);
    assert.ok((await count('.matrix-row')) < 100, 'the screen needs only the rows in sight');
  });

  it('hides methods with the keyboard, everywhere and until they are shown again', async () => {
    await open(simulatedStudy({ instances: 60, methods: 3 }));
    await page.waitForSelector('.summary .success_differs');
    const box = page.getByLabel('method-2', { exact: true });
    const labels = (): Promise<string[]> => page.locator('[role=columnheader]').allTextContents();
    const bars = "document.querySelector('.card').querySelectorAll('rect[fill]')";
    const colour = (): Promise<string | null> => page.evaluate(`${bars}[1]?.getAttribute('fill')`);
    await page.locator('.card').first().scrollIntoViewIfNeeded();
    await until(`${bars}.length === 3`);
    assert.equal(await colour(), 'var(--series-2)');
    await box.focus();
    await page.keyboard.press('Space');
    assert.deepEqual(await labels(), ['Instance', 'method-1', 'method-3']);
    await page.waitForSelector('.summary .success_differs');
    assert.equal(await page.locator('.hidden-method').textContent(), 'method-2hidden');
    assert.equal(
      await page.evaluate('document.activeElement.dataset.method'),
      JSON.stringify(['run-2', 'method-2']),
    );
    assert.deepEqual(await page.getByLabel('Compare with').locator('option').allTextContents(), [
      'method-1',
      'method-3',
    ]);
    // A plot out of sight is drawn only when it becomes visible, and focusing the box may have
    // scrolled.
    await page.locator('.card').first().scrollIntoViewIfNeeded();
    await until(`${bars}.length === 2`);
    assert.equal(await colour(), 'var(--series-3)', 'a method keeps its colour');

    await page.reload();
    await page.waitForSelector('.matrix-row');
    assert.deepEqual(await labels(), ['Instance', 'method-1', 'method-3']);
    for (const name of ['method-1', 'method-3'])
      await page.getByLabel(name, { exact: true }).uncheck();
    await page.locator('.card').first().scrollIntoViewIfNeeded();
    await until("document.body.innerText.includes('Every method is hidden.')");
    for (const each of await page.locator('.method > input').all()) await each.check();
    assert.deepEqual(await labels(), ['Instance', 'method-1', 'method-2', 'method-3']);
  });

  it('reaches the controls of a plot out of sight with Tab, and keeps them when it is drawn again', async () => {
    await open(simulatedStudy({ instances: 300, methods: 3 }));
    const focused = (): Promise<string> =>
      page.evaluate(
        '(({ ariaLabel, innerText }) => ariaLabel ?? innerText)(document.activeElement)',
      );
    await page.locator('[role=grid] [tabindex="0"]').focus();
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Save Success rate as SVG');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    assert.equal(await focused(), 'Data table');
    await page.keyboard.press('Enter');
    const figures = "document.querySelector('.card details table')";
    await until(`${figures}?.checkVisibility()`);
    await page.evaluate(`globalThis.before = ${figures}`);
    await page.evaluate(`(() => {
      const grading = [...document.querySelectorAll('select')].find((each) => each.value === 'strict');
      grading.value = 'harness';
      grading.dispatchEvent(new Event('change', { bubbles: true }));
    })()`);
    await until(`${figures} !== globalThis.before && ${figures}.checkVisibility()`);
    assert.equal(await focused(), 'Data table');
  });

  it('gives the bar of a single method a height', async () => {
    await open(simulatedStudy({ instances: 60, methods: 1 }));
    await page.locator('.card').first().scrollIntoViewIfNeeded();
    const bar = "document.querySelector('.card rect[fill]')";
    await until(bar);
    assert.ok((await page.evaluate<number>(`Number(${bar}.getAttribute('height'))`)) >= 8);
  });

  it('draws every plot, and saves them as files without the theme of the page', async () => {
    const study = simulatedStudy({ instances: 150, methods: 3, samples: 2 });
    const resolved = study.runs[0]?.instances.slice(0, 50).map(({ id }) => id) ?? [];
    await open({ ...study, repairs: [{ name: 'a repairer', resolved }] });
    for (const card of await page.locator('.card').all()) await card.scrollIntoViewIfNeeded();
    // Overlap with repairs is a table alone.
    await until("document.body.innerText.includes('a repairer')");
    await until("document.querySelectorAll('.plot > svg').length === 8");
    const save = async (name: string): Promise<Buffer> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name }).click(),
      ]);
      return readFile(await download.path());
    };
    const svg = (await save('Save By repository as SVG')).toString('utf8');
    assert.match(svg, /^<\?xml.*\n<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    assert.doesNotMatch(svg, /var\(--|currentcolor|style=/i);
    const png = await save('Save Success rate as PNG');
    assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from('PNG')]);
  });

  it('shows a cell whose explanation is a megabyte without a blank', async () => {
    const study = simulatedStudy({ instances: 60, methods: 1 });
    const runs = study.runs.map((run) => ({
      ...run,
      entries: run.entries.map((entry, at) =>
        at === 0 ? { ...entry, explanation: 'A'.repeat(1 << 20), evaluated: true } : entry,
      ),
    }));
    await open({ ...study, runs });
    await page
      .locator(`.matrix-row:has-text("${runs[0]?.entries[0]?.instance}") .matrix-cell`)
      .first()
      .click();
    assert.equal((await page.locator('.explanation').textContent())?.length, 2001);
  });

  it('saves a plot with characters that no picture may have', async () => {
    const study = simulatedStudy({ instances: 60, methods: 1 });
    const runs = study.runs.map((run) => ({
      ...run,
      instances: run.instances.map((facts) => ({ ...facts, repo: 'a/\0\u001b\ud800\u202e' })),
    }));
    await open({ ...study, runs });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Save By repository as PNG' }).click(),
    ]);
    const png = await readFile(await download.path());
    assert.deepEqual([...png.subarray(1, 4)], [...Buffer.from('PNG')]);
  });
});
