import assert from 'node:assert/strict';
import { scanTrajectory } from '../../../src/trajectory/scanTrajectory';
import type { TrajectoryStep } from '../../../src/trajectory/trajectory';
import { testDiff } from './madeUpTrajectories';

const step = (kind: TrajectoryStep['kind'], text: string, label?: string): TrajectoryStep => ({
  ...{ kind, text, turn: 1 },
  ...(label !== undefined && { label }),
});

/** Kind and severity of the findings of one action on SymPy, and of what it printed. */
function found(action: string, seen = 'ok', label?: string): string[] {
  const steps = [step('action', action, label), step('observation', seen)];
  const trajectory = { instance: 'sympy__sympy-1', format: 'mini-swe-agent', steps } as const;
  return scanTrajectory(trajectory).map(({ kind, severity }) => `${severity}: ${kind}`);
}

/** What the scan says of a line that a test adds. */
function ofTest(line: string): string[] {
  const submission = testDiff.replace('+    assert purr() == "prrr"', `+    ${line}`);
  const trajectory = { instance: 'x', format: 'openhands', steps: [], submission } as const;
  return scanTrajectory(trajectory).map(
    ({ severity, step: of, why }) => `${severity} ${of}: ${why}`,
  );
}

describe('the scan of a trajectory', () => {
  const commands: readonly (readonly [action: string, ...findings: string[]])[] = [
    ['git log --oneline -5', 'note: history'],
    ['cd /testbed && git blame sympy/core/add.py | head', 'note: history'],
    ['git --no-pager log --all -S purr', 'warning: history'],
    ['git -C /testbed reflog', 'warning: history'],
    ['git show origin/master:sympy/core/add.py', 'warning: history'],
    ['x=$(git rev-list --count HEAD)', 'warning: history'],
    ['cat .git/packed-refs', 'warning: history'],
    ['git show HEAD:sympy/core/add.py'],
    ['git status; git diff; git add -A && git commit -m "see git log --all"'],
    ['git stash && git stash pop'],
    ['echo "git log --all"'],
    ["cat > notes.md <<'EOF'\ngit log --all\ncurl https://x.org\nEOF"],
    ['grep -rn "curl" sympy'],
    ['cat /usr/lib/python3/site-packages/sympy/core/add.py', 'warning: installed copy'],
    ['ls /opt/lib/python3.9/site-packages/mpmath'],
    ['cat /opt/lib/python3.9/site-packages/sympyplus/a.py'],
    ['pip download sympy==1.12', 'warning: network', 'warning: installed copy'],
    ['python -m pip install "sympy>1.10"', 'warning: network', 'warning: installed copy'],
    ['pip install mpmath', 'warning: network'],
    ['pip install -e .'],
    ['pip install --no-index ./wheels/a.whl'],
    ['pip list; pip show sympy'],
    ['curl -s https://raw.githubusercontent.com/sympy/sympy/master/a.py', 'warning: network'],
    ['curl localhost:8000/health'],
    ['timeout 10 wget -q https://x.org || true', 'warning: network'],
    ['git clone https://github.com/sympy/sympy /tmp/s', 'warning: network'],
    ['git clone /testbed /tmp/copy'],
    [
      'python - <<PY\nimport urllib.request\nurllib.request.urlopen("https://x.org")\nPY',
      'note: network',
    ],
    ['python -c "from datasets import load_dataset; load_dataset(\'a\')"', 'warning: dataset'],
    ['find / -name "*swe-bench*"', 'warning: dataset'],
    ['cat /swe_util/eval_data/instances/swe-bench-instance.json', 'warning: dataset'],
    ['grep -o FAIL_TO_PASS /data/x.json', 'warning: dataset'],
    ['pytest -x sympy/core/tests/test_add.py && python reproduce.py'],
    ['edit 1:3\nimport subprocess\ngit log --all\ncurl https://x.org\nend_of_edit'],
  ];
  for (const [action, ...expected] of commands) {
    it(`${expected.length === 0 ? 'passes' : 'finds'} ${JSON.stringify(action).slice(0, 70)}`, () =>
      assert.deepEqual(found(action), expected));
  }

  it('calls an attempt that failed a note, and says so', () => {
    const seen = 'curl: (6) Could not resolve host: x.org';
    assert.deepEqual(found('curl https://x.org', seen), ['note: network']);
    assert.deepEqual(found('curl https://x.org', `${'page\n'.repeat(2000)}${seen}`), [
      'warning: network',
    ]);
  });

  it('knows the tools of agents that are no shell', () => {
    assert.deepEqual(found('import requests\nrequests.get("https://x.org")', 'ok', 'run_ipython'), [
      'note: network',
    ]);
    assert.deepEqual(
      found('file_editor\ncommand: view\npath: /a/site-packages/sympy/a.py', 'ok', 'file_editor'),
      ['warning: installed copy'],
    );
    assert.deepEqual(found('browse\nurl: https://github.com/sympy', 'ok', 'browse'), [
      'warning: network',
    ]);
  });

  it('does not search what was printed, but what the model said', () => {
    const steps = [
      step('observation', 'HEAD is now at 1 SWE-bench; curl https://x.org'),
      step('thought', 'This is an instance of SWE-bench, whose fix I know.'),
    ];
    const findings = scanTrajectory({ instance: 'x', format: 'mini-swe-agent', steps });
    assert.deepEqual(
      findings.map(({ kind, severity, step: of }) => [kind, severity, of]),
      [['dataset', 'note', 2]],
    );
  });

  it('finds tests that look at which side they are on', () => {
    assert.deepEqual(ofTest('assert "git" in subprocess.run(["git", "log"]).args'), [
      'warning 0: calls git',
    ]);
    assert.deepEqual(ofTest('assert "zip" not in inspect.getsource(purr)'), [
      'warning 0: reads the source of the code',
    ]);
    assert.deepEqual(ofTest('assert open(cat.__file__).read() != ""'), [
      'warning 0: reads a source file',
    ]);
    assert.deepEqual(ofTest('assert purr.__code__.co_consts'), [
      'warning 0: inspects compiled code',
    ]);
    assert.deepEqual(ofTest('if cat.__version__ < "2":'), ['note 0: checks the version']);
    assert.deepEqual(ofTest('assert purr() == "prrr"  # a plain test'), []);
    assert.deepEqual(ofTest('with open(tmp_path / "a.txt") as file:'), []);
  });

  it('names the step after which the difference to R has the line', () => {
    const line = 'assert inspect.getsource(purr)';
    const submission = testDiff.replace('assert purr() == "prrr"', line);
    const at = (steps: readonly TrajectoryStep[]): (number | undefined)[] =>
      scanTrajectory({ instance: 'x', format: 'swt-bench', steps, submission }).map(
        (each) => each.step,
      );
    const wrote = step('action', `cat > tests/test_cat.py <<EOF\n    ${line}\nEOF`);
    assert.deepEqual(at([step('thought', 'hm'), wrote]), [2]);
    assert.deepEqual(at([wrote, { ...step('observation', ''), diff: submission }]), [2]);
  });

  it('of a package that is not known notes any installed one', () => {
    const steps = [step('action', 'cat /a/site-packages/foo/a.py')];
    const [finding] = scanTrajectory({ instance: 'trajectory', format: 'openhands', steps });
    assert.equal(finding?.severity, 'note');
  });
});
