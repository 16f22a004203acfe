import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readStates } from '../../src/repository/instanceState';
import { bareEnvironment } from '../environments';
import { cli, sample, scratch, start, type Answer } from './cli';
import { madeUp, type MadeUp } from './madeUp';

/** `validate --json`. */
interface Document {
  readonly engine: string;
  readonly environment: { readonly description: string };
  readonly results: readonly Result[];
}

interface Result {
  readonly id: string;
  readonly sound: boolean | null;
  readonly reasons: readonly {
    readonly kind: string;
    readonly explanation: string;
    readonly tests: readonly string[];
  }[];
  readonly repetitions: number;
  readonly date: string;
  readonly seconds: number;
  readonly flaky: readonly {
    readonly test: string;
    readonly tests: string;
    readonly side: string;
    readonly outcomes: readonly string[];
  }[];
  readonly golden: Readonly<Record<string, number>>;
  readonly base: Readonly<Record<string, number>>;
  readonly added: number;
  readonly removed: number;
  readonly base_coverage: number | null;
  readonly FAIL_TO_PASS: readonly string[];
  readonly disagreement: null | { listed_only: readonly string[]; seen_only: readonly string[] };
}

const codeOfR = 'def purr():\n    return 1\n';
const fix = { 'cat.py': 'def purr():\n    return 2\n' };

/** A file of unittest tests: names and the expressions that must be true. */
const testFile = (tests: Readonly<Record<string, string>>, ...head: string[]): string =>
  [
    ...head,
    'import unittest',
    'from cat import purr',
    '',
    '',
    'class CatTest(unittest.TestCase):',
    ...Object.entries(tests).flatMap(([name, body]) => [
      `    def ${name}(self):`,
      `        ${body}`,
      '',
    ]),
  ].join('\n');

const isNumber = { test_is_number: 'self.assertIsInstance(purr(), int)' };
const isTwo = { test_is_two: 'self.assertEqual(purr(), 2)' };
const two = 'tests/test_cat.py::CatTest::test_is_two';
const tests = (more: Readonly<Record<string, string>>, ...head: string[]) => ({
  'tests/test_cat.py': testFile({ ...isNumber, ...more }, ...head),
});

describe('validate @full', () => {
  const folder = scratch();
  let python = '';
  let cat: MadeUp;
  before(async () => {
    python = bareEnvironment(folder.path);
    const hash = execFileSync(join(python, 'bin', 'python'), ['-c', 'print(hash("cat"))'], {
      env: { PYTHONHASHSEED: '0' },
    })
      .toString()
      .trim();
    // Like a test that relies on the order of a set: it passes with some hash seeds only.
    const order = { test_order: `self.assertEqual(hash("cat"), ${hash})` };
    cat = await madeUp(folder.path, {
      'cat.py': codeOfR,
      'tests/__init__.py': '',
      ...tests({}),
      'tests/test_order.py': testFile(order),
    });
    flakyTests = { 'tests/test_order.py': testFile({ ...order, ...isTwo }) };
  });
  let flakyTests: Readonly<Record<string, string>> = {};

  const dataset = (rows: readonly object[]): Promise<string> =>
    folder.file('rows.json', JSON.stringify(rows));
  const common = (file: string, storage: string): string[] => [
    ...['validate', '--dataset', file, '--source', cat.repository],
    ...['--storage', join(folder.path, storage), '--python', python],
  ];
  const validate = async (
    rows: readonly object[],
    storage: string,
    ...more: string[]
  ): Promise<{ answer: Answer; document: Document; readonly of: (id: string) => Result }> => {
    const args = common(await dataset(rows), storage);
    const answer = await cli([...args, '--all', '--json', ...more]);
    assert.notEqual(answer.stdout, '', answer.stderr);
    const document = JSON.parse(answer.stdout) as Document;
    const of = (id: string): Result => {
      const result = document.results.find((each) => each.id === id);
      assert.ok(result, id);
      return result;
    };
    return { answer, document, of };
  };
  const kinds = (result: Result): string[] => result.reasons.map((each) => each.kind);

  it('finds the bundled instance sound, and keeps that', async () => {
    const storage = join(folder.path, 'bundled');
    const id = 'tallybook__tallybook-217';
    const args = ['validate', id, '--dataset', 'bundled', '--storage', storage, '--repeat', '2'];
    const answer = await cli(args);
    assert.equal(answer.status, 0, answer.stdout + answer.stderr);
    assert.match(answer.stdout, /^tallybook__tallybook-217 {2}✓ sound .*\b5 F→P\b.* 2 repetitions/);
    const { validation } = (await readStates(storage)).get(id) ?? {};
    assert.deepEqual(validation?.reasons, []);
    assert.equal(validation?.repetitions, 2);
    assert.equal(validation?.engine, 'local');
    assert.match(validation?.source ?? '', /^snapshot /);
    assert.equal(validation?.disagreement, undefined);
    // Which changed lines T^R runs, counted independently of this code.
    const expected = JSON.parse(await readFile(join(sample, 'expected.json'), 'utf8')) as {
      gold: { change_coverage: { executable: number } };
    };
    const { executable } = expected.gold.change_coverage;
    const run = (validation?.baseCoverage ?? NaN) * executable;
    assert.ok(Math.abs(run - Math.round(run)) < 1e-9 && run > 0 && run < executable, String(run));
  });

  it('gives each unsound instance its reasons, and the others theirs', async () => {
    const rows = [
      await cat.row(
        'octo__sound-1',
        { code: fix, tests: tests(isTwo) },
        { FAIL_TO_PASS: JSON.stringify(['tests/test_cat.py::CatTest::test_gone']) },
      ),
      await cat.row('octo__flaky-1', { code: fix, tests: flakyTests }),
      await cat.row('octo__fails-1', {
        code: fix,
        tests: tests({ ...isTwo, test_is_three: 'self.assertEqual(purr(), 3)' }),
      }),
      await cat.row('octo__nothing-1', {
        code: fix,
        tests: tests({ test_positive: 'self.assertGreater(purr(), 0)' }),
      }),
      await cat.row(
        'octo__unfit-1',
        { code: fix, tests: tests(isTwo) },
        {
          patch:
            'diff --git a/cat.py b/cat.py\n--- a/cat.py\n+++ b/cat.py\n@@ -1,2 +1,2 @@\n def bark():\n-    return "woof"\n+    return 2\n',
        },
      ),
      await cat.row(
        'octo__unfit-2',
        { code: fix, tests: tests(isTwo) },
        {
          test_patch:
            'diff --git a/tests/test_cat.py b/tests/test_cat.py\n--- a/tests/test_cat.py\n+++ b/tests/test_cat.py\n@@ -1,2 +1,2 @@\n import nose\n-import mouse\n+import house\n',
        },
      ),
      await cat.row('octo__module-1', {
        code: fix,
        tests: tests(isTwo, 'import whiskers_that_nobody_has'),
      }),
      await cat.row('octo__broken-1', {
        code: fix,
        tests: tests(isTwo, 'not_defined_anywhere'),
      }),
      await cat.row(
        'octo__commit-1',
        { code: fix, tests: tests(isTwo) },
        { base_commit: '0123456789abcdef0123456789abcdef01234567' },
      ),
    ];
    const { answer, document, of } = await validate(rows, 'batch', '--repeat', '2');
    assert.equal(answer.status, 1, answer.stderr);
    assert.equal(document.engine, 'local');
    assert.match(document.environment.description, /^CPython 3\./);
    assert.deepEqual(
      document.results.map(({ id, sound, reasons, repetitions }) => [
        id,
        sound,
        reasons.map((each) => each.kind).join(', '),
        repetitions,
      ]),
      [
        ['octo__sound-1', true, '', 2],
        ['octo__flaky-1', false, 'flaky', 2],
        ['octo__fails-1', false, 'golden fails after the fix', 2],
        ['octo__nothing-1', false, 'no F→P', 2],
        ['octo__unfit-1', false, 'golden patch does not apply', 0],
        ['octo__unfit-2', false, 'golden patch does not apply', 0],
        ['octo__module-1', null, 'environment failed', 1],
        ['octo__broken-1', false, 'golden fails after the fix, no F→P', 2],
        ['octo__commit-1', null, 'source not available', 0],
      ],
    );

    const sound = of('octo__sound-1');
    assert.deepEqual(sound.golden, { 'P→P': 1, 'F→P': 1 });
    assert.deepEqual(sound.base, { 'P→P': 1 });
    assert.deepEqual([sound.added, sound.removed], [1, 0]);
    assert.equal(sound.base_coverage, 1);
    assert.deepEqual(sound.FAIL_TO_PASS, [two]);
    assert.deepEqual(sound.disagreement, {
      listed_only: ['tests/test_cat.py::CatTest::test_gone'],
      seen_only: [two],
    });
    assert.ok(Date.parse(sound.date) > 0 && sound.seconds > 0);

    const test = 'tests/test_order.py::CatTest::test_order';
    const outcomes = ['passed', 'failed'];
    assert.deepEqual(of('octo__flaky-1').flaky, [
      { test, tests: 'golden', side: 'base', outcomes },
      { test, tests: 'golden', side: 'fixed', outcomes },
      { test, tests: 'base', side: 'base', outcomes },
      { test, tests: 'base', side: 'fixed', outcomes },
    ]);
    assert.deepEqual(of('octo__flaky-1').reasons[0]?.tests, [test]);

    const [fails] = of('octo__fails-1').reasons;
    assert.deepEqual(fails?.tests, ['tests/test_cat.py::CatTest::test_is_three']);
    assert.match(fails?.explanation ?? '', /test_is_three \(F→F: .*2 != 3/);
    assert.match(of('octo__unfit-1').reasons[0]?.explanation ?? '', /The golden patch .*cat\.py/);
    assert.match(of('octo__unfit-2').reasons[0]?.explanation ?? '', /golden tests .* R \(/);
    assert.match(
      of('octo__module-1').reasons[0]?.explanation ?? '',
      /No module named 'whiskers_that_nobody_has'/,
    );
    assert.match(of('octo__commit-1').reasons[0]?.explanation ?? '', /^Commit 0123456789ab/);

    // An attempt without R does not replace what was found with it.
    const moved = await validate(
      [
        await cat.row(
          'octo__sound-1',
          { code: fix, tests: tests(isTwo) },
          { base_commit: '0123456789abcdef0123456789abcdef01234567' },
        ),
      ],
      'batch',
    );
    assert.deepEqual(
      moved.document.results.map((each) => each.sound),
      [null],
    );

    const storage = join(folder.path, 'batch');
    const states = await readStates(storage);
    for (const result of document.results) {
      const kept = states.get(result.id)?.validation;
      assert.deepEqual(kept?.reasons, result.reasons, result.id);
      assert.equal(kept?.date, result.date);
    }
    const listed = await cli([
      ...['instances', '--dataset', await dataset(rows), '--storage', storage],
      ...['--query', 'status:valid', '--json'],
    ]);
    assert.deepEqual(
      (JSON.parse(listed.stdout) as { id: string }[]).map((each) => each.id),
      ['octo__sound-1'],
    );
  });

  it('runs again what is kept, each repetition with a hash seed of its own', async () => {
    const rows = [await cat.row('octo__flaky-1', { code: fix, tests: flakyTests })];
    const runs = join(folder.path, 'batch', 'instances', 'octo__flaky-1', 'runs');
    const times = async (): Promise<number[]> => {
      const names = (await readdir(runs, { recursive: true })).filter((name) =>
        name.endsWith('.json'),
      );
      return Promise.all(names.map(async (name) => (await stat(join(runs, name))).mtimeMs));
    };
    const before = await times();
    // Only runs with the usual seed are kept: T* and T^R, each on two sides.
    assert.equal(before.length, 4);
    const once = await validate(rows, 'batch', '--repeat', '1');
    assert.deepEqual(kinds(once.of('octo__flaky-1')), []);
    const after = await times();
    assert.equal(after.length, 4);
    assert.ok(Math.min(...after) > Math.max(...before));
    const thrice = await validate(rows, 'batch', '--repeat', '3');
    assert.deepEqual(thrice.of('octo__flaky-1').flaky[0]?.outcomes, ['passed', 'failed', 'failed']);
  });

  const endless = () =>
    cat.row('octo__endless-1', {
      code: fix,
      tests: tests({ ...isTwo, test_waits: 'while True: pass' }),
    });

  it('says which tests were stopped at the time limit', async () => {
    const { answer, of } = await validate([await endless()], 'endless', '--timeout', '3');
    assert.equal(answer.status, 1);
    const result = of('octo__endless-1');
    assert.deepEqual(kinds(result), ['timed out']);
    assert.match(
      result.reasons[0]?.explanation ?? '',
      /^the golden tests were stopped on R at the time limit of 3 s.*, on R∘X\* at the time limit of 3 s/,
    );
    assert.equal(result.repetitions, 1);
  });

  it('interrupted, keeps what is finished and nothing else, and leaves nothing running', async () => {
    const rows = [
      await cat.row('octo__sound-1', { code: fix, tests: tests(isTwo) }),
      await endless(),
    ];
    const storage = join(folder.path, 'endless');
    const path = join(storage, 'instances', 'octo__endless-1', 'state.json');
    const before = await readFile(path, 'utf8');
    const args = [...common(await dataset(rows), 'endless'), '--all'];
    const { child, answer } = start([...args, '--workers', '1', '--repeat', '1']);
    await new Promise<void>((resolve) => {
      let told = '';
      child.stdout?.on('data', (chunk: Buffer) => {
        told += chunk.toString();
        if (told.includes('octo__sound-1')) resolve();
      });
      child.once('close', () => resolve());
    });
    child.kill('SIGINT');
    const { status, stdout, stderr } = await answer;
    assert.equal(status, 130, stderr);
    assert.match(stdout, /^octo__sound-1 {2}✓ sound/);
    assert.equal(await readFile(path, 'utf8'), before);
    assert.deepEqual((await readStates(storage)).get('octo__sound-1')?.validation?.reasons, []);
    assert.deepEqual(await readdir(join(storage, 'pairs')), []);
  });

  it('wants to be told what to validate, and how often', async () => {
    const file = await dataset([
      await cat.row('octo__sound-1', { code: fix, tests: tests(isTwo) }),
    ]);
    for (const [args, said] of [
      [[], /use --all/],
      [['octo__cat-7'], /octo__cat-7 is not in the dataset/],
      [['--all', '--repeat', '0'], /whole number/],
      [['--all', '--repeat', '1.5'], /whole number/],
      [['--all', '--engine', 'moon'], /moon/],
      [['--query', 'status:perfect'], /perfect/],
    ] as const) {
      const answer = await cli([...common(file, 'usage'), ...args]);
      assert.equal(answer.status, 2, args.join(' '));
      assert.match(answer.stderr, said);
      assert.equal(answer.stdout, '');
    }
  });
});
