import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFault } from '../../src/mutation/mutant';
import { functionOf } from '../../src/domain/testId';
import { reportSchema, type Report } from '../../src/results/reportSchema';
import { cli, sample, scratch, type Answer } from './cli';

const id = 'tallybook__tallybook-217';
type Mutants = NonNullable<Report['mutants']>;

describe('swt-bench mutants', function () {
  const here = scratch();
  const run = (...more: string[]): Promise<Answer> =>
    cli([
      ...['mutants', '--dataset', 'bundled', '--id', id, '--workers', '2'],
      ...['--storage', join(here.path, 'storage'), ...more],
    ]);
  const documentOf = ({ stdout }: Answer): Report[] =>
    (JSON.parse(stdout) as { results: unknown[] }).results.map((each) => reportSchema.parse(each));
  const blockOf = (report: Report | undefined): Mutants => {
    assert.ok(report?.mutants);
    return report.mutants;
  };
  const predictionOf = (name: string): { model_patch: string } => {
    const lines = readFileSync(join(sample, 'predictions.jsonl'), 'utf8').split('\n');
    const line = lines.find((each) => each.includes(`"${name}"`));
    assert.ok(line !== undefined);
    return JSON.parse(line) as { model_patch: string };
  };
  const fileOf = (...names: string[]): Promise<string> =>
    here.file(
      `${names.join('-')}.jsonl`,
      names.map((name) => JSON.stringify(predictionOf(name))).join('\n'),
    );

  it('tells a line that a test checks from one that it only runs', async () => {
    const answer = await run(
      '--predictions',
      await fileOf('covers-some'),
      '--limit',
      '4',
      '--json',
    );
    assert.equal(answer.status, 0, answer.stderr);
    const [report] = documentOf(answer);
    const { made, all, killed, score, statuses, list } = blockOf(report);
    assert.equal(all, 4);
    assert.ok(made > all, 'a sample');
    assert.equal(score, killed / all);
    assert.equal(statuses.killed + statuses['timed out'], killed);
    assert.equal(
      Object.values(statuses).reduce((sum, count) => sum + count, 0),
      all,
    );
    const states = new Map(
      report?.strict?.change_coverage?.lines
        .filter(({ change }) => change === 'added')
        .map(({ path, line, state }) => [`${path}:${line}`, state]),
    );
    for (const { path, line, status, killed_by } of list) {
      assert.equal(killed_by.length > 0, status === 'killed' || status === 'timed out');
      const isRun = states.get(`${path}:${line}`) === 'newly covered';
      assert.equal(status === 'not covered', !isRun, `${path}:${line} ${status}`);
    }
  });

  it('lists the mutants without running any test on them', async () => {
    const answer = await run('--predictions', 'none');
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stdout, /16 mutants in lines that X\* adds/);
    assert.match(answer.stdout, /money\.py:57 +arithmetic operator +\* → \/ +– not covered/);
    assert.match(answer.stdout, /0 % \(0\/16\)/);
  });

  it('says in one line what is wrong with its input', async () => {
    const unknown = await cli(['mutants', '--dataset', 'bundled', '--id', 'no__no-1']);
    assert.equal(unknown.status, 2);
    assert.match(unknown.stderr, /no__no-1/);
    assert.equal((await run('--limit', 'many')).status, 2);
  });

  it('kills what a run of every test on every mutant kills @full', async () => {
    const names = ['covers-everything', 'covers-some', 'passes-on-both', 'fails-on-both'];
    const answer = await run('--predictions', await fileOf(...names), '--json');
    assert.equal(answer.status, 0, answer.stderr);
    for (const [index, report] of documentOf(answer).entries()) {
      const name = names[index] ?? '';
      const tree = join(here.path, name);
      const tests = report.strict?.candidate_tests ?? [];
      layDown(tree, predictionOf(name).model_patch);
      const passing = tests.filter((test) => passes(tree, test));
      const { list } = blockOf(report);
      assert.equal(list.length, 16);
      for (const mutant of list) {
        const path = join(tree, mutant.path);
        const source = readFileSync(path, 'utf8');
        const faulty = withFault(source, mutant);
        assert.ok(faulty !== undefined);
        writeFileSync(path, faulty);
        const killing = passing.filter((test) => !passes(tree, test));
        writeFileSync(path, source);
        const found = [...new Set(mutant.killed_by.map(functionOf))].sort();
        const what = `${name}, ${mutant.path}:${mutant.line} ${mutant.operator}`;
        assert.deepEqual(found, killing.sort(), what);
      }
    }
  });

  /** R∘X* with a candidate. */
  function layDown(tree: string, candidate: string): void {
    const { patch } = JSON.parse(readFileSync(join(sample, 'instance.jsonl'), 'utf8')) as {
      patch: string;
    };
    mkdirSync(tree);
    cpSync(join(sample, 'repository'), tree, { recursive: true });
    for (const input of [patch, candidate]) {
      execFileSync('git', ['apply', '-'], { cwd: tree, input });
    }
  }

  function passes(tree: string, test: string): boolean {
    const name = test.replace('.py::', '/').replaceAll('::', '/').replaceAll('/', '.');
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    return spawnSync('python3', ['-m', 'unittest', name], { cwd: tree, env }).status === 0;
  }
});

describe('swt-bench evaluate --mutants', function () {
  const here = scratch();

  it('writes them into reports, and report shows how many are killed', async () => {
    const out = join(here.path, 'out');
    const answer = await cli([
      ...['evaluate', '--dataset', 'bundled', '--predictions', 'gold', '--mutants', '3'],
      ...['--storage', join(here.path, 'storage'), '--out', out],
    ]);
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stdout, /Mutants killed/);
    assert.match(answer.stdout, /100 % \(3\/3\)/);
    const table = await cli(['report', out]);
    assert.match(table.stdout, /mutants killed/);
    assert.match(table.stdout, /100\.0 \(3 of 3\)/);
    const csv = await cli(['report', out, '--format', 'csv']);
    assert.match(csv.stdout, /mutants_killed,mutants/);
  });
});
