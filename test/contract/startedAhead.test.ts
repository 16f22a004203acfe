import assert from 'node:assert/strict';
import { silent } from '../../src/domain/work';
import type { RunRecord, Sandbox } from '../../src/engine/engine';
import type { TestPlan } from '../../src/engine/runners/testPlan';
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
