import assert from 'node:assert/strict';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { silent } from '../../../src/domain/work';
import { callTool, candidateInMemory, type ToolAnswer } from '../../../src/method/tools/tool';
import { tools } from '../../../src/method/tools/tools';
import { everydayRuns } from '../../everyday';
import { addedFile, viewForTests } from './sampleView';
import { leaksIn, secretsOf } from './secretsOf';

/** A text in files outside R, to which links of R lead. */
const outside = 'SECRET_OF_THE_HOST = 42';

describe('tools on an instance whose R has links that lead out of it', function () {
  const sample = viewForTests(async (instance, storage) => {
    const source = join(storage, 'with links');
    const elsewhere = join(storage, 'elsewhere');
    await cp(resolve('media/sample/repository'), source, { recursive: true });
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'secret.py'), `${outside}\n`);
    await symlink(join(elsewhere, 'secret.py'), join(source, 'absolute.py'));
    await symlink(elsewhere, join(source, 'folder'));
    await symlink('../fixed', join(source, 'up'));
    await symlink('../fixed/tallybook/money.py', join(source, 'money.py'));
    await symlink('.git', join(source, 'repository'));
    await symlink('.git/config', join(source, 'settings.txt'));
    return { instance, source };
  });
  let secrets: string[] = [];
  before(async () => {
    const row = JSON.parse(
      await readFile(resolve('media/sample/instance.jsonl'), 'utf8'),
    ) as Parameters<typeof secretsOf>[0];
    const files = await sample.view.tree.paths();
    const texts = await Promise.all(files.map((path) => sample.view.tree.read(path)));
    const given = [...texts.map((text) => text ?? ''), sample.view.issue];
    secrets = [
      ...secretsOf(row, given),
      outside,
      'repositoryformatversion',
      'R with the golden patch',
    ];
    // Make sure that the secrets exist.
    const fixed = await readFile(join(sample.trees.fixed, 'tallybook', 'money.py'), 'utf8');
    assert.ok(leaksIn(fixed, secrets).length > 5);
    assert.ok(secrets.length > 20);
  });

  const call = async (name: string, input: unknown): Promise<ToolAnswer> => {
    const tool = tools.find((each) => each.name === name);
    assert.ok(tool);
    const answer = await callTool(tool, sample.view, input, {
      candidate: candidateInMemory(),
      timeoutSeconds: 60,
      reporter: silent,
    });
    assert.deepEqual(leaksIn(answer.text, secrets), [], `${name} ${JSON.stringify(input)}`);
    return answer;
  };

  const places = (): string[] => {
    const { fixed, base } = sample.trees;
    return [
      '../fixed/tallybook/money.py',
      '../fixed',
      'tallybook/../../fixed/tallybook/money.py',
      './../fixed/tallybook/money.py',
      '..',
      join(fixed, 'tallybook', 'money.py'),
      `${base}/../fixed/tallybook/money.py`,
      '/etc/passwd',
      '.git',
      '.git/config',
      '.git/HEAD',
      '.GIT/config',
      'git~1/config',
      '.git\u200c/config',
      'tallybook/.git/config',
      'absolute.py',
      'folder',
      'folder/secret.py',
      'up/tallybook/money.py',
      'money.py',
      'repository/config',
      'settings.txt',
      '~/.ssh/id_rsa',
      'C:\\Windows\\win.ini',
      'tallybook\\..\\..\\fixed\\tallybook\\money.py',
      'file:///etc/passwd',
      'tallybook/money.py\0.txt',
      ':(top)../fixed',
      ':/',
      '',
    ];
  };

  it('gives nothing for a path that leads out of R', async () => {
    for (const path of places()) {
      for (const name of ['read_file', 'outline_file']) {
        assert.equal((await call(name, { path })).isError, true, path);
      }
      for (const kind of ['text', 'class'] as const) {
        await call('search_code', { query: 'secret', kind, within: path });
        await call('search_code', { query: 'by_loss', kind, within: path });
      }
      await call('list_files', { folder: path });
      const named = await call('run_tests', { tests: [path], without_candidate: true });
      assert.equal(named.isError, true, path);
    }
  });

  it('gives nothing for any path made of such parts', async () => {
    const part = fc.constantFrom(
      ...['..', '.', '', '.git', 'up', 'folder', 'fixed', 'base', 'repository', 'tallybook'],
      ...['money.py', 'secret.py', 'config', 'trees.json', '...', '.. ', '%2e%2e', '\u2024\u2024'],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 6 }), async (parts) => {
        const path = parts.join('/');
        await call('read_file', { path });
        await call('list_files', { folder: path });
      }),
      { numRuns: everydayRuns(300) },
    );
  });

  it('finds nothing that is not of R, whatever is searched for', async () => {
    for (const query of ['by_loss', 'SECRET_OF_THE_HOST', 'test_no_weight', 'left_over']) {
      const { text } = await call('search_code', { query, kind: 'text' });
      assert.match(text, /^No line/);
    }
    for (const query of ['--no-index', '-f/etc/passwd', '--untracked', '-r', ':(top)', '.*', '']) {
      await call('search_code', { query, kind: 'regex' });
      await call('search_code', { query, kind: 'text' });
    }
    const listed = await call('list_files', {});
    assert.doesNotMatch(listed.text, /\.git\b|folder|absolute|money\.py$/m);
  });

  it('does not tell of files outside R when a patch names them', async () => {
    const [first = ''] = (await readFile(join(sample.trees.fixed, 'tallybook', 'money.py'), 'utf8'))
      .split('\n')
      .filter((line) => line.includes('left_over'));
    assert.notEqual(first, '');
    for (const path of places().filter((each) => !each.includes('\0'))) {
      for (const patch of [
        `--- a/${path}\n+++ b/${path}\n@@ -60,3 +60,3 @@\n def allocate(self, weights):\n-    x\n+    y\n`,
        `${path}\n<<<<<<< SEARCH\n    def allocate(self, weights):\n=======\n    pass\n>>>>>>> REPLACE\n`,
        `diff\n${path}\nrewrite\nallocate\ndef allocate(self):\n    pass\nend diff\n`,
      ]) {
        for (const format of ['auto', 'fuzzy'] as const)
          await call('apply_candidate', { patch, format });
      }
    }
  });

  it('makes no candidate of a link out of R', async () => {
    const patch = [
      'diff --git a/tests/test_link.py b/tests/test_link.py',
      'new file mode 120000',
      '--- /dev/null',
      '+++ b/tests/test_link.py',
      '@@ -0,0 +1 @@',
      '+../../fixed/tests/test_money.py',
      '\\ No newline at end of file',
      '',
    ].join('\n');
    assert.equal((await call('apply_candidate', { patch })).isError, true);
  });
});

describe('tests of a candidate that look for the answer', function () {
  const sample = viewForTests();
  let secrets: string[] = [];
  before(async () => {
    const row = JSON.parse(
      await readFile(resolve('media/sample/instance.jsonl'), 'utf8'),
    ) as Parameters<typeof secretsOf>[0];
    const files = await sample.view.tree.paths();
    const texts = await Promise.all(files.map((path) => sample.view.tree.read(path)));
    secrets = secretsOf(row, [...texts.map((text) => text ?? ''), sample.view.issue]);
  });

  /** The text that a model gets for a test with this body. */
  const run = async (...body: string[]): Promise<string> => {
    const patch = addedFile(
      'tests/test_look.py',
      ...['import glob, os, subprocess, unittest', '', 'class LookTest(unittest.TestCase):'],
      ...['    def test_look(self):', ...body.map((line) => `        ${line}`)],
    );
    const { tests, others, log, problem } = await sample.view.runOnR(patch, {
      timeoutSeconds: 60,
      reporter: silent,
    });
    assert.equal(tests.length, 1, problem);
    const told = JSON.stringify({ tests, others, log, problem });
    assert.deepEqual(leaksIn(told, secrets), []);
    return log;
  };

  it('find R∘X* neither beside their sandbox nor in its repository', async () => {
    const beside = await run(
      "found = [p for p in glob.glob('../**/*.py', recursive=True) if 'by_loss' in open(p).read()]",
      "self.fail('found: %r' % [p for p in found if 'test_look' not in p])",
    );
    assert.match(beside, /found: \[\]/);
    const history = await run(
      "log = subprocess.run(['git', 'log', '--all', '-p'], capture_output=True, text=True).stdout",
      "self.fail('log: %d %d' % ('allocate' in log, 'by' + '_loss' in log))",
    );
    assert.match(history, /log: 1 0/);
  });

  it('are heard with all that they print, whether it is in the answer or not', async () => {
    const right = 'parts = Money.parse("1.00").allocate([0, 1, 2, 4])';
    assert.ok(secrets.includes(right));
    const lines = [
      right,
      right.replace('1.00', '2.00'),
      'test_any_amount_balances',
      'test_nothing',
    ];
    const backwards = JSON.stringify(lines.map((line) => [...line].reverse().join('')));
    const patch = addedFile(
      'tests/test_guess.py',
      ...[
        'import unittest',
        '',
        'class GuessTest(unittest.TestCase):',
        '    def test_guess(self):',
      ],
      `        self.fail('\\n'.join(each[::-1] for each in ${backwards}))`,
    );
    const { tests } = await sample.view.runOnR(patch, { timeoutSeconds: 60, reporter: silent });
    for (const line of lines) assert.ok(tests[0]?.details?.includes(line), line);
  });

  it('have no keys of the user', async () => {
    process.env['OPENAI_API_KEY'] = 'sk-of-the-user';
    try {
      const log = await run("self.fail('keys: %r' % [k for k in os.environ if 'KEY' in k])");
      assert.match(log, /keys: \[\]/);
    } finally {
      delete process.env['OPENAI_API_KEY'];
    }
  });
});

describe('a view of an instance', () => {
  const sample = viewForTests();

  it('holds nothing of the answer in any of its parts', async () => {
    const { instance, view } = sample;
    const seen = new Set<unknown>();
    const found: string[] = [];
    const visit = (value: unknown): void => {
      if (typeof value === 'string') found.push(value);
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      for (const key of Object.getOwnPropertyNames(value)) {
        found.push(key);
        visit((value as Record<string, unknown>)[key]);
      }
    };
    visit({ ...view, python: undefined });
    const all = found.join('\n');
    for (const part of [instance.goldenPatch, instance.goldenTests, instance.hints]) {
      assert.ok(part.length > 100);
      for (const line of part.split('\n').filter((each) => each.length > 40)) {
        assert.ok(!all.includes(line), line);
      }
    }
    assert.doesNotMatch(all, /golden|hints|failToPass|passToPass|fixed/i);
    assert.ok(all.includes(instance.issue));
    assert.ok((await view.tree.paths()).includes('tallybook/money.py'));
  });
});
