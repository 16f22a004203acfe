import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { nothingKnown, type RunEntry } from '../../../src/study/entry';
import { trajectoryHtml } from '../../../src/trajectory/trajectoryText';
import type { TrajectoryStep } from '../../../src/trajectory/trajectory';
import { trajectoryRow, type ShownTrajectory } from '../../../src/trajectory/trajectoryPages';
import { everydayRuns } from '../../everyday';
import { instance, testDiff } from './madeUpTrajectories';

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

/** Roles of Chromium's accessibility tree that say nothing without a name. */
const named = new Set([
  ...['button', 'checkbox', 'searchbox', 'textbox', 'combobox', 'link', 'DisclosureTriangle'],
  ...['image', 'img', 'svg', 'group', 'radio', 'region', 'complementary', 'table', 'columnheader'],
  ...['rowheader', 'heading', 'RootWebArea'],
]);

/** Turns of a thought, an action and an observation. */
function turns(count: number, output = 'cat.py'): TrajectoryStep[] {
  return Array.from({ length: count }, (_, index): TrajectoryStep[] => {
    const turn = index + 1;
    return [
      { kind: 'thought', turn, text: `I think ${turn}`, dollars: 0.01, inputTokens: 10 },
      { kind: 'action', turn, text: `ls ${turn}`, ...(turn === 3 && { isRestarted: true }) },
      {
        ...{ kind: 'observation', turn, text: `${output} ${turn}` },
        ...(turn === 2 && { diff: testDiff }),
      },
    ];
  }).flat();
}

const shown = (
  steps: readonly TrajectoryStep[],
  more: Partial<ShownTrajectory> = {},
): ShownTrajectory => ({
  trajectory: {
    ...{ instance, format: 'swt-bench', agent: 'mini', model: 'm' },
    ...{ steps, submission: testDiff, ending: 'submitted' },
  },
  findings: [{ kind: 'history', severity: 'warning', step: 5, text: 'git log --all' }],
  ...more,
});

/** The page in a real browser, as `trajectory --format html` writes it. */
describe('the viewer of trajectories as a file', function () {
  const folder = mkdtempSync(join(tmpdir(), 'swt-bench-viewer-'));
  const file = join(folder, 'trajectory.html');
  const complaints: string[] = [];
  let page: Page;
  let close: () => Promise<void>;
  const open = async (...all: readonly ShownTrajectory[]): Promise<void> => {
    writeFileSync(file, await trajectoryHtml(all, folder));
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector('h1');
  };
  const count = (selector: string): Promise<number> => page.locator(selector).count();
  /** Number of the step that has the focus. */
  const at = (): Promise<number> =>
    page.evaluate<number>("Number(document.activeElement?.closest('[data-at]')?.dataset.at) + 1");
  /** Polls an expression, since the page's policy forbids the usual way to wait for one. */
  const until = async (expression: string): Promise<void> => {
    for (let turn = 0; turn < 4000; turn++) {
      if (await page.evaluate<boolean>(expression)) return;
      await page.waitForTimeout(50);
    }
    assert.fail(`never: ${expression}`);
  };
  /** Controls, pictures and named areas without a name in Chromium's whole accessibility tree. */
  const unnamedParts = async (): Promise<readonly string[]> => {
    const devtools = await page.context().newCDPSession(page);
    const { nodes } = await devtools.send('Accessibility.getFullAXTree');
    await devtools.detach();
    const parts = nodes.filter(({ ignored, role }) => !ignored && named.has(String(role?.value)));
    // Otherwise the tree has other names for roles.
    assert.ok(parts.length > 0);
    return parts.flatMap(({ name, role }) =>
      String(name?.value ?? '').trim() === '' ? [String(role?.value)] : [],
    );
  };
  const shownSteps =
    "[...document.querySelectorAll('.step')].filter((each) => !each.hidden).length";

  before(async () => {
    await build({
      entryPoints: ['main.ts', 'trajectory.css'].map((name) =>
        join(root, 'src/dashboard/trajectory', name),
      ),
      entryNames: 'trajectory',
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

  it('is gone through with the keyboard: one stop, arrows, unfold, search', async () => {
    await open(shown(turns(20)));
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1');
    assert.equal(await count('.steps [tabindex="0"]'), 1);
    await page.locator('.steps [tabindex="0"]').focus();
    for (const key of ['ArrowUp', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(key);
    assert.equal(await at(), 3);
    assert.equal(await count('.step-body'), 0);
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('.step-whole').innerText(), 'cat.py 1');
    assert.equal(
      await page.locator('[aria-expanded=true]').getAttribute('aria-label'),
      'Step 3, observation: cat.py 1',
    );
    await page.keyboard.press('ArrowLeft');
    assert.equal(await count('.step-body'), 0);
    await page.keyboard.press('End');
    assert.equal(await at(), 60);
    assert.equal(await count('.steps [tabindex="0"]'), 1);
    await page.keyboard.press('/');
    assert.equal(await page.evaluate('document.activeElement.type'), 'search');
    await page.keyboard.type('think 7');
    // Enter goes to what was typed until then, and presses nothing there.
    await page.keyboard.press('Enter');
    assert.equal(await at(), 19);
    assert.equal(await page.evaluate(shownSteps), 1);
    assert.equal(await count('.step-body'), 0);
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.locator('mark').innerText(), 'think 7');
  });

  it('filters by kind and findings, and goes from a finding to its step', async () => {
    await open(shown(turns(20)));
    await page.locator('.kinds').getByText('action').click();
    await until(`${shownSteps} === 40`);
    assert.equal(await page.locator('#search-note').innerText(), '40 of 60 steps');
    await page.getByText('with findings only').click();
    await until(`${shownSteps} === 0`);
    await page.getByRole('button', { name: 'Step 5', exact: true }).click();
    await until(`${shownSteps} === 60`);
    assert.equal(await at(), 5);
    assert.match(await page.locator('.finding-note').innerText(), /repository's history/);
  });

  it('shows the difference to R and the cost up to a step, and that it went on', async () => {
    await open(shown(turns(4)));
    const summary = page.locator('.side summary');
    assert.equal(await summary.innerText(), 'at the end: diff +3 −0');
    await page.locator('[data-at="1"] button').click();
    await page.getByText('after step 2: nothing changed yet').waitFor({ state: 'visible' });
    assert.equal(await summary.isVisible(), false, 'nothing unfolds');
    assert.match(await page.locator('.cost p').innerText(), /^\$0\.01\d* up to step 2$/);
    await page.locator('[data-at="6"] button').click();
    assert.equal(await summary.innerText(), 'after step 7: diff +3 −0');
    assert.equal(await count('.diff .added'), 3);
    assert.match(await page.locator('.restarts').innerText(), /continued in a new workspace once/);
    assert.match(await page.locator('[data-at="7"]').innerText(), /new workspace/);
  });

  it('has the verdict beside it, or says that there is none', async () => {
    await open(shown(turns(1)));
    assert.match(await page.locator('.side').innerText(), /Not graded/);
    const entry: RunEntry = {
      ...nothingKnown,
      ...{ instance, model: 'm', sample: 1, reason: 'success', explanation: attack },
      ...{ evaluated: true, success: true, failToPass: 2, seconds: 1 },
      delta: { covered: 1, executable: 2 },
    };
    await open(shown(turns(1), { verdict: { run: 'run-1', entry } }));
    const text = await page.locator('.side').innerText();
    assert.match(text, /success; 2 F→P/);
    assert.match(text, /run run-1 · ΔC 50\.0 %/);
  });

  it('has an index of several, and returns to the row', async () => {
    await open(shown(turns(1)), shown(turns(2)), shown(turns(3), { findings: [] }));
    assert.equal(await count('tbody tr'), 3);
    assert.match(await page.locator('tbody tr').nth(0).innerText(), /⚠ 1 to judge/);
    await page.locator('tbody button').nth(1).click();
    await page.waitForSelector('.step');
    assert.equal(await count('.step'), 6);
    await page.getByRole('button', { name: 'All trajectories' }).click();
    assert.equal(await page.evaluate("document.activeElement.closest('tr').rowIndex"), 2);
  });

  it('keeps for the next window what it shows, and says why it can show nothing', async () => {
    const origin = { view: 'runs', path: '/t.jsonl' };
    const kept = async (): Promise<unknown> => JSON.parse(await page.evaluate('window.kept'));
    const tell = (message: object): Promise<unknown> =>
      page.evaluate(`window.postMessage(${JSON.stringify(message)})`);
    const asked = "window.asked.map((each) => each.do + (each.at ?? '')).join()";
    const script = readFileSync(join(folder, 'trajectory.js'), 'utf8');
    const reopen = async (state: unknown): Promise<void> => {
      await page.goto('about:blank');
      await page.setContent('<main></main>');
      await page.evaluate(`
        const main = document.querySelector('main');
        main.dataset.origin = ${JSON.stringify(JSON.stringify(origin))};
        window.asked = [];
        window.kept = ${JSON.stringify(JSON.stringify(state))};
        window.acquireVsCodeApi = () => ({
          postMessage: (message) => window.asked.push(message),
          getState: () => JSON.parse(window.kept) ?? undefined,
          setState: (state) => { window.kept = JSON.stringify(state); },
        });`);
      await page.addScriptTag({ content: script });
    };

    await reopen(null);
    assert.deepEqual(await kept(), { origin });
    await tell({ type: 'problem', what: '/t.jsonl is gone', next: attack });
    await page.getByRole('alert').waitFor();
    assert.match(await page.getByRole('alert').innerText(), /^\/t\.jsonl is gone\s+<\/script>/);
    await page.getByRole('button', { name: 'Try Again' }).click();
    await until(`${asked} === 'ready,ready'`);

    const both = [1, 2].map((number) => {
      const each = shown(turns(number));
      return { ...each, trajectory: { ...each.trajectory, instance: `octo__cat-${number}` } };
    });
    const rows = both.map(trajectoryRow);
    await tell({ type: 'index', rows });
    await page.locator('tbody button').nth(1).click();
    await until(`${asked} === 'ready,ready,load1'`);
    const answer = async (): Promise<void> => {
      await page.evaluate(`window.postMessage({ type: 'trajectory', at: 1,
        shown: new TextEncoder().encode(${JSON.stringify(JSON.stringify(both[1]))}) })`);
      await page.waitForSelector('.step');
    };
    await answer();
    const row = { at: 1, instance: 'octo__cat-2' };
    assert.deepEqual(await kept(), { origin, row });

    await reopen({ origin, row });
    await tell({ type: 'index', rows });
    await until(`${asked} === 'ready,load1'`);
    await answer();
    assert.equal(await count('.step'), 6);
    await page.getByRole('button', { name: 'All trajectories' }).click();
    assert.deepEqual(await kept(), { origin });

    await reopen({ origin, row: { at: 0, instance: 'octo__cat-2' } });
    await tell({ type: 'index', rows });
    await page.waitForSelector('tbody');
    assert.equal(await page.evaluate(asked), 'ready', 'another trajectory now stands in its row');
  });

  it('has a name for each part, and landmarks for few', async () => {
    await open(shown(turns(2)));
    await page.getByRole('button', { name: 'Unfold' }).click();
    const landmarks = ['search', 'complementary', 'region', 'navigation'] as const;
    const counts = await Promise.all(landmarks.map((role) => page.getByRole(role).count()));
    assert.deepEqual(counts, [1, 1, 1, 0], 'the steps are the only region');
    for (const name of [
      ...['Text of step 1', 'Text of step 6', 'Step kinds'],
      ...['Diff against R', 'Diff lines'],
    ]) {
      assert.equal(await page.getByRole('group', { name, exact: true }).count(), 1, name);
    }
    const unnamed = await page.evaluate(`[...document.querySelectorAll(
      'button, input, summary, [tabindex], [role=img]')]
      .filter((each) => !(each.getAttribute('aria-label') || each.textContent || each.labels?.length))
      .map((each) => each.outerHTML)`);
    assert.deepEqual(unnamed, []);
    assert.deepEqual(await unnamedParts(), []);
    // The Tab key: the head, search, kinds, unfold and fold, what stands beside the steps, the steps.
    const stops: string[] = [];
    await page.evaluate("document.querySelector('h1').focus()");
    while (stops.at(-1) !== '') {
      await page.keyboard.press('Tab');
      stops.push(
        await page.evaluate<string>(
          "document.activeElement.closest('.controls, .side, .steps')?.classList[0] ?? ''",
        ),
      );
    }
    const places = stops.filter((each, at) => each !== stops[at - 1]);
    assert.deepEqual(places, ['controls', 'side', 'steps', '']);
  });

  it('has a name for each part of the index', async () => {
    await open(shown(turns(1)), shown(turns(2), { findings: [] }));
    assert.deepEqual(await unnamedParts(), []);
    const [first, second] = await page.locator('tbody td:last-child').allInnerTexts();
    assert.deepEqual([first, second], ['⚠ 1 to judge', 'none']);
  });

  it('draws thousands of steps folded, and a long text only in part @full', async () => {
    await open(shown(turns(1700, 'x'.repeat(everydayRuns(12_000)))));
    assert.equal(await count('.step'), 5100);
    // To hide steps that are list items takes a minute of layout.
    const display = "getComputedStyle(document.querySelector('.step')).display";
    assert.equal(await page.evaluate(display), 'block');
    assert.equal(await page.locator('.steps').getByRole('listitem').count(), 5100);
    assert.equal(await count('.step-body'), 0);
    await page.getByRole('button', { name: 'Unfold' }).click();
    assert.equal(await count('.step-body'), 200);
    await page.getByRole('button', { name: 'Fold', exact: true }).click();
    await page.getByLabel('Search').fill('think 1700');
    await until(`${shownSteps} === 1`);
    await open(shown(turns(1, 'y'.repeat(1_000_000))));
    await page.locator('[data-at="2"] button').click();
    assert.equal((await page.locator('.step-whole').innerText()).length, 20_000);
    await page.getByRole('button', { name: 'Show all 1000002 characters' }).click();
    assert.equal((await page.locator('.step-whole').innerText()).length, 1_000_002);
  });

  it('runs nothing of what models and tests wrote', async () => {
    const steps = turns(2).map((step) => ({ ...step, text: attack, label: attack, diff: attack }));
    const findings = [
      { kind: 'network', severity: 'note', step: 1, text: attack, why: attack },
    ] as const;
    const evil = shown(steps, { findings });
    await open({ ...evil, trajectory: { ...evil.trajectory, instance: attack, ending: attack } });
    await page.getByRole('button', { name: 'Unfold' }).click();
    assert.equal(await page.locator('.step-whole').first().innerText(), attack);
    assert.equal(await count('img'), 0);
    assert.match(await page.title(), /^SWT-Bench: trajectory of <\/script>/);
  });

  it('fits into a narrow window', async () => {
    await page.setViewportSize({ width: 400, height: 800 });
    await open(shown(turns(5, 'z'.repeat(500))));
    await page.getByRole('button', { name: 'Unfold' }).click();
    assert.equal(
      await page.evaluate(
        'document.documentElement.scrollWidth <= document.documentElement.clientWidth',
      ),
      true,
    );
    await page.setViewportSize({ width: 1200, height: 900 });
  });
});
