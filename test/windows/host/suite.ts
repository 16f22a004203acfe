import Mocha from 'mocha';
import { printLine, reportCounts, screenshot } from './client';

/**
 * Runs mocha inside the extension host. The bundle that VS Code loads exports
 * `run = () => runSuite(() => { require('./first.test'); ... })`: the tests register themselves when
 * required, which must happen after mocha's BDD functions are global.
 * Prints a line for each test and, last, `N passed, N failed, N skipped`; rejects when a test failed
 * or none ran. A failed test leaves a picture of the window.
 * @param load requires the test modules
 * @param options timeout of one test in milliseconds; grep chooses tests
 */
export async function runSuite(
  load: () => void | Promise<void>,
  {
    timeout = 600_000,
    grep = process.env['SWT_BENCH_GREP'],
  }: { timeout?: number; grep?: string } = {},
): Promise<void> {
  const output = forwardConsole();
  try {
    const mocha = new Mocha({
      ui: 'bdd',
      timeout,
      reporter: silent as unknown as Mocha.ReporterConstructor,
      ...(grep ? { grep } : {}),
    });
    mocha.suite.emit(Mocha.Suite.constants.EVENT_FILE_PRE_REQUIRE, globalThis, '', mocha);
    let pictures = 0;
    mocha.suite.afterEach('picture of a failure', async function () {
      if (this.currentTest?.state !== 'failed') return;
      const file = await screenshot(`failed-${++pictures}`).catch(() => undefined);
      if (file !== undefined) console.log(`    picture: ${file}`);
    });
    await load();
    const counts = await runMocha(mocha);
    await reportCounts(counts);
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    if (counts.failed > 0) throw new Error(`${counts.failed} tests failed`);
    if (counts.passed === 0) throw new Error('no test ran');
  } catch (error) {
    console.log(error instanceof Error ? (error.stack ?? error.message) : String(error));
    throw error;
  } finally {
    await output.flush();
  }
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

function silent(): void {
  // the lines are printed by runMocha
}

function runMocha(mocha: Mocha): Promise<Counts> {
  return new Promise((resolve) => {
    const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
    const title = (test: Mocha.Runnable): string => test.titlePath().join(' › ');
    const runner = mocha.run(() => resolve(counts));
    runner.on('pass', (test) => {
      counts.passed += 1;
      console.log(`  ✓ ${title(test)} (${test.duration ?? 0} ms)`);
    });
    runner.on('fail', (test: Mocha.Runnable, error: Error) => {
      counts.failed += 1;
      console.log(`  ✗ ${title(test)}: ${error.message.split('\n')[0] ?? ''}`);
      console.log(indent(error.stack ?? String(error)));
    });
    runner.on('pending', (test) => {
      counts.skipped += 1;
      console.log(`  - ${title(test)} (skipped)`);
    });
  });
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}

/**
 * Sends the output of console.log in tests, in order, also to the runner's output. VS Code ignores
 * assignments to the methods of its console, so the object itself is replaced while the suite runs.
 */
function forwardConsole(): { flush: () => Promise<void> } {
  const original = globalThis.console;
  let sent: Promise<unknown> = Promise.resolve();
  const log = (...values: unknown[]): void => {
    original.log(...values);
    const line = values
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)))
      .join(' ');
    sent = sent.then(() => printLine(line)).catch(() => undefined);
  };
  globalThis.console = Object.create(original, { log: { value: log } }) as Console;
  return {
    flush: async () => {
      globalThis.console = original;
      await sent;
    },
  };
}
