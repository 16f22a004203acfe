import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedStorage } from '../sharedStorage';
import { cli, root, scratch, type Answer } from './cli';
import { codeBlocks } from './pastedCommands';

/** Pages with commands, in the order in which a reader would run them. */
const pages = [
  'README.md',
  'docs/command-line.md',
  'docs/evaluate.md',
  'docs/judge-repairs.md',
  'docs/mutants.md',
  'docs/patch-formats.md',
];
/**
 * Pages whose commands need an engine or a model: only the existence of their options is checked.
 */
const others = [
  ...[
    'docs/models.md',
    'docs/containers.md',
    'docs/author.md',
    'docs/trajectories.md',
    'docs/repair.md',
    'docs/shards.md',
    'docs/kubernetes.md',
    'docs/scale.md',
  ],
];

/** Commands of a page, one on each line; a backslash continues a line. */
const commandsIn = (text: string): string[] =>
  codeBlocks(text, 'sh').flatMap((block) =>
    block
      .replace(/\\\n/g, ' ')
      .split('\n')
      .filter((line) => /^(node dist\/cli\.js|swt-bench) /.test(line))
      .map((line) => line.replace(/\s+#.*$/, '')),
  );

/** Whether a command has a placeholder for something of the reader's own. */
const hasPlaceholder = (command: string): boolean => /\[--|--dataset F /.test(command);

/** What each command says of itself, which is asked for once. */
const helps = new Map<string, Promise<Answer>>();

async function knowsItsOptions(command: string): Promise<void> {
  const [, name = ''] =
    /(?:cli\.js|swt-bench) (images push|agents [a-z]+|[a-z-]+)/.exec(command) ?? [];
  // The jobs of `shards` are made from another command, with options of its own.
  const [, inner] = name === 'shards' ? (/ (evaluate|generate|repair) /.exec(command) ?? []) : [];
  const known = [await helpOf(name), inner === undefined ? '' : await helpOf(inner)].join('\n');
  for (const [option] of command.matchAll(/--[a-z-]+/g)) {
    assert.ok(new RegExp(`${option}\\b`).test(known), `${option} in: ${command}`);
  }
}

async function helpOf(name: string): Promise<string> {
  const help = helps.get(name) ?? cli([...name.split(' '), '--help']);
  helps.set(name, help);
  const { stdout, status } = await help;
  assert.equal(status, 0, name);
  return stdout;
}

describe('commands of the documentation', () => {
  const folder = scratch();

  for (const page of pages) {
    it(`of ${page} do what they are there for${page === 'README.md' ? '' : ' @full'}`, async function () {
      const text = await readFile(join(root, page), 'utf8');
      const commands = commandsIn(text);
      assert.ok(commands.length > 0, page);
      // The answer of a model in the page.
      const [answer] = codeBlocks(text, 'text');
      if (answer !== undefined) await writeFile(join(folder.path, 'answer.md'), answer);
      for (const command of commands) {
        if (hasPlaceholder(command)) {
          await knowsItsOptions(command);
          continue;
        }
        const line = command
          .replaceAll('node dist/cli.js', '"$NODE" "$CLI"')
          .replaceAll('/tmp/', `${folder.path}/`);
        await new Promise<void>((resolve, reject) => {
          const env = {
            ...process.env,
            SWT_BENCH_STORAGE: sharedStorage(),
            NODE: process.execPath,
          };
          execFile(
            'sh',
            ['-c', line],
            {
              cwd: folder.path,
              env: { ...env, CLI: join(root, 'dist', 'cli.js') },
              maxBuffer: 1 << 26,
            },
            (error, stdout, stderr) =>
              error === null
                ? resolve()
                : reject(new Error(`${command}\n${error.message}\n${stdout}${stderr}`)),
          );
        });
      }
    });
  }

  for (const page of others) {
    it(`of ${page} have options that exist`, async () => {
      for (const command of commandsIn(await readFile(join(root, page), 'utf8'))) {
        await knowsItsOptions(command);
      }
    });
  }
});
