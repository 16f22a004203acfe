import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Cli from '../../src/cli';
import { commands } from '../../src/commands/commands';
import { root } from './cli';

const program = join(root, 'dist', 'cli.js');

/** The files of the build that are loaded until a command has ended, by a command line of its own. */
async function loadedBy(args: readonly string[]): Promise<string[]> {
  const requireFrom = createRequire(program);
  const former = Object.keys(requireFrom.cache).filter((path) =>
    path.startsWith(join(root, 'dist')),
  );
  for (const path of former) delete requireFrom.cache[path];
  const { runCommandLine } = requireFrom(program) as typeof Cli;
  let printed = '';
  const status = await runCommandLine(args, {
    stdout: (text) => (printed += text),
    stderr: (text) => (printed += text),
    stdin: () => Promise.resolve(Buffer.from('')),
    interactive: false,
    signal: new AbortController().signal,
  });
  assert.equal(status, 0, printed);
  return Object.keys(requireFrom.cache).filter((path) => path.startsWith(join(root, 'dist')));
}

const holdsZod = (path: string): boolean => readFileSync(path, 'utf8').includes('$ZodType');

describe('Starting the command line', () => {
  // Each file takes a third of a millisecond, zod as long as an eighth of an empty Node.
  it('loads what help says, and nothing that commands do', async () => {
    for (const args of [
      ['--version'],
      ['--help'],
      ...commands.map(({ name }) => [name, '--help']),
    ]) {
      const loaded = await loadedBy(args);
      const most = args.length === 1 ? 16 : 48;
      assert.ok(loaded.length <= most, `${args.join(' ')} loads ${loaded.length} files`);
      assert.deepEqual(loaded.filter(holdsZod), [], args.join(' '));
    }
  });

  it('loads zod where a schema is printed', async () => {
    assert.equal((await loadedBy(['config', 'schema'])).filter(holdsZod).length, 1);
  });
});
