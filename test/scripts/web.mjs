// `npm run web`: a real VS Code in the browser with the extension, on the bundled instance.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cache, ensureBuilt, ensureInstalled, fail, need, root, run } from './setup.mjs';

need('git', ['--version'], 'to make the tree of R');
await ensureInstalled();
await ensureBuilt();

const folder = join(cache, 'web', 'workspace');
if (!existsSync(folder)) {
  const status = await run(process.execPath, [
    join(root, 'dist', 'cli.js'),
    ...['open', 'tallybook__tallybook-217', '--dataset', 'bundled'],
    ...['--storage', join(cache, 'storage')],
    ...['--out', folder],
  ]);
  if (status !== 0) fail('The workspace of the bundled instance could not be made.');
}
const given = process.argv.slice(2);
const { positionals } = parseArgs({
  args: given,
  options: { port: { type: 'string' }, extension: { type: 'string' } },
  allowPositionals: true,
});
process.exitCode = await run(process.execPath, [
  join(root, 'test', 'windows', 'host', 'web.mjs'),
  ...(positionals.length > 0 ? [] : [folder]),
  ...given,
]);
