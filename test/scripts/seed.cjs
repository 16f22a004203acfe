// Properties are tried on the same examples each day, so that a failure is of the change under test; the
// full run looks for new ones. A failure prints its seed.
if (process.env.SWT_BENCH_TESTS === 'everyday') {
  require('fast-check').configureGlobal({ seed: 20_261_123 });
}
