import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cli, root, type Evaluation } from '../commandLine/cli';
import { cases, data, placeOf, type Case } from './cases';

const run = promisify(execFile);
describe('real instances from source releases @full', () => {
  let storage: string | undefined;
  before(async () => {
    storage = await mkdtemp(join(tmpdir(), 'swt-bench-real-'));
  });
  after(async () => {
    if (storage !== undefined) await rm(storage, { recursive: true, force: true });
  });

  for (const each of cases) {
    it(`${each.id}: gold is resolved, FAIL_TO_PASS is F→P, and ΔC is what trace gives`, async function () {
      const { venv, archive } = await placeOf(this, each);
      assert.ok(storage !== undefined);
      const answer = await cli([
        ...['evaluate', '--json', '--dataset', data, '--ids', each.id, '--predictions', 'gold'],
        ...['--source', archive, '--python', venv, '--storage', storage],
      ]);
      assert.equal(answer.status, 0, answer.stderr);
      const result = (JSON.parse(answer.stdout) as Evaluation).results[0];
      assert.ok(result?.strict, result?.error);
      assert.equal(result.strict.success, true, result.strict.explanation);
      assert.equal(result.resolved, true);
      assert.equal(result.source?.kind, 'snapshot');

      const row = (await readFile(data, 'utf8'))
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { instance_id: string; FAIL_TO_PASS: string })
        .find((one) => one.instance_id === each.id);
      const wanted = JSON.parse(row?.FAIL_TO_PASS ?? '[]') as string[];
      // SymPy's lists hold bare function names.
      const passing = result.strict.FAIL_TO_PASS.map((id) =>
        wanted[0]?.includes('::') === true ? id : (id.split('::').at(-1) ?? id),
      );
      for (const test of wanted) assert.ok(passing.includes(test), `${test} is not F→P`);

      await compareWithTrace(each, venv, result, storage);
    });
  }

  /**
   * Runs golden and base tests again under Python's own `trace` module, on trees made by `open`.
   * Compares for every changed line whether it is executed on its side, and by how much more than
   * base.
   */
  async function compareWithTrace(
    each: Case,
    venv: string,
    result: Evaluation['results'][number],
    storageFolder: string,
  ): Promise<void> {
    const coverage = result.strict?.change_coverage;
    assert.ok(coverage);
    const out = join(storageFolder, `trace-${each.id}`);
    const archive = join(root, '.cache', 'releases', `${each.release.join('-')}.tar.gz`);
    const opened = await cli([
      ...['open', each.id, '--dataset', data, '--out', out, '--with-fixed'],
      ...['--source', archive, '--storage', storageFolder],
    ]);
    assert.equal(opened.status, 0, opened.stderr);
    const shown = await cli(['show', each.id, '--dataset', data, '--reveal', '--json']);
    const { test_patch: testPatch } = JSON.parse(shown.stdout) as { test_patch: string };
    const patchFile = join(storageFolder, `${each.id}.patch`);
    await writeFile(patchFile, testPatch);
    const files = [...testPatch.matchAll(/^\+\+\+ b\/(.*\.py)$/gm)].flatMap(
      ([, path]) => path ?? [],
    );

    const counts: Record<string, Record<string, Record<string, number>>> = {};
    for (const [side, tree] of [
      ['removed', out],
      ['added', `${out}-fixed`],
    ] as const) {
      counts[`${side}-base`] = await traced(tree, each, venv, files);
      execFileSync('git', ['-C', tree, 'apply', '--whitespace=nowarn', patchFile]);
      counts[`${side}-golden`] = await traced(tree, each, venv, files);
    }
    const at = (which: string, path: string, line: number): number =>
      counts[which]?.[path]?.[String(line)] ?? 0;
    const counted = { same: 0, all: 0 };
    for (const line of coverage.lines) {
      const where = `${line.change} ${line.path}:${line.line}`;
      const base = at(`${line.change}-base`, line.path, line.line);
      const golden = at(`${line.change}-golden`, line.path, line.line);
      assert.equal(line.counts.golden > 0, golden > 0, `${where}: run by golden or not`);
      assert.equal(line.counts.base > 0, base > 0, `${where}: run by base or not`);
      counted.same += Number(line.counts.golden === golden) + Number(line.counts.base === base);
      counted.all += 2;
      const state =
        base + golden === 0
          ? 'not executable'
          : golden > base
            ? 'newly covered'
            : base > 0
              ? 'already covered'
              : 'missed';
      assert.equal(line.state, state, `${where}: base ${base}, golden ${golden}`);
    }

    // Harness grading compares whole runs, and takes base counts of removed lines from R∘X*.
    const executable = coverage.lines.filter(
      ({ change, path, line }) =>
        at(`${change}-base`, path, line) + at(`${change}-golden`, path, line) > 0,
    );
    const covered = executable.filter(
      ({ change, path, line }) => at(`${change}-golden`, path, line) > at('added-base', path, line),
    );
    assert.equal(result.coverage_delta_gold, covered.length / executable.length);
    assert.equal(result.coverage_delta_pred, covered.length / executable.length);
    console.log(
      `      ΔC ${coverage.covered}/${coverage.executable}, harness ${covered.length}/${executable.length}, ${counted.same} of ${counted.all} counts as trace has them`,
    );
  }

  /** Counts of the package's files when the tests run under `python -m trace --count`. */
  async function traced(
    tree: string,
    each: Case,
    venv: string,
    files: readonly string[],
  ): Promise<Record<string, Record<string, number>>> {
    const folder = await mkdtemp(join(tmpdir(), 'swt-bench-trace-'));
    const script = join(folder, 'run.py');
    const isSympy = each.release[0] === 'sympy';
    const body = isSympy
      ? `import sympy; sympy.test(*${JSON.stringify(files)}, subprocess=False, verbose=True, seed=0)`
      : `import pytest; pytest.main(['-p', 'no:cacheprovider', '-q', *${JSON.stringify(files)}])`;
    await writeFile(
      script,
      [
        'import json, sys, trace',
        `sys.path[:0] = ${JSON.stringify([join(tree, 'src'), tree])}`,
        `tracer = trace.Trace(count=1, trace=0)`,
        'try:',
        `    tracer.run(${JSON.stringify(body)})`,
        'except SystemExit:',
        '    pass',
        'out = {}',
        'for (path, line), n in tracer.results().counts.items():',
        `    if path.startswith(${JSON.stringify(`${tree}/`)}):`,
        `        out.setdefault(path[${tree.length + 1}:], {})[line] = n`,
        `json.dump(out, open(${JSON.stringify(join(folder, 'counts.json'))}, 'w'))`,
      ].join('\n'),
    );
    try {
      await run(join(venv, 'bin', 'python'), [script], {
        cwd: tree,
        env: { ...process.env, PYTHONHASHSEED: '0', PYTHONDONTWRITEBYTECODE: '1' },
        maxBuffer: 1 << 28,
      });
      return JSON.parse(await readFile(join(folder, 'counts.json'), 'utf8')) as Record<
        string,
        Record<string, number>
      >;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
});
