// Evaluates the bundled instance, for a person who has just cloned the project.
import { join } from 'node:path';
import { cache, ensureBuilt, ensureInstalled, need, root, run } from './setup.mjs';

need('git', ['--version'], 'to make the trees of R and R∘X*');
await ensureInstalled();
await ensureBuilt();

console.log(`
An instance is a repository with an issue. R is the repository as it was, R∘X* the same with the
maintainers' fix. A candidate is a set of tests; it reproduces the issue when a test of it fails on R
and passes on R∘X* (F→P). ΔC is the share of the changed lines that it newly covers.
`);
const status = await run(process.execPath, [
  join(root, 'dist', 'cli.js'),
  'evaluate',
  ...['--dataset', 'bundled', '--predictions', 'bundled'],
  ...['--storage', join(cache, 'storage'), '--timeout', '60', '--fresh'],
]);
if (status === 0) {
  console.log(`
See the same in VS Code:
  npm run web                      opens it in a browser, nothing to install by hand
or build the extension with \`npm run package\`, install dist/swt-bench-*.vsix in VS Code,
and run "SWT-Bench: Open Bundled Instance" from the command palette.`);
}
process.exitCode = status;
