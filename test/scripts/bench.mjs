// `npm run bench`: what counting costs, in ratios within one run. A benchmark, not a test.
import { join } from 'node:path';
import { root, run } from './setup.mjs';

process.exitCode = await run('python3', [
  join(root, 'test', 'tracer', 'bench.py'),
  ...process.argv.slice(2),
]);
