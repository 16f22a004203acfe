// `npm run bench`: the cost of the product, in ratios within one run. Benchmarks, not tests. The
// first word selects the benchmark, and each file describes it: `list`, `open` (an instance),
// `docker` (containers), `throughput` (instances an hour), `plan` (a large batch), `reports` (many
// runs), `dashboard` (its first paint), `patch` (converting), `authoring` (edit to verdict),
// `start` (of the command line), `page` (writes docs/speed.md),
// `gutters` (2,000 changed lines), `repairs` (many code patches), `streams` (a coordinator of many pods),
// `selection` (rules that choose among tests, on made-up populations or on mutants), `fidelity` (do
// the golden tests of a dataset's rows give its lists); any other word selects the tracer.
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
  plan: 'plan.ts',
  patch: 'patches.ts',
  authoring: 'authoring.ts',
  start: 'start.ts',
  page: 'page.ts',
  gutters: 'gutters.ts',
  repairs: 'repairs.ts',
  selection: 'selection/selection.ts',
  dashboard: 'dashboard.ts',
  reports: 'reports.ts',
  streams: 'streams.ts',
  fidelity: 'fidelity/fidelity.ts',
}[what];
process.exitCode =
  file !== undefined
    ? await run(process.execPath, [
        ...['--import', 'tsx', join(root, 'test', 'bench', file)],
        ...[what, ...rest],
      ])
    : await run('python3', [join(root, 'test', 'tracer', 'bench.py'), ...process.argv.slice(2)]);
