import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedStorage } from '../sharedStorage';
import { cli, root, scratch, type Answer } from './cli';
import { codeBlocks } from './pastedCommands';

/**
 * Pages with commands, in the order in which a reader would run them. Commands of `node dist/cli.js`
 * run. Those of `swt-bench` need an engine or a model: only the existence of their options is checked.
 */
const pages = [
  'README.md',
  ...[
    'command-line.md',
    'configuration.md',
    'research.md',
    'evaluate.md',
    'export.md',
    'scale.md',
    'judge-repairs.md',
    'mutants.md',
    'patch-formats.md',
    'author.md',
    'containers.md',
    'kubernetes.md',
    'models.md',
    'repair.md',
    'trajectories.md',
  ].map((name) => `docs/${name}`),
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

/** Whether a command runs as it stands, without an engine, a model or a file of the reader's own. */
const canRun = (command: string): boolean =>
  command.startsWith('node dist/cli.js ') && !/\[--|--dataset F /.test(command);

/** What each command says of itself, which is asked for once. */
const helps = new Map<string, Promise<Answer>>();

async function knowsItsOptions(command: string): Promise<void> {
  const [, name = ''] =
    /(?:cli\.js|swt-bench) (images push|agents [a-z]+|config [a-z]+|[a-z-]+)/.exec(command) ?? [];
  // The jobs of `shards` are made from another command, with options of its own.
  const [, inner] = name === 'shards' ? (/ (evaluate|generate|repair) /.exec(command) ?? []) : [];
  const known = [await helpOf(name), inner === undefined ? '' : await helpOf(inner)].join('\n');
  for (const [option] of command.matchAll(/--[a-z-]+/g)) {
    assert.ok(new RegExp(`${option}\\b`).test(known), `${option} in: ${command}`);
  }
}

async function helpOf(name: string): Promise<string> {
  const help = helps.get(name) ?? cli([...name.split(' '), '--help-all']);
  helps.set(name, help);
  const { stdout, status } = await help;
  assert.equal(status, 0, name);
  return stdout;
}

describe('commands of the documentation', () => {
  const folder = scratch();

  it('stand in the pages that are tested', async () => {
    const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'));
    const others = names.map((name) => `docs/${name}`).filter((page) => !pages.includes(page));
    for (const page of others) {
      assert.deepEqual(commandsIn(await readFile(join(root, page), 'utf8')), [], page);
    }
  });

  for (const page of pages) {
    it(`of ${page} have options that exist`, async () => {
      const commands = commandsIn(await readFile(join(root, page), 'utf8'));
      assert.ok(commands.length > 0, page);
      for (const command of commands) await knowsItsOptions(command);
    });

    it(`of ${page} do what they are there for${page === 'README.md' ? '' : ' @full'}`, async () => {
      const text = await readFile(join(root, page), 'utf8');
      // The answer of a model in the page.
      const [answer] = codeBlocks(text, 'text');
      if (answer !== undefined) await writeFile(join(folder.path, 'answer.md'), answer);
      for (const command of commandsIn(text).filter(canRun)) await run(command);
    });
  }

  /** Runs a command of a page in the folder of this test. */
  async function run(command: string): Promise<void> {
    const line = command
      .replaceAll('node dist/cli.js', '"$NODE" "$CLI"')
      .replaceAll('/tmp/', `${folder.path}/`);
    const env = {
      ...process.env,
      SWT_BENCH_STORAGE: sharedStorage(),
      NODE: process.execPath,
      CLI: join(root, 'dist', 'cli.js'),
    };
    await new Promise<void>((resolve, reject) => {
      execFile(
        'sh',
        ['-c', line],
        { cwd: folder.path, env, maxBuffer: 1 << 26 },
        (error, stdout, stderr) =>
          error === null
            ? resolve()
            : reject(new Error(`${command}\n${error.message}\n${stdout}${stderr}`)),
      );
    });
  }
});
