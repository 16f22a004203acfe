// Mocha's spec reporter, which also writes its counts to the file that test.mjs reads.
const { writeFileSync } = require('node:fs');
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
