// Mocha's spec reporter, which also writes its counts to the file that test.mjs reads.
// With SWT_BENCH_DEAREST=N it ends with the N tests, hooks included, that took the most processor time.
const { readFileSync, writeFileSync } = require('node:fs');
const Mocha = require('mocha');

module.exports = class extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const skips = [];
    const failures = [];
    runner.on('pending', (test) => skips.push(test.skipReason ?? test.fullTitle()));
    runner.on('fail', (test, error) => {
      const text = String(error?.message ?? error);
      failures.push(`${test.fullTitle()}: ${text.split('\n').slice(0, 4).join(' ').slice(0, 400)}`);
    });
    const dearest = Number(process.env.SWT_BENCH_DEAREST ?? 0);
    if (dearest > 0) tellDearest(runner, dearest);
    runner.once('end', () => {
      // A test that was given up may wait on for ever, and the whole run with it.
      setTimeout(() => {
        console.log('something that a test began has not ended: this process ends it');
        process.exit();
      }, 60_000).unref();
      const file = process.env.SWT_BENCH_COUNTS;
      if (file === undefined) return;
      const { passes, failures: failed, pending } = this.stats;
      const counts = { passed: passes, failed, skipped: pending, skips, failures };
      writeFileSync(file, JSON.stringify(counts));
    });
  }
};

function tellDearest(runner, many) {
  const spent = [];
  let before = processorSeconds();
  const took = (title) => {
    const now = processorSeconds();
    spent.push([now - before, title]);
    before = now;
  };
  runner.on('hook end', (hook) => took(`${hook.parent.fullTitle()} ${hook.title}`));
  runner.on('test end', (test) => took(test.fullTitle()));
  runner.once('end', () => {
    spent.sort(([a], [b]) => b - a);
    console.log(`processor seconds: ${before.toFixed(1)} in all`);
    for (const [seconds, title] of spent.slice(0, many)) {
      console.log(`${seconds.toFixed(1).padStart(8)}  ${title}`);
    }
  });
}

/** User and system time of this process and of the children that it has waited for. */
function processorSeconds() {
  const { user, system } = process.cpuUsage();
  const own = (user + system) / 1e6;
  try {
    // Fields 16 and 17 (cutime, cstime) in ticks of 10 ms; the name before them may hold blanks.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
    return own + (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return own;
  }
}
