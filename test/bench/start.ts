// How long a start of the command line takes, in multiples of an empty Node. A benchmark, not a test:
// `npm run bench -- start [--times N]`, with the command line of the last build.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { line, median } from './lines';

const { values } = parseArgs({
  allowPositionals: true,
  options: { times: { type: 'string', default: '15' } },
});
const cli = join(__dirname, '..', '..', 'dist', 'cli.js');
const starts: Readonly<Record<string, readonly string[]>> = {
  'an empty Node': ['-e', ''],
  'swt-bench --version': [cli, '--version'],
  'swt-bench --help': [cli, '--help'],
  'swt-bench evaluate --help': [cli, 'evaluate', '--help'],
  'swt-bench generate --help': [cli, 'generate', '--help'],
};

/** Milliseconds until a Node with these arguments has ended. */
function took(args: readonly string[]): number {
  const started = performance.now();
  spawnSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - started;
}

// In turn, so that what else the machine does meets all of them.
const times = new Map(Object.keys(starts).map((what) => [what, [] as number[]]));
for (let n = 0; n < Number(values.times); n += 1) {
  for (const [what, args] of Object.entries(starts)) times.get(what)?.push(took(args));
}
const plain = median(times.get('an empty Node') ?? []);
for (const [what, all] of times) line(what, median(all), plain);
