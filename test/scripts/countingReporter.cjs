// Mocha's spec reporter, which also writes its counts to the file that test.mjs reads.
const { writeFileSync } = require('node:fs');
const Mocha = require('mocha');

module.exports = class extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const skips = [];
    runner.on('pending', (test) => skips.push(test.skipReason ?? test.fullTitle()));
    runner.once('end', () => {
      const file = process.env.SWT_BENCH_COUNTS;
      if (file === undefined) return;
      const { passes, failures, pending } = this.stats;
      writeFileSync(
        file,
        JSON.stringify({ passed: passes, failed: failures, skipped: pending, skips }),
      );
    });
  }
};
