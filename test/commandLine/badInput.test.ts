import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pythonWithoutPytest } from '../environments';
import { sharedStorage } from '../sharedStorage';
import { cli, onSample, sample, scratch, start, type Evaluation } from './cli';

const row = async (): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(join(sample, 'instance.jsonl'), 'utf8')) as Record<string, unknown>;

/** A candidate that adds one file of tests. */
function addsFile(name: string, lines: readonly string[]): string {
  return [
    `diff --git a/${name} b/${name}`,
    'new file mode 100644',
    '--- /dev/null',
    `+++ b/${name}`,
    `@@ -0,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
    '',
  ].join('\n');
}

const testCase = (...body: string[]): string[] => [
  'import os, signal, subprocess, sys, time, unittest',
  '',
  'class CandidateTest(unittest.TestCase):',
  '    def test_first(self):',
  '        from tallybook import Money',
  '        self.assertEqual(sum(p.cents for p in Money(2000).allocate([1, 1, 1])), 2000)',
  '    def test_second(self):',
  ...body.map((line) => `        ${line}`),
];

describe('bad input to the command line', () => {
  const folder = scratch();
  const id = 'tallybook__tallybook-217';
  let bare: string | undefined;

  const predictions = (patch: string | null, more: object = {}): Promise<string> =>
    folder.file(
      'predictions.jsonl',
      JSON.stringify({ instance_id: id, model_name_or_path: 'bad', model_patch: patch, ...more }),
    );
  const evaluateFile = async (file: string, ...more: string[]) => {
    // Without pytest, which would keep the output of a test back until its end.
    bare ??= pythonWithoutPytest(folder.path);
    const args = onSample(sharedStorage(), file, '--json', '--python', bare, ...more);
    const answer = await cli(args);
    return { ...answer, json: JSON.parse(answer.stdout) as Evaluation };
  };
  const evaluate = async (patch: string | null, ...more: string[]) =>
    evaluateFile(await predictions(patch), ...more);
  const oneLine = (text: string): void => {
    assert.equal(text.trim().split('\n').length, 1, text);
    assert.doesNotMatch(text, /\n\s+at /);
  };

  it('says once that the storage folder cannot be written, before any instance', async () => {
    const file = await folder.file('storage', 'a file');
    for (const args of [onSample(file, 'gold'), ['validate', id, '--dataset', 'bundled']]) {
      const answer = await cli([...args, '--storage', file]);
      assert.equal(answer.status, 2);
      oneLine(answer.stderr);
      assert.match(answer.stderr, /storage folder .*: it is a file\. Choose another .*--storage/);
    }
  });

  it('says that no more files can be opened', async function () {
    if (process.platform === 'win32') this.skip();
    // So few that Node starts, and the first run of tests cannot.
    for (const limit of [22, 28]) {
      const args = ['dist/cli.js', ...onSample(sharedStorage(), 'gold', '--fresh')];
      const few = 'ulimit -n "$0"; exec "$@"';
      const all = spawnSync('sh', ['-c', few, String(limit), process.execPath, ...args]);
      const said = `${String(all.stdout)}${String(all.stderr)}`;
      assert.notEqual(all.status, 0, said);
      assert.match(said, /cannot open more files\. Raise the limit \(`ulimit -n/);
      assert.doesNotMatch(said, /\n\s+at /);
    }
  });

  it('says which interpreter was looked for when there is no Python', async () => {
    const named = await cli(
      onSample(folder.path, 'gold', '--python', join(folder.path, 'no-such-python')),
    );
    assert.equal(named.status, 2);
    assert.match(named.stderr, /Python not found at .*no-such-python.*not found/);
    oneLine(named.stderr);

    const git = (process.env['PATH'] ?? '').split(':').filter((path) => path === '/usr/bin');
    const none = await cli(onSample(folder.path, 'gold'), {
      PATH: folder.path,
      VIRTUAL_ENV: undefined,
    });
    assert.equal(none.status, 2, `${none.stderr} ${git.length}`);
    assert.match(none.stderr, /python3: not found.*Install Python 3\.8/);
  });

  it('names a dataset row without a patch, and uses the others', async () => {
    const good = await row();
    const bad = { ...good, instance_id: 'tallybook__tallybook-1', patch: '' };
    const dataset = await folder.file(
      'rows.jsonl',
      [bad, good].map((each) => JSON.stringify(each)).join('\n'),
    );
    const listed = await cli(['instances', '--dataset', dataset, '--json']);
    assert.equal(listed.status, 1);
    assert.match(listed.stderr, /row 1 \(tallybook__tallybook-1\): patch is empty/);
    assert.equal((JSON.parse(listed.stdout) as unknown[]).length, 1);
    const shown = await cli(['show', 'tallybook__tallybook-1', '--dataset', dataset]);
    assert.equal(shown.status, 2);
    assert.match(shown.stderr, /patch is empty/);
  });

  it('leaves out a prediction for an unknown id and says so', async () => {
    const file = await folder.file(
      'unknown.jsonl',
      ['django__django-1', id]
        .map((instance_id) =>
          JSON.stringify({ instance_id, model_name_or_path: 'm', model_patch: '' }),
        )
        .join('\n'),
    );
    const answer = await cli(onSample(sharedStorage(), file, '--json'));
    assert.equal(answer.status, 1);
    const json = JSON.parse(answer.stdout) as Evaluation;
    assert.deepEqual(json.problems, ['row 1: django__django-1 is not in the dataset']);
    assert.equal(json.results.length, 1);
    assert.equal(json.results[0]?.strict?.reason, 'no candidate');
  });

  for (const [what, args] of [
    ['a dataset that is not there', ['instances', '--dataset', '/no/such/file.jsonl']],
    ['a folder without a dataset', ['instances', '--dataset', join(sample, 'repository', 'tests')]],
    [
      'an unknown instance',
      ['show', 'nobody__nothing-1', '--dataset', join(sample, 'instance.jsonl')],
    ],
    ['an unknown option', ['evaluate', '--no-such-option']],
    ['an unknown command', ['frobnicate']],
    ['a number that is none', ['evaluate', '--workers', 'many']],
    ['a missing option', ['evaluate', '--dataset', join(sample, 'instance.jsonl')]],
  ] as const) {
    it(`answers ${what} with status 2 and no crash trace`, async () => {
      const answer = await cli(args);
      assert.equal(answer.status, 2);
      assert.equal(answer.stdout, '');
      assert.notEqual(answer.stderr.trim(), '');
      assert.doesNotMatch(answer.stderr, /\n\s+at |internal error/);
    });
  }

  describe('in one batch of candidates', () => {
    const outside = [
      '../outside.py',
      '/tmp/outside_test.py',
      'tests/../../outside.py',
      '.git/hooks/x',
    ] as const;
    const ends = {
      'calls os._exit': 'os._exit(0)',
      'is killed half-way': 'os.kill(os.getpid(), signal.SIGKILL)',
    };
    let status: number | null = null;
    let results: Evaluation['results'] = [];
    const resultOf = (name: string): Evaluation['results'][number] | undefined =>
      results.find((each) => each.model_name_or_path === name);
    before(async () => {
      const patches = [
        ...outside.map((path) => [path, addsFile(path, testCase('pass'))]),
        ...Object.entries(ends).map(([what, line]) => [
          what,
          addsFile('tests/test_exit.py', testCase(line)),
        ]),
      ];
      const file = await folder.file(
        'batch.jsonl',
        patches
          .map(([model_name_or_path, model_patch]) =>
            JSON.stringify({ instance_id: id, model_name_or_path, model_patch }),
          )
          .join('\n'),
      );
      const answer = await evaluateFile(file);
      ({ status } = answer);
      ({ results } = answer.json);
    });

    for (const path of outside) {
      it(`refuses a candidate that writes to ${path}`, () => {
        assert.equal(status, 0);
        assert.equal(resultOf(path)?.strict?.reason, 'does not apply');
        assert.equal(resultOf(path)?.patch_successfully_applied, false);
      });
    }

    for (const what of Object.keys(ends)) {
      it(`counts a test that ${what} as an error and keeps what was known`, () => {
        const strict = resultOf(what)?.strict;
        const outcomes = (name: string) => {
          const found = strict?.tests.find((each) => each.test.endsWith(name));
          return [found?.base.outcome, found?.fixed.outcome];
        };
        assert.deepEqual(outcomes('test_first'), ['failed', 'passed']);
        assert.deepEqual(outcomes('test_second'), ['error', 'error']);
        assert.equal(strict?.success, false);
        // Executions before the end are not lost.
        assert.ok((strict?.change_coverage?.covered ?? 0) > 0);
      });
    }
  });

  it('stops a candidate that never ends, with its whole process tree', async () => {
    const mark = join(folder.path, 'alive');
    const { json, status } = await evaluate(
      addsFile('tests/test_endless.py', [
        ...testCase(
          'signal.signal(signal.SIGTERM, signal.SIG_IGN)',
          `code = "import os, time; os.setsid(); open('${mark}' + str(os.getpid()), 'w').close(); time.sleep(1000)"`,
          'subprocess.Popen([sys.executable, "-c", code])',
          `while not any(n.startswith('alive') for n in os.listdir('${folder.path}')): time.sleep(0.01)`,
          'while True: pass',
        ),
      ]),
      '--timeout',
      '3',
    );
    assert.equal(status, 0);
    const result = json.results[0];
    assert.equal(result?.strict?.reason, 'timed out');
    assert.equal(result?.runs?.base?.ending, 'timed out');
    assert.match(
      result?.notes?.join('\n') ?? '',
      /on R, the candidate's run was stopped at the time limit/,
    );
    const second = result?.strict?.tests.find((each) => each.test.endsWith('test_second'));
    assert.equal(second?.base.outcome, 'error');
    assert.match(second?.base.message ?? '', /time limit/);
    // Tests that had ended before keep their outcomes.
    const first = result?.strict?.tests.find((each) => each.test.endsWith('test_first'));
    assert.deepEqual([first?.base.outcome, first?.fixed.outcome], ['failed', 'passed']);
    const pids = (await readdir(folder.path)).filter((name) => /^alive\d/.test(name));
    assert.notEqual(pids.length, 0);
    for (const name of pids) assert.ok(await isDead(name.slice(5)), `${name} is still running`);
  });

  it('stops a candidate that prints a gigabyte @full', async () => {
    const { json } = await evaluate(
      addsFile(
        'tests/test_loud.py',
        testCase('for _ in range(1024): sys.stdout.write("x" * 1048576)'),
      ),
    );
    const result = json.results[0];
    assert.equal(result?.runs?.base?.ending, 'too much output');
    assert.equal(result?.strict?.reason, 'too much output');
    const second = result?.strict?.tests.find((each) => each.test.endsWith('test_second'));
    assert.match(second?.base.message ?? '', /its output exceeded 64 MB/);
  });

  it('survives being killed itself: the next run gives the same and nothing is left @full', async () => {
    const storage = join(folder.path, 'killed');
    const all = join(sample, 'predictions.jsonl');
    const { child, answer } = start(onSample(storage, all, '--json'));
    const runs = join(storage, 'instances', 'tallybook__tallybook-217', 'runs');
    await until(async () => (await readdir(runs).catch(() => [])).length >= 3);
    child.kill('SIGKILL');
    await answer;
    const again = await cli(onSample(storage, all, '--json'));
    const afresh = await cli(onSample(join(folder.path, 'afresh'), all, '--json'));
    const verdicts = (text: string) =>
      (JSON.parse(text) as Evaluation).results.map((each) => [
        each.model_name_or_path,
        each.strict?.reason,
        each.strict?.change_coverage?.covered,
      ]);
    assert.deepEqual(verdicts(again.stdout), verdicts(afresh.stdout));
    assert.deepEqual(await readdir(join(storage, 'pairs')), []);
  });

  it('leaves no test running when it is killed in the middle of one @full', async () => {
    const storage = join(folder.path, 'orphans');
    const mark = join(folder.path, 'orphan');
    const file = await predictions(
      addsFile(
        'tests/test_orphan.py',
        testCase(
          `open('${mark}' + str(os.getpid()), 'w').close()`,
          // Without the environment of the run, and without its group.
          'import subprocess',
          `lost = subprocess.Popen(['sleep', '600'], env={}, cwd='/', start_new_session=True)`,
          `open('${mark}' + str(lost.pid), 'w').close()`,
          'while True: pass',
        ),
      ),
    );
    const { child, answer } = start(onSample(storage, file));
    const orphans = async (): Promise<string[]> =>
      (await readdir(folder.path)).filter((name) => /^orphan\d+$/.test(name));
    await until(async () => (await orphans()).length === 4);
    child.kill('SIGKILL');
    await answer;
    for (const name of await orphans()) await until(() => isDead(name.slice('orphan'.length)));
    await until(async () => (await readdir(join(storage, 'pairs'))).length === 0);
  });

  it('ends with status 130 on Ctrl-C and leaves no working copy', async () => {
    const storage = join(folder.path, 'interrupted');
    const file = await predictions(addsFile('tests/test_slow.py', testCase('time.sleep(600)')));
    const { child, answer } = start(onSample(storage, file));
    await until(async () => (await readdir(join(storage, 'pairs')).catch(() => [])).length > 0);
    child.kill('SIGINT');
    assert.equal((await answer).status, 130);
    assert.deepEqual(await readdir(join(storage, 'pairs')), []);
  });
});

/** The process is gone, or is a zombie that init has not yet collected. */
async function isDead(pid: string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat !== undefined) return /^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch {
    return true;
  }
}

/** Polls until the condition is true; the test's time limit ends a wait in vain. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 20));
}
