import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withFault } from '../../src/mutation/mutant';
import { functionOf } from '../../src/domain/testId';
import { reportSchema } from '../../src/results/reportSchema';
import { cli } from '../commandLine/cli';
import { cases, data, placeOf } from './cases';

describe('mutants of real instances from source releases @full', () => {
  let storage: string;
  before(async () => {
    storage = await mkdtemp(join(tmpdir(), 'swt-bench-mutants-'));
  });
  after(() => rm(storage, { recursive: true, force: true }));

  for (const each of cases.filter(({ id }) => id.startsWith('sympy__'))) {
    it(`${each.id}: the golden tests kill what a run of each on every mutant kills`, async function () {
      const { venv, archive } = await placeOf(this, each);
      const source = ['--dataset', data, '--source', archive, '--storage', storage];
      const answer = await cli([
        ...['mutants', '--id', each.id, '--json', '--python', venv, ...source],
      ]);
      assert.equal(answer.status, 0, answer.stderr);
      const [first] = (JSON.parse(answer.stdout) as { results: unknown[] }).results;
      const report = reportSchema.parse(first);
      const { mutants, strict } = report;
      assert.ok(mutants !== undefined && strict !== null);
      assert.ok(mutants.all > 0 && mutants.killed > 0);

      const out = join(storage, each.id);
      const opened = await cli(['open', each.id, '--out', out, '--with-fixed', ...source]);
      assert.equal(opened.status, 0, opened.stderr);
      const tree = `${out}-fixed`;
      const shown = await cli(['show', each.id, '--dataset', data, '--reveal', '--json']);
      const { test_patch: input } = JSON.parse(shown.stdout) as { test_patch: string };
      execFileSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: tree, input });
      const passing = strict.candidate_tests.filter((test) => passes(tree, venv, test));
      for (const mutant of mutants.list) {
        const path = join(tree, mutant.path);
        const text = await readFile(path, 'utf8');
        const faulty = withFault(text, mutant);
        assert.ok(faulty !== undefined);
        await writeFile(path, faulty);
        const killing = passing.filter((test) => !passes(tree, venv, test));
        await writeFile(path, text);
        const found = [...new Set(mutant.killed_by.map(functionOf))].sort();
        assert.deepEqual(found, killing.sort(), `${mutant.path}:${mutant.line} ${mutant.operator}`);
      }
      console.log(`${each.id}: ${mutants.killed} of ${mutants.all} mutants killed`);
    });
  }

  /** Whether one test function passes, called without any runner. */
  function passes(tree: string, venv: string, test: string): boolean {
    const [path = '', name = ''] = test.split('::');
    const module = path.replace(/\.py$/, '').replaceAll('/', '.');
    const code = `from ${module} import ${name}; ${name}()`;
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONHASHSEED: '0' };
    const run = spawnSync(join(venv, 'bin', 'python'), ['-c', code], { cwd: tree, env });
    return run.status === 0;
  }
});
