import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openDataset } from '../../src/dataset/dataset';
import { sides } from '../../src/domain/outcome';
import { silent } from '../../src/domain/work';
import type { Engine, RunRecord } from '../../src/engine/engine';
import { localEngine } from '../../src/engine/local/localEngine';
import { environments } from '../../src/environments/environments';
import { evaluateSince } from '../../src/evaluation/candidate';
import type { FirstResult } from '../../src/evaluation/firstResult';
import { prepareCandidate } from '../../src/evaluation/prepareCandidate';
import { openSession, type InstanceSession, type SessionRun } from '../../src/evaluation/session';
import { runStore, type BothSides } from '../../src/evaluation/testRun';
import { makeUnified } from '../../src/patch/makeUnified';
import { findTests } from '../../src/python/tests';
import { parseSources, sourceOf } from '../../src/repository/source';
import { prepareTrees } from '../../src/repository/trees';
import { environment, pytestEnvironment, sourceRelease } from '../environments';
import { loadParser } from '../unit/python/loadParser';

const sample = resolve('media', 'sample');

/** What two runs of the same tests have in common. */
const lasting = ({ ending, exitCode, killedBy, trace }: RunRecord, isExact = true) => {
  const { outcomes, counts, collected, sessions, files, elsewhere, acts } = trace;
  const { problems, contradictions, unfinished, techniques } = trace;
  return JSON.parse(
    JSON.stringify(
      {
        ...{ ending, exitCode, killedBy, outcomes, collected, sessions, techniques, elsewhere },
        ...{ problems, contradictions, unfinished: unfinished.length },
        counts: counts.map(({ byTest, shared, ...of }) => ({
          ...of,
          shared: isExact ? shared : shared > 0,
          byTest: isExact ? [...byTest] : [...byTest.keys()].sort(),
        })),
        files: files.map((each) => JSON.stringify(each)).sort(),
        // SymPy's runner lists folders, in the order and with the compiled files that are there.
        acts: acts
          .filter((each) => each.test !== null || !each.at.every(([path]) => /runtests/.test(path)))
          .map((each) => JSON.stringify(each))
          .sort(),
      },
      (name, value: unknown) => (name === 'seconds' ? 0 : value),
    ).replaceAll(/0x[0-9a-f]+|\/r\/[0-9a-f]{4}/g, 'somewhere'),
  ) as unknown;
};

describe('a run that begins with R loaded', function () {
  if (process.platform === 'win32') return;
  let storage = '';
  let python = '';
  let session: InstanceSession;
  let dispose: () => Promise<void> = () => Promise.resolve();
  const log: string[] = [];
  const reporter = { ...silent, log: (line: string) => void log.push(line) };
  const options = { timeoutSeconds: 60, reporter, reuse: false };
  before(async function () {
    python = await pytestEnvironment(this);
    storage = mkdtempSync(join(tmpdir(), 'warm-start-'));
  });
  afterEach(() => dispose());
  after(() => rmSync(storage, { recursive: true, force: true }));

  const open = async (more: { readonly warmFrom?: number } = { warmFrom: 0 }): Promise<void> => {
    const dataset = await openDataset(join(sample, 'instance.jsonl'), { storage, reporter });
    const [instance] = await dataset.read(
      [...readFileSync(join(sample, 'instance.jsonl'), 'utf8').matchAll(/"instance_id": ?"(.*?)"/g)]
        .map((match) => match[1] ?? '')
        .slice(0, 1),
    );
    assert.ok(instance !== undefined);
    const source = await sourceOf(instance, parseSources([join(sample, 'repository')]));
    const trees = await prepareTrees(instance, source, storage, { reporter });
    const tracer = resolve('src/engine/tracer');
    const engine = await localEngine({
      ...{ environments, storage, tracer, python, isAwaited: true, ...more },
    });
    const parser = await loadParser();
    const store = runStore(join(storage, 'runs'));
    session = await openSession({ instance, trees, engine, store, python: parser });
    dispose = async () => {
      await session.dispose();
      await engine.dispose();
      dispose = () => Promise.resolve();
    };
    log.length = 0;
  };

  const rows = readFileSync(join(sample, 'predictions.jsonl'), 'utf8').trim().split('\n');
  const candidates = rows.map(
    (row) => JSON.parse(row) as { model_name_or_path: string; model_patch: string },
  );
  const requestOf = (text: string, model = 'm') =>
    ({ model, text, format: 'unified', mode: 'unit-test' }) as const;

  /** The records of a preliminary run that was expected, and of a plain one. */
  const both = async (
    text: string,
    expected = text,
  ): Promise<Record<'warm' | 'fresh', Partial<BothSides>> | undefined> => {
    const setOf = async (of: string) => {
      const read = await prepareCandidate(session, requestOf(of));
      if ('verdict' in read) return undefined;
      return { patch: read.patch, files: read.files, select: read.own.functions };
    };
    const set = await setOf(text);
    const before = await setOf(expected);
    if (set === undefined || before === undefined || set.select.length === 0) return undefined;
    await session.run(before, options);
    session.expect(before, options);
    assert.ok(session.isExpecting());
    const warm: SessionRun = await session.run(set, { ...options, isPreliminary: true });
    const fresh: SessionRun = await session.run(set, options);
    return { warm: warm.records, fresh: fresh.records };
  };

  for (const { model_name_or_path: name, model_patch: text } of candidates) {
    it(`records what a fresh process does: ${name}`, async function () {
      await open();
      const found = await both(text);
      if (found === undefined) return this.skip();
      for (const side of sides) {
        const warm: RunRecord | undefined = found.warm[side];
        const fresh: RunRecord | undefined = found.fresh[side];
        assert.ok(warm !== undefined && fresh !== undefined);
        assert.deepEqual(lasting(warm), lasting(fresh), side);
        assert.equal(fresh.trace.warm, undefined);
        const how = warm.trace.warm?.seconds ?? warm.whyFresh ?? log.join('\n');
        assert.ok(how !== '', `neither loaded nor a reason: ${name}`);
      }
    });
  }

  const honest = candidates.find((each) => each.model_name_or_path === 'covers-some');
  const text = honest?.model_patch ?? '';

  it('gives the first verdict, and a fresh process gives the grade', async () => {
    await open();
    const seen: FirstResult[] = [];
    const evaluate = () =>
      evaluateSince(session, requestOf(text), {
        ...options,
        onFirst: (first) => void seen.push(first),
      });
    const ran: string[] = [];
    const run = session.run.bind(session);
    session = Object.assign(session, {
      run: async (...of: Parameters<typeof run>) => {
        const done = await run(...of);
        const { base } = done.records;
        ran.push(`${of[1].isPreliminary === true}: ${base?.trace.warm?.seconds !== undefined}`);
        return done;
      },
    });
    await evaluate();
    assert.ok(!ran.includes('true: true'));
    seen.length = ran.length = 0;
    const { result } = await evaluate();
    assert.equal(ran[0], 'true: true');
    assert.ok(!ran.includes('false: true'));
    assert.equal(seen.length, 1);
    assert.deepEqual(seen[0]?.strict, result.strict);
    assert.deepEqual(seen[0]?.changeCoverage?.covered, result.changeCoverage?.covered);
    assert.deepEqual(log, []);
  });

  it('is given up for the session when a fresh process comes to something else', async () => {
    if (process.platform !== 'linux') return;
    await open();
    // The kernel shows the environment that a process was started with: of this one, what it loads.
    const told = 'open("/proc/self/environ").read().split("SWT_TRACE_AHEAD=")[-1].split("\\0")[0]';
    const telling = text.replace(
      'Money.parse("20.00")',
      `Money.parse("x" if ${told}.count(" ") == 2 else "20.00")`,
    );
    assert.notEqual(telling, text);
    const first: (string | undefined)[] = [];
    const evaluate = () =>
      evaluateSince(session, requestOf(telling), {
        ...options,
        onFirst: ({ tests }) => void first.push(tests[0]?.fixed.outcome),
      });
    const plain = await evaluate();
    const { result } = await evaluate();
    assert.equal(first.at(-1), 'failed');
    assert.deepEqual(result.strict, plain.result.strict);
    assert.equal(
      result.tests.find(({ test }) => test === result.ownTests[0])?.fixed.outcome,
      'passed',
    );
    assert.match(log.join('\n'), /the outcome of \S+ differed with R preloaded/);
    assert.equal(session.isExpecting(), false);
  });

  it('is not prepared where importing R takes no time', async () => {
    await open({});
    const seen: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      await evaluateSince(session, requestOf(text), {
        ...options,
        onFirst: ({ runs }) => void seen.push(String(runs.base !== undefined)),
      });
    }
    await session.warmUp({ reporter });
    assert.equal(session.isExpecting(), false);
    assert.match(log.join('\n'), /each run begins in a fresh process: importing R takes only/);
    assert.equal(log.length, 1);
  });
});

describe('a run that begins with R loaded, on SymPy @full', function () {
  if (process.platform === 'win32') return;
  /** Real test files, each with its first tests. */
  const files = [
    ...['core/tests/test_match.py', 'core/tests/test_relational.py', 'core/tests/test_numbers.py'],
    ...['core/tests/test_expr.py', 'core/tests/test_sympify.py', 'core/tests/test_var.py'],
    ...['functions/elementary/tests/test_trigonometric.py', 'geometry/tests/test_curve.py'],
    ...['geometry/tests/test_line.py', 'integrals/tests/test_lineintegrals.py'],
    ...['logic/tests/test_boolalg.py', 'matrices/tests/test_immutable.py'],
    ...['ntheory/tests/test_factor_.py', 'parsing/tests/test_sympy_parser.py'],
    ...['polys/tests/test_monomials.py', 'printing/tests/test_latex.py'],
    ...['sets/tests/test_sets.py', 'simplify/tests/test_simplify.py'],
    ...['utilities/tests/test_iterables.py', 'utilities/tests/test_lambdify.py'],
  ].map((path) => `sympy/${path}`);
  const golden = 'sympy/core/add.py';
  let storage = '';
  let session: InstanceSession;
  let engine: Engine;
  const log: string[] = [];
  const reporter = { ...silent, log: (line: string) => void log.push(line) };
  before(async function () {
    const archive = await sourceRelease(this, 'sympy', '1.11.1');
    const python = await environment(this, 'python3', ['mpmath==1.3.0', 'pytest==8.3.5']);
    storage = mkdtempSync(join(tmpdir(), 'warm-sympy-'));
    execFileSync('tar', ['-xzf', archive, '-C', storage]);
    const release = join(storage, 'sympy-1.11.1');
    // The lines that are counted: those of a function, and one that importing runs.
    const before = readFileSync(join(release, golden), 'utf8');
    const start = '    def flatten(cls, seq):\n';
    assert.ok(before.includes(start));
    const after = `${before.replace(start, `${start}        purr = 1\n`)}PURR = 1\n`;
    const patch = makeUnified([{ path: golden, before, after }]);
    const added = { path: 'sympy/core/tests/test_purr.py', before: undefined };
    const addedFile = makeUnified([{ ...added, after: 'def test_purr():\n    pass\n' }]);
    const row = {
      ...{ repo: 'sympy/sympy', instance_id: 'sympy__sympy-1', base_commit: '0'.repeat(40) },
      ...{ patch, test_patch: addedFile, problem_statement: 'x', version: '1.11' },
      ...{ created_at: '2022-11-01T00:00:00Z', hints_text: '' },
      ...{ FAIL_TO_PASS: '[]', PASS_TO_PASS: '[]', environment_setup_commit: '0'.repeat(40) },
    };
    writeFileSync(join(storage, 'rows.jsonl'), `${JSON.stringify(row)}\n`);
    const dataset = await openDataset(join(storage, 'rows.jsonl'), { storage, reporter });
    const [instance] = await dataset.read([row.instance_id]);
    assert.ok(instance !== undefined);
    const source = await sourceOf(instance, parseSources([release]));
    const trees = await prepareTrees(instance, source, storage, { reporter });
    engine = await localEngine({
      ...{ environments, storage, tracer: resolve('src/engine/tracer'), isAwaited: true },
      ...{ python: join(python, 'bin', 'python'), warmFrom: 0 },
    });
    const store = runStore(join(storage, 'runs'));
    session = await openSession({ instance, trees, engine, store, python: await loadParser() });
  });
  after(async () => {
    await session?.dispose();
    await engine?.dispose();
    rmSync(storage, { recursive: true, force: true });
  });

  for (const path of files) {
    it(`records what a fresh process does: ${path}`, async () => {
      const text = (await session.readFileOfR(path)) ?? '';
      const tests = findTests(session.python, text, { path });
      const select = tests.slice(0, 4).map((test) => test.id);
      assert.ok(select.length > 0);
      const set = { patch: '', files: [path], select };
      const options = { timeoutSeconds: 600, reporter, reuse: false };
      const fresh: SessionRun = await session.run(set, options);
      session.expect(set, options);
      const warm: SessionRun = await session.run(set, { ...options, isPreliminary: true });
      for (const side of sides) {
        const one = warm.records[side];
        const other = fresh.records[side];
        assert.ok(one !== undefined && other !== undefined);
        assert.ok((one.trace.warm?.seconds ?? 0) > 0, `${one.whyFresh}\n${log.join('\n')}`);
        // SymPy orders by addresses in places: how often a line runs differs between any two runs.
        assert.deepEqual(lasting(one, false), lasting(other, false), side);
        assert.ok(one.trace.outcomes.length > 0);
        // X* removes no line.
        assert.equal(one.trace.counts.length > 0, side === 'fixed');
      }
    });
  }
});
