import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cli, root, scratch, type Answer } from './cli';

const program = join(root, 'dist', 'cli.js');

/** Runs the command line in a folder. */
const inFolder = (
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  new Promise((done) => {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: folder,
      env: { ...process.env, HOME: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const texts = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk: Buffer) => (texts.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (texts.stderr += chunk.toString()));
    child.on('close', (status) => done({ status, ...texts }));
  });

interface Shown {
  readonly file: string | null;
  readonly values: readonly { key: string; value: unknown; source: string; option?: string }[];
}

describe('the configuration file', () => {
  const folder = scratch();

  /** Writes the file into a new folder. */
  async function withFile(name: string, text: string): Promise<string> {
    const made = join(folder.path, name);
    await mkdir(made, { recursive: true });
    await writeFile(join(made, 'swt.yaml'), text);
    return made;
  }

  it('is shown with where each value comes from', async () => {
    const made = await withFile(
      'sources',
      'storage: kept\ndocker:\n  memory: 8g\n  disk: 8g\nmodels:\n  openai/m:\n    baseUrl: http://file/v1\n',
    );
    const args = ['config', 'show', '--json', '--memory', '2g', '--model', 'openai/m'];
    const { stdout, status, stderr } = await inFolder(made, args, {
      SWT_BENCH_STORAGE: '/tmp/variable',
      OPENAI_BASE_URL: 'http://variable/v1',
    });
    assert.equal(status, 0, stderr);
    const { file, values } = JSON.parse(stdout) as Shown;
    assert.equal(file, join(made, 'swt.yaml'));
    const of = (key: string): unknown => {
      const found = values.find((each) => each.key === key);
      return [found?.value, found?.source];
    };
    assert.deepEqual(of('docker.memory'), [2048, 'option']);
    assert.deepEqual(of('docker.disk'), [8192, 'file']);
    assert.deepEqual(of('docker.processes'), [512, 'default']);
    assert.deepEqual(of('storage'), ['/tmp/variable', 'variable']);
    assert.deepEqual(of('models.openai/m.baseUrl'), ['http://variable/v1', 'variable']);
  });

  it('gives its values to a command, which options change', async () => {
    const made = await withFile(
      'dry-run',
      'models: {openai/m: {maxOutputTokens: 100}}\nprices: {openai/m: {input: 0, output: 1000000}}\n',
    );
    const args = ['generate', '--method', 'zero-shot', '--model', 'openai/m', '--dry-run'];
    const of = async (...more: readonly string[]): Promise<string> => {
      const all = [...args, '--dataset', 'bundled', '--out', join(made, 'o.jsonl'), ...more];
      const { stdout, stderr, status } = await inFolder(made, all);
      assert.equal(status, 0, stderr);
      return stdout;
    };
    assert.match(await of(), /at most 100 tokens[^]*\$100\.00/);
    assert.match(await of('--max-output-tokens', '7'), /at most 7 tokens[^]*\$7\.00/);
    const without = await of('--no-config');
    assert.match(without, /at most 16384 tokens/);
    assert.doesNotMatch(without, /\$/);
  });

  it('may have values that a command has no use for', async () => {
    const made = await withFile(
      'foreign',
      'kubernetes: {namespace: tests}\nagentless: {topFiles: 1}\ngenerate: {refine: 2}\nagents: {codex: {title: Mine}}\n',
    );
    const args = ['--model', 'openai/m', '--dataset', 'bundled', '--out', join(made, 'o.jsonl')];
    for (const method of ['swe-agent', 'zero-shot']) {
      const more = method === 'swe-agent' ? ['--engine', 'docker'] : ['--run-tests-locally'];
      const { status, stderr } = await inFolder(made, [
        ...['generate', '--method', method, '--dry-run', ...args, ...more],
      ]);
      assert.equal(status, 0, stderr);
    }
  });

  for (const [what, text, message] of [
    [
      'an unknown key',
      'docker:\n  memry: 8g\n',
      /swt\.yaml:2: docker\.memry is not a key\. Did you mean docker\.memory\?/,
    ],
    ['a value that is none', 'budgets:\n  dollars: -1\n', /swt\.yaml:2: budgets\.dollars: /],
    ['text that is no YAML', 'a: [\n', /swt\.yaml:\d: .*Correct the YAML/],
    [
      'a key of a provider',
      'models:\n  anthropic/m:\n    api_key: x\n',
      /swt\.yaml:3: api_key is a secret.*ANTHROPIC_API_KEY/,
    ],
    ['a header', 'models:\n  openai/m:\n    headers: {a: b}\n', /secret.*--header/],
    [
      'a key in an address',
      'models:\n  openai/m:\n    baseUrl: https://me:pw@host/v1\n',
      /must not contain a user, a password or a query/,
    ],
  ] as const) {
    it(`is refused with ${what}`, async () => {
      const made = await withFile(what.replaceAll(' ', '-'), text);
      const { status, stderr } = await inFolder(made, ['instances', '--dataset', 'bundled']);
      assert.equal(status, 2);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /pw@|api_key: x/);
    });
  }

  it('of strangers is passed over', async () => {
    const made = await withFile('opened', 'nonsense: 1\n');
    await mkdir(join(made, '.swt-bench'));
    await writeFile(join(made, '.swt-bench', 'instance.json'), '{}');
    const { status, stderr } = await inFolder(made, ['instances', '--dataset', 'bundled']);
    assert.equal(status, 0, stderr);
  });

  it('has a schema', async () => {
    const { stdout } = await cli(['config', 'schema']);
    const published = await readFile(join(root, 'media/schema/configuration.schema.json'), 'utf8');
    assert.deepEqual(JSON.parse(stdout), JSON.parse(published));
  });
});

describe('help', () => {
  const optionsIn = (text: string): number =>
    text.split('\n').filter((line) => /^ {2}-/.test(line)).length;

  for (const name of ['generate', 'repair', 'evaluate']) {
    it(`of ${name} lists at most 25 options, and --help-all the rest`, async () => {
      const { stdout: help } = await cli([name, '--help']);
      const { stdout: all, status } = await cli([name, '--help-all']);
      assert.equal(status, 0);
      assert.ok(optionsIn(help) <= 25, help);
      const [, count] = /--help-all +also list (\d+) rarely used options/.exec(help) ?? [];
      assert.equal(optionsIn(all) - optionsIn(help), Number(count));
      assert.match(all, /--memory/);
    });
  }
});

describe('completion', () => {
  const folder = scratch();
  const run = (shell: string, args: readonly string[]): Promise<string> =>
    new Promise((done, fail) =>
      execFile(shell, [...args], { cwd: root }, (error, stdout, stderr) =>
        error === null ? done(stdout) : fail(new Error(`${error.message}${stderr}`)),
      ),
    );
  const isThere = (shell: string): Promise<boolean> =>
    run(shell, ['-c', 'true']).then(
      () => true,
      () => false,
    );

  /** What a shell offers after `swt-bench` and these words, the last of which is unfinished. */
  const offers: Readonly<
    Record<string, (script: string, words: readonly string[]) => Promise<string>>
  > = {
    bash: (script, words) => {
      const list = ['swt-bench', ...words].map((word) => `'${word}'`).join(' ');
      const code = `source '${script}'; COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _swt_bench; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return run('bash', ['--norc', '-c', code]);
    },
    fish: async (script, words) =>
      (await run('fish', ['-c', `source '${script}'; complete -C 'swt-bench ${words.join(' ')}'`]))
        .split('\n')
        .map((line) => line.split('\t')[0])
        .join('\n'),
    zsh: (script, words) =>
      run('python3', [join(__dirname, 'complete_in_zsh.py'), script, ...words]),
  };

  for (const [shell, complete] of Object.entries(offers)) {
    it(`works in ${shell}`, async function () {
      if (!(await isThere(shell))) this.skip();
      const { stdout, status } = await cli(['completion', shell]);
      assert.equal(status, 0);
      const script = join(folder.path, `completion.${shell}`);
      await writeFile(script, stdout);
      for (const [words, expected] of [
        [['eval'], /\bevaluate\b/],
        [['evaluate', '--eng'], /--engine\b/],
        [['evaluate', '--engine', 'd'], /\bdocker\b/],
        [['repair', '--suspicious'], /--suspicious-files\b/],
        [['generate', '--method', 'zero'], /\bzero-shot-plus\b/],
        [['config', 's'], /\bschema\b/],
      ] as const) {
        assert.match(await complete(script, words), expected, words.join(' '));
      }
    });
  }
});
