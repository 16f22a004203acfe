import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { silent } from '../../src/domain/work';
import { dockerEngine } from '../../src/engine/docker/dockerEngine';
import type { Engine, Pair, RunRecord, Sandbox } from '../../src/engine/engine';
import { localEngine } from '../../src/engine/local/localEngine';
import type { TestPlan } from '../../src/engine/runners/testPlan';
import { environments } from '../../src/environments/environments';
import { testSettings } from '../containers/dockerForTests';
import { pytestEnvironment } from '../environments';
import { candidate, onEngine, type Subject } from './subjects';

const plan = (runner: string, ...args: string[]): TestPlan => ({
  ...{ runner, args, env: {}, cwd: '.', files: ['tests/test_new.py'], notRun: [] },
});

const plans: Readonly<Record<string, TestPlan>> = {
  pytest: plan('pytest', '-m', 'pytest', '-rA', '-p', 'no:cacheprovider', 'tests/test_new.py'),
  unittest: plan('unittest', '-m', 'unittest', '-v', 'tests.test_new'),
};

/** Bodies of tests that could tell a process that was started ahead from another one. */
const bodies: Readonly<Record<string, string>> = {
  'an honest test': 'self.assertEqual(purr(), 2)',
  'what it is': [
    'import os, sys',
    'print(sys.argv[1:], sys.flags, sys.path[1:3], sorted(os.environ), os.getcwd())',
    'print(os.listdir(os.environ["HOME"]), os.listdir(os.environ["TMPDIR"]))',
    'print("started with", open("/proc/self/cmdline").read().split(chr(0))[1:])',
    'self.assertEqual(purr(), 2)',
  ].join('; '),
  'leaves a file at home that Python runs': [
    'import os, site; where = site.getusersitepackages()',
    'assert where.startswith(os.environ["HOME"]), where; os.makedirs(where)',
    'open(os.path.join(where, "usercustomize.py"), "w").write("import os; os._exit(7)")',
    'open(os.path.join(where, "left.pth"), "w").write("import os; os._exit(7)")',
  ].join('; '),
  'leaves a process':
    'import subprocess, sys; subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])',
};

const compared = ({ ending, exitCode, killedBy, trace, log }: RunRecord) => {
  const { outcomes, counts, collected, acts, problems, contradictions, sessions } = trace;
  return {
    ...{ ending, exitCode, killedBy, counts, collected, acts, problems, contradictions, sessions },
    outcomes: outcomes.map(({ seconds: _, ...outcome }) => outcome),
    unfinished: trace.unfinished.length,
    log: log
      .replaceAll(/started with [^\n]*/g, '')
      .replaceAll(/subprocess \d+|in \d+\.\d+s/g, '')
      .replaceAll(/pairs\/[0-9a-f]+\/[0-9a-f]{4}(\/r\/[0-9a-f]{4})?/g, 'pair'),
  };
};

const startedWith = ({ log }: RunRecord): string | undefined =>
  /^(?:.* )?started with (.*)/m.exec(log)?.[1];

for (const name of ['local', 'docker']) {
  onEngine(name, 'an interpreter that waits for its run', (subject: () => Subject) => {
    const lines = new Map([['cat.py', [2, 3, 4, 5]]]);

    /** The records of each body with each runner, each after another run like it. */
    const recorded = async (isAwaited: boolean): Promise<Record<string, RunRecord>> => {
      const engine = await subject().open({}, isAwaited);
      try {
        const place = await engine.prepare(subject().instance, subject().trees, {
          reporter: silent,
        });
        const pair = await place.openPair({ reporter: silent });
        const found: Record<string, RunRecord> = {};
        for (const [runner, each] of Object.entries(plans)) {
          const run = async (sandbox: Sandbox, body: string): Promise<RunRecord> => {
            await sandbox.load(candidate(body));
            return sandbox.run({ plan: each, countLines: lines, timeoutSeconds: 60 });
          };
          await run(pair.fixed, 'pass');
          for (const [title, body] of Object.entries(bodies)) {
            found[`${title}, ${runner}`] = await run(pair.fixed, body);
          }
          await run(pair.fixed, 'pass');
        }
        await pair.dispose();
        return found;
      } finally {
        await engine.dispose();
      }
    };

    let plain: Record<string, RunRecord> = {};
    let ahead: Record<string, RunRecord> = {};
    before(async function () {
      if (process.platform === 'win32') this.skip();
      [plain, ahead] = [await recorded(false), await recorded(true)];
    });
    for (const runner of Object.keys(plans)) {
      for (const title of Object.keys(bodies)) {
        it(`records what any other does: ${title}, ${runner}`, () => {
          const [one, other] = [ahead, plain].map((records) => records[`${title}, ${runner}`]);
          assert.ok(one !== undefined && other !== undefined);
          assert.deepEqual(compared(one), compared(other));
          assert.equal(one.trace.outcomes[0]?.outcome, 'passed', one.log);
          assert.equal(one.trace.counts.length > 0, bodies[title]?.includes('purr') === true);
        });
      }
      it(`has begun before its tests were known, ${runner}`, function () {
        if (process.platform !== 'linux') this.skip();
        const title = `what it is, ${runner}`;
        const [one, other] = [ahead, plain].map((records) => records[title]);
        assert.ok(one !== undefined && other !== undefined);
        assert.doesNotMatch(startedWith(one) ?? '', /test_new/);
        assert.match(startedWith(other) ?? '', /test_new/);
        assert.ok(startedWith(one)?.includes(runner));
      });
    }
  });
}

for (const name of ['local', 'docker']) {
  onEngine(name, 'an interpreter that has loaded R for its run', (subject: () => Subject) => {
    const lines = new Map([['cat.py', [1, 2, 3, 4, 5]]]);
    let engine: Engine;
    let pair: Pair;
    before(async function () {
      if (process.platform === 'win32') this.skip();
      const { instance, trees, storage } = subject();
      const more = { environments, storage, isAwaited: true, warmFrom: 0 };
      engine =
        name === 'local'
          ? await localEngine({
              ...more,
              tracer: resolve('src/engine/tracer'),
              python: await pytestEnvironment(this),
            })
          : await dockerEngine({
              ...more,
              assets: resolve('src/engine'),
              settings: testSettings(),
            });
      const place = await engine.prepare(instance, trees, { reporter: silent });
      pair = await place.openPair({ reporter: silent });
    });
    after(async () => {
      await pair.dispose();
      await engine.dispose();
    });

    const expectation = (each: TestPlan, text: string) => ({
      ...{ plan: each, countLines: lines },
      texts: new Map([['tests/test_new.py', text]]),
    });
    const run = async (each: TestPlan, body: string, isPreliminary: boolean) => {
      await pair.fixed.load(candidate(body));
      return pair.fixed.run({
        ...{ plan: each, countLines: lines, timeoutSeconds: 60, isPreliminary },
      });
    };
    const text = 'import unittest\nfrom cat import purr\n';

    for (const [runner, each] of Object.entries(plans)) {
      for (const [title, body] of Object.entries(bodies)) {
        it(`records what any other does: ${title}, ${runner}`, async () => {
          const why = await pair.fixed.expect?.(expectation(each, text));
          assert.equal(why, undefined);
          const warm = await run(each, body, true);
          const fresh = await run(each, body, false);
          assert.ok((warm.trace.warm?.seconds ?? -1) >= 0, `${warm.whyFresh}\n${warm.log}`);
          assert.equal(fresh.trace.warm, undefined);
          assert.deepEqual(compared(warm), compared(fresh));
          assert.equal(warm.trace.outcomes[0]?.outcome, 'passed', warm.log);
          assert.ok(warm.trace.counts.some(({ line }) => line === 1));
        });
      }
    }

    it('gives way to a fresh process where the tests no longer import what it has', async () => {
      const each = plans['pytest'];
      assert.ok(each !== undefined);
      const other = 'import data\nimport cat\n';
      // A folder without code is a module, too.
      await pair.fixed.expect?.(expectation(each, other));
      const record = await run(each, 'self.assertEqual(purr(), 2)', true);
      assert.match(record.whyFresh ?? '', /no longer import data/);
      assert.equal(record.trace.warm?.seconds, undefined);
      assert.equal(record.trace.outcomes[0]?.outcome, 'passed', record.log);
      assert.deepEqual(record.trace.contradictions, []);
    });

    it('gives way to a fresh process where the candidate edits more than its tests', async () => {
      const each = plans['pytest'];
      assert.ok(each !== undefined);
      await pair.fixed.expect?.(expectation(each, text));
      await pair.fixed.load(
        candidate('self.assertEqual(purr(), 2)') + candidate('pass', 'conftest.py'),
      );
      const record = await pair.fixed.run({
        ...{ plan: each, countLines: lines, timeoutSeconds: 60, isPreliminary: true },
      });
      assert.match(record.whyFresh ?? '', /edits conftest\.py/);
      assert.equal(record.trace.outcomes[0]?.outcome, 'passed', record.log);
    });

    it('is not there where R cannot be imported, and says why', async () => {
      const each = plans['pytest'];
      assert.ok(each !== undefined);
      const plan = { ...each, files: ['tests/test_new.py', 'tests/test_cat.py'] };
      const texts = new Map([['tests/test_new.py', 'import tests.test_cat, cat\n']]);
      assert.equal(await pair.fixed.expect?.({ plan, countLines: lines, texts }), undefined);
      const none = new Map([['tests/test_new.py', 'import json\n']]);
      const why = await pair.fixed.expect?.({ plan, countLines: lines, texts: none });
      assert.equal(why, 'the tests import nothing of R');
    });

    it('ends with its sandbox', async () => {
      const each = plans['pytest'];
      assert.ok(each !== undefined);
      assert.equal(await pair.base.expect?.(expectation(each, text)), undefined);
      const { folders = [] } = await run(each, 'pass', false);
      await pair.dispose();
      if (name !== 'local' || process.platform !== 'linux') return;
      const left = (): string[] =>
        readdirSync('/proc').filter((id) => {
          try {
            return readFileSync(`/proc/${id}/environ`, 'utf8').includes(folders[0] ?? 'no folder');
          } catch {
            return false;
          }
        });
      while (left().length > 0) await sleep(20);
    });
  });
}
