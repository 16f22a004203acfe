// `npm run bench`: what counting, listing and opening cost, in ratios within one run. A benchmark, not a
// test. `list` and `open` measure those (see test/bench/instances.ts), `docker` what containers cost
// (test/bench/containers.ts), `throughput` how many instances
// an hour a batch grades (test/bench/throughput.ts), `patch` what converting patches does (test/bench/patches.ts), `authoring` how
// long an author waits after an edit (test/bench/authoring.ts), `gutters` what marking a change of 2,000
// lines does (test/bench/gutters.ts), `reports` what reading and reporting many runs does
// (test/bench/reports.ts), `dashboard` how soon a page of thousands of results is painted
// (test/bench/dashboard.ts); anything else the tracer.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { cache, root, run } from './setup.mjs';

const [what, ...rest] = process.argv.slice(2);
mkdirSync(cache, { recursive: true });
const file = {
  list: 'instances.ts',
  open: 'instances.ts',
  docker: 'containers.ts',
  throughput: 'throughput.ts',
  patch: 'patches.ts',
  authoring: 'authoring.ts',
  gutters: 'gutters.ts',
  dashboard: 'dashboard.ts',
  reports: 'reports.ts',
}[what];
process.exitCode =
  file !== undefined
    ? await run(process.execPath, [
        ...['--import', 'tsx', join(root, 'test', 'bench', file)],
        ...[what, ...rest],
      ])
    : await run('python3', [join(root, 'test', 'tracer', 'bench.py'), ...process.argv.slice(2)]);
