import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HumanError, silent } from '../../src/domain/work';
import { debugConfiguration } from '../../src/editor/testing/debugConfiguration';
import type { DebuggedProgram, Engine, Sandbox } from '../../src/engine/engine';
import { localEngine } from '../../src/engine/local/localEngine';
import { resultsOf } from '../../src/evaluation/results';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import type { Trees } from '../../src/repository/trees';
import { loadParser } from '../unit/python/loadParser';
import { runRecord } from '../unit/evaluation/examples';
import { environment } from '../environments';
import { useExample, type Example } from './exampleRepository';
import { startAdapter } from './debugAdapter';
import { environments } from '../../src/environments/environments';

const tracer = resolve('src/engine/tracer');
const file = 'tests/test_new.py';
const test = `${file}::A::test_a`;
const lines = ['import unittest', 'class A(unittest.TestCase):', '  def test_a(self):'];
const patchOf = (...body: string[]): string => {
  const all = [...lines, ...body.map((line) => `    ${line}`)];
  return `diff --git a/${file} b/${file}
new file mode 100644
--- /dev/null
+++ b/${file}
@@ -0,0 +1,${all.length} @@
${all.map((line) => `+${line}\n`).join('')}`;
};

/** Starts the program as a debugger would. */
const start = ({ interpreter, args, cwd, env }: DebuggedProgram): Promise<void> =>
  new Promise((resolve) => execFile(interpreter, [...args], { cwd, env }, () => resolve()));

describe('tests handed to a debugger', function () {
  let example: Example;
  let trees: Trees;
  let storage = '';
  let session: InstanceSession;
  useExample((made) => (example = made));
  const open = async (engine: Engine): Promise<InstanceSession> =>
    openSession({
      instance: example.instance(),
      trees,
      engine,
      python: await loadParser(),
      store: runStore(storage),
    });
  before(async () => {
    const source = { kind: 'commit', from: example.origin } as const;
    trees = await example.prepare(source, await example.storage());
  });
  beforeEach(async () => {
    storage = await example.storage();
    session = await open(await localEngine({ environments, storage, tracer }));
  });
  afterEach(() => session.dispose());
  const pairs = (): Promise<string[]> => readdir(join(storage, 'pairs')).catch(() => []);
  const set = (patch: string) => ({ patch, files: [file], select: [test] });
  const work = { reporter: silent };

  it('start in the tree of their side with the candidate, and their outcomes are known', async () => {
    for (const side of ['base', 'fixed'] as const) {
      const { trace, plan } = await session.debug(
        set(patchOf('self.fail("here")')),
        side,
        work,
        async (program) => {
          assert.match(await readFile(join(program.tree, file), 'utf8'), /here/);
          assert.equal(
            await readFile(join(program.tree, 'cat.py'), 'utf8'),
            await readFile(join(trees[side], 'cat.py'), 'utf8'),
          );
          await start(program);
        },
      );
      assert.deepEqual(plan.files, [file]);
      const [result] = resultsOf(runRecord({ trace }), [test]);
      assert.equal(result?.test, test);
      assert.equal(result?.outcome, 'failed');
      assert.deepEqual(trace.counts, [], 'nothing is counted');
    }
  });

  it('do not hold up a run, nor see its candidate, and end with the session', async () => {
    let release = (): void => undefined;
    const stands = new Promise<void>((resolve) => (release = resolve));
    let began = (): void => undefined;
    const beginning = new Promise<void>((resolve) => (began = resolve));
    let tree = '';
    const debugging = session.debug(
      set(patchOf('self.fail("debugged")')),
      'base',
      work,
      async (program) => {
        tree = program.tree;
        began();
        await stands;
      },
    );
    await beginning;
    const options = { timeoutSeconds: 60, reporter: silent, reuse: false };
    const { records } = await session.run(set(patchOf('pass')), options);
    assert.equal(records.base?.trace.outcomes[0]?.outcome, 'passed');
    assert.match(await readFile(join(tree, file), 'utf8'), /debugged/);
    assert.equal((await pairs()).length, 2);
    await session.dispose();
    assert.deepEqual(await pairs(), [], 'though the debugger stands at a breakpoint');
    release();
    await debugging.catch(() => undefined);
  });

  it('leave no process when the debugger has ended', async () => {
    let pid = 0;
    await session.debug(set(patchOf('pass')), 'base', work, async ({ interpreter, env, cwd }) => {
      const child = spawn(interpreter, ['-c', 'while True: pass'], {
        cwd,
        env,
        stdio: 'ignore',
        detached: true,
      });
      pid = child.pid ?? 0;
      await new Promise((resolve) => child.once('spawn', resolve));
    });
    assert.ok(pid > 0);
    const state = existsSync(`/proc/${pid}`) ? await readFile(`/proc/${pid}/stat`, 'utf8') : ' Z ';
    assert.match(state, / [ZX] /);
  });

  it('are refused where a debugger does not reach the sandbox, before anything is opened twice', async () => {
    const engine = await localEngine({ environments, storage, tracer });
    const outOfReach: Engine = {
      ...engine,
      prepare: async (...args) => {
        const place = await engine.prepare(...args);
        return {
          ...place,
          openPair: async (options) => {
            const pair = await place.openPair(options);
            const without = (sandbox: Sandbox): Sandbox => ({ ...sandbox, debug: undefined });
            return { ...pair, base: without(pair.base), fixed: without(pair.fixed) };
          },
        };
      },
    };
    const other = await open(outOfReach);
    try {
      await assert.rejects(
        other.debug(set(patchOf('pass')), 'base', work, start),
        (error) => error instanceof HumanError && /local engine/.test(error.message),
      );
    } finally {
      await other.dispose();
    }
  });

  it('stop at a breakpoint of the workspace under debugpy, and pass on @full', async function () {
    const interpreter = join(
      await environment(this, 'python3', ['debugpy==1.8.14']),
      'bin',
      'python',
    );
    const withDebugpy = await open(
      await localEngine({ environments, storage, tracer, python: interpreter }),
    );
    const workspace = join(storage, 'workspace');
    const changed = ['cat.py'];
    try {
      for (const side of ['base', 'fixed'] as const) {
        const stops: { path: string; line: number }[] = [];
        const { trace } = await withDebugpy.debug(
          set(patchOf('x = 1', 'self.assertEqual(x, 1)')),
          side,
          work,
          async (program) => {
            const adapter = startAdapter(interpreter);
            await adapter.debug(
              debugConfiguration(program, {
                side,
                workspace,
                changed,
                shown: undefined,
                inherited: [],
              }),
              { path: join(workspace, file), line: 5 },
              (stop) => stops.push(stop),
            );
          },
        );
        assert.deepEqual(stops, [{ path: join(workspace, file), line: 5 }], side);
        assert.equal(trace.outcomes[0]?.outcome, 'passed');
      }
    } finally {
      await withDebugpy.dispose();
    }
  });
});
