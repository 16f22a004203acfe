import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sharedStorage } from '../sharedStorage';
import { cli, onSample, sample, scratch, type Evaluation } from './cli';
import { pytestEnvironment, pythonWithoutPytest } from '../environments';
import { isEveryday } from '../everyday';

/** `expected.json`, made independently with Python's `trace` module. */
interface Expected {
  readonly applies: boolean;
  readonly fail_to_pass: readonly string[];
  readonly fail_to_fail: readonly string[];
  readonly pass_to_pass: readonly string[];
  readonly change_coverage: null | {
    readonly covered: number;
    readonly executable: number;
    readonly removed: Readonly<Record<string, Readonly<Record<string, string>>>>;
    readonly added: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
}

const reasons: Readonly<Record<string, string>> = {
  'covers-everything': 'success',
  'covers-some': 'success',
  'passes-on-both': 'passes on R',
  'fails-on-both': 'fails on both sides',
  'import-error': 'unrelated failure',
  'does-not-apply': 'does not apply',
  'custom-format': 'success',
  'pytest-style': 'success',
  gold: 'success',
};

/** What pytest runs or collects in another way than unittest: these are tried with it each day. */
const othersWithPytest = new Set(['pytest-style', 'import-error', 'covers-some']);

describe('the bundled instance', () => {
  const folder = scratch();
  let bare = '';
  let expected: { gold: Expected; candidates: Record<string, Expected> };
  before(async () => {
    const file = JSON.parse(await readFile(join(sample, 'expected.json'), 'utf8')) as {
      gold: Expected;
      candidates: Record<string, Expected>;
    };
    expected = file;
  });

  const evaluate = async (predictions: string, ...more: string[]): Promise<Evaluation> => {
    // Of two interpreters the last one counts.
    const answer = await cli(
      onSample(sharedStorage(), predictions, '--python', bare, '--json', ...more),
    );
    assert.notEqual(answer.status, 2, answer.stderr);
    return JSON.parse(answer.stdout) as Evaluation;
  };

  const check = (result: Evaluation['results'][number], wanted: Expected): void => {
    const name = result.model_name_or_path;
    const { strict } = result;
    assert.ok(strict, name);
    assert.equal(strict.reason, reasons[name], name);
    assert.equal(strict.well_formed, wanted.applies, name);
    assert.equal(result.patch_successfully_applied, wanted.applies, name);
    // An error of a whole file that cannot be imported counts for the tests in it.
    const files = Object.values(wanted)
      .flatMap((ids: unknown) => (Array.isArray(ids) ? (ids as string[]) : []))
      .filter((each) => !each.includes('::'));
    const sorted = (ids: readonly string[]) =>
      ids.map((each) => files.find((file) => each.startsWith(file)) ?? each).sort();
    if (wanted.applies) {
      assert.deepEqual(sorted(strict.FAIL_TO_PASS), sorted(wanted.fail_to_pass), name);
      assert.deepEqual(sorted(strict.FAIL_TO_FAIL), sorted(wanted.fail_to_fail), name);
      assert.deepEqual(sorted(strict.PASS_TO_PASS), sorted(wanted.pass_to_pass), name);
    }
    if (wanted.change_coverage === null) return;
    const { covered, executable, lines } = strict.change_coverage ?? {};
    assert.deepEqual(
      [covered, executable],
      [wanted.change_coverage.covered, wanted.change_coverage.executable],
      name,
    );
    for (const change of ['removed', 'added'] as const) {
      const states: Record<string, Record<string, string>> = {};
      for (const line of lines?.filter((each) => each.change === change) ?? []) {
        (states[line.path] ??= {})[String(line.line)] = line.state;
      }
      assert.deepEqual(states, wanted.change_coverage[change], `${name}, ${change}`);
    }
  };

  /** Of the candidates, the golden tests and no candidate, evaluated without pytest. */
  let results: Evaluation['results'] = [];
  const out = (): string => join(folder.path, 'out');
  const resultOf = (name: string): Evaluation['results'][number] => {
    const found = results.find((each) => each.model_name_or_path === name);
    assert.ok(found, name);
    return found;
  };
  before(async () => {
    bare = pythonWithoutPytest(folder.path);
    const more = ['--predictions', 'gold', 'none', '--out', out(), '--run-id', 'demo'];
    ({ results } = await evaluate(join(sample, 'predictions.jsonl'), ...more));
  });

  it('gives each candidate its verdict and line states without pytest', () => {
    assert.equal(results.length, Object.keys(expected.candidates).length + 2);
    for (const [name, wanted] of Object.entries(expected.candidates)) {
      if (name !== 'pytest-style') check(resultOf(name), wanted);
    }
    const { strict } = resultOf('pytest-style');
    assert.equal(strict?.reason, 'could not run');
    assert.match(strict.explanation, /pytest, which is not installed/);
    assert.equal(strict.change_coverage, null, 'not 0 %: nobody knows what it covers');
  });

  it('gives each candidate its verdict and line states with pytest', async function () {
    const python = await pytestEnvironment(this);
    const rows = (await readFile(join(sample, 'predictions.jsonl'), 'utf8')).trim().split('\n');
    const some = rows.filter((row) =>
      othersWithPytest.has((JSON.parse(row) as { model_name_or_path: string }).model_name_or_path),
    );
    const wanted = isEveryday ? some : rows;
    const file = await folder.file('with-pytest.jsonl', wanted.join('\n'));
    const found = (await evaluate(file, '--python', python)).results;
    assert.equal(found.length, wanted.length);
    assert.ok(found.length >= othersWithPytest.size);
    for (const result of found) {
      const sound = expected.candidates[result.model_name_or_path];
      assert.ok(sound);
      check(result, sound);
    }
  });

  it('resolves gold under both gradings, with the dataset’s FAIL_TO_PASS', () => {
    const gold = resultOf('gold');
    check(gold, expected.gold);
    assert.equal(gold.resolved, true);
  });

  it('takes an empty candidate (`none`) as no candidate, with the lines still classified', () => {
    const { strict } = resultOf('none');
    assert.equal(strict?.reason, 'no candidate');
    assert.equal(strict.change_coverage?.covered, 0);
    assert.equal(strict.change_coverage.executable, expected.gold.change_coverage?.executable);
  });

  it('writes reports in the layout of the harness', async () => {
    const logs = join(out(), 'run_instance_swt_logs', 'demo');
    const id = 'tallybook__tallybook-217';
    const report = JSON.parse(
      await readFile(join(logs, 'covers-some', id, 'report.json'), 'utf8'),
    ) as Record<string, Record<string, unknown>>;
    assert.equal(report[id]?.['resolved'], true);
    const summary = JSON.parse(
      await readFile(join(out(), 'evaluation_results', 'covers-some.demo.json'), 'utf8'),
    ) as Record<string, unknown>;
    assert.equal(summary['resolved_instances'], 1);
    assert.ok(existsSync(join(logs, 'pred_pre__covers-some', id, 'test_output.txt')));
  });

  it('opens as a tree of R without later history, and R∘X* beside it when asked', async () => {
    const out = join(folder.path, 'opened');
    const args = [
      ...['open', 'tallybook__tallybook-217', '--out', out, '--with-fixed'],
      ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
      ...['--storage', sharedStorage()],
    ];
    const answer = await cli(args);
    assert.equal(answer.status, 0, answer.stderr);
    const git = (...command: string[]) =>
      execFileSync('git', ['-C', out, ...command])
        .toString()
        .trim();
    assert.equal(git('rev-list', '--all', '--count'), '1');
    assert.equal(git('remote'), '');
    assert.equal(git('status', '--porcelain'), '');
    const before = await readFile(join(out, 'tallybook', 'money.py'), 'utf8');
    const after = await readFile(join(`${out}-fixed`, 'tallybook', 'money.py'), 'utf8');
    assert.doesNotMatch(before, /by_loss/);
    assert.match(after, /by_loss/);
    const again = await cli(args);
    assert.equal(again.status, 2);
    assert.match(again.stderr, /is not empty/);
  });

  it('shows the issue, and the answer only with --reveal', async () => {
    const args = ['show', 'tallybook__tallybook-217', '--dataset', join(sample, 'instance.jsonl')];
    const plain = await cli(args);
    assert.match(plain.stdout, /out of balance/);
    const json = await cli([...args, '--json']);
    for (const text of [plain.stdout, json.stdout]) {
      assert.doesNotMatch(text, /by_loss|left_over|FAIL_TO_PASS|hints/);
    }
    assert.match((await cli([...args, '--reveal'])).stdout, /by_loss/);
    const revealed = JSON.parse((await cli([...args, '--reveal', '--json'])).stdout) as object;
    assert.ok('patch' in revealed && 'test_patch' in revealed);
  });

  it('is known by the name `bundled`, with its source and its candidates', async () => {
    const storage = ['--storage', sharedStorage()];
    const names = ['--dataset', 'bundled', '--predictions', 'bundled'];
    const answer = await cli(['evaluate', ...names, ...storage, '--python', bare]);
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(
      answer.stdout,
      /^covers-everything +yes .* ✓ reproduces the issue \(F→P\) +100 % +17\/17$/m,
    );
    const out = join(folder.path, 'by-name');
    const opened = await cli([
      'open',
      'tallybook__tallybook-217',
      '--dataset',
      'bundled',
      '--out',
      out,
      ...storage,
    ]);
    assert.equal(opened.status, 0, opened.stderr);
    const marker = await readFile(join(out, '.swt-bench', 'instance.json'), 'utf8');
    assert.equal((JSON.parse(marker) as { dataset: string }).dataset, 'bundled');
  });

  it('grades a reproduction script by its exit status', async () => {
    const lines = [
      'from tallybook import Money',
      'assert sum(part.cents for part in Money(2000).allocate([1, 1, 1])) == 2000',
    ];
    const patch = [
      'diff --git a/reproduce.py b/reproduce.py',
      'new file mode 100644',
      '--- /dev/null',
      '+++ b/reproduce.py',
      `@@ -0,0 +1,${lines.length} @@`,
      ...lines.map((line) => `+${line}`),
      '',
    ].join('\n');
    const file = await folder.file(
      'script.json',
      JSON.stringify([
        { instance_id: 'tallybook__tallybook-217', model_name_or_path: 's', model_patch: patch },
      ]),
    );
    const { results } = await evaluate(file, '--mode', 'reproduction-script');
    assert.equal(results[0]?.strict?.reason, 'success');
    assert.equal(results[0]?.resolved, true);
    assert.deepEqual(results[0]?.tests_pred?.['FAIL_TO_PASS'], ['reproduction_script']);
    assert.equal(results[0]?.strict?.change_coverage?.covered, 12);
  });

  it('lists figures of instances', async () => {
    const answer = await cli(['instances', '--dataset', join(sample, 'instance.jsonl'), '--json']);
    const [row] = JSON.parse(answer.stdout) as Record<string, unknown>[];
    assert.equal(row?.['id'], 'tallybook__tallybook-217');
    assert.deepEqual((row?.['patch'] as { files: number } | undefined)?.files, 2);
  });
});
