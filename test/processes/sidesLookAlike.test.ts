import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sides } from '../../src/domain/outcome';
import { silent } from '../../src/domain/work';
import { localEngine } from '../../src/engine/local/localEngine';
import { evaluateCandidate } from '../../src/evaluation/candidate';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../src/evaluation/session';
import { bareEnvironment } from '../environments';
import { loadParser } from '../unit/python/loadParser';
import { useExample, type Example } from './exampleRepository';
import { environments } from '../../src/environments/environments';

const tracer = resolve('src/engine/tracer');

/** A candidate with a file of tests, by the last parts of their names. */
const candidateOf = (tests: Readonly<Record<string, string>>): string => {
  const lines = [
    ...['import json, os, re, subprocess, sys, unittest', 'from cat import purr'],
    'class A(unittest.TestCase):',
    ...Object.entries(tests).flatMap(([name, code]) => [
      `    def test_${name}(self):`,
      ...code
        .trim()
        .split('\n')
        .map((line) => `        ${line}`),
    ]),
  ];
  return `diff --git a/tests/test_new.py b/tests/test_new.py
new file mode 100644
--- /dev/null
+++ b/tests/test_new.py
@@ -0,0 +1,${lines.length} @@
${lines.map((line) => `+${line}\n`).join('')}`;
};
const candidate = (code: string): string => candidateOf({ a: code });

/** Removes line 2 and adds lines 2 and 3: each side has other lines of its own. */
const goldenPatch = `diff --git a/cat.py b/cat.py
--- a/cat.py
+++ b/cat.py
@@ -1,2 +1,3 @@
 def purr():
-    return 1
+    result = 2
+    return result
`;

/** Conditions that are true on one side only, or could be if the sides did not look alike. */
const spoofs: Record<string, string> = {
  'the name of its folder': `re.search('fixed|after|golden', os.getcwd())`,
  'the names above it': `any(re.search('base|fixed', name) for up in ('..', '../..') for name in os.listdir(up) if name != 'owner')`,
  'what lies beside it': `len(os.listdir('..')) != 3`,
  'its temporary folder': `re.search('base|fixed', os.environ['TMPDIR'] + os.environ['HOME'])`,
  'the log of git': `re.search('golden|octo', subprocess.check_output(['git', 'log', '--all', '--reflog'], universal_newlines=True))`,
  'the number of commits': `subprocess.check_output(['git', 'rev-list', '--all', '--count']).strip() != b'1'`,
  'the parent of the commit': `subprocess.call(['git', 'rev-parse', '--quiet', '--verify', 'HEAD~1'], stdout=-3) == 0`,
  'a diff of git': `subprocess.check_output(['git', 'diff', 'HEAD'])`,
  'the status of git': `b'cat.py' in subprocess.check_output(['git', 'status', '--porcelain'])`,
  'where git finds objects': `re.search('base|fixed', open('.git/objects/info/alternates').read())`,
  'the time of a changed file': `os.stat('cat.py').st_mtime != os.stat('dos.txt').st_mtime`,
  'the newest file': `max(os.listdir('.'), key=lambda name: (os.lstat(name).st_mtime, name == 'dos.txt')) == 'cat.py'`,
  'further names of a file': `os.stat('dos.txt').st_nlink > 1 or os.stat('cat.py').st_nlink > 1`,
  'which lines are counted': `[2, 3] != json.load(open(os.environ['SWT_TRACE_CONFIG']))['files'].get('cat.py', [])`,
};

/**
 * All that a test can see of its surroundings without reading the sources; the name of its own
 * folder is removed.
 */
const view = `
own = os.path.dirname(os.getcwd())
def plain(text):
    run = os.path.basename(os.path.dirname(os.environ['TMPDIR']))
    return text.replace(own, 'OWN').replace(run, 'RUN').replace(os.path.basename(own), 'OWN')
def git(*args): return subprocess.check_output(('git',) + args, universal_newlines=True)
config = json.load(open(os.environ['SWT_TRACE_CONFIG']))
seen = {
    'cwd': [plain(os.getcwd()), len(os.getcwd())],
    'above': sorted(plain(name) for name in os.listdir('..')),
    'twice above': [len(name) for name in sorted(os.listdir('../..'))],
    'environment': {name: plain(value) for name, value in os.environ.items() if name not in ('SWT_BENCH_RUN',)},
    'lengths': {name: len(value) for name, value in os.environ.items()},
    'arguments': [plain(each) for each in sys.argv],
    'path': [plain(each) for each in sys.path],
    'git': [git('log', '--all', '--reflog', '--format=%an %ae %ad %cn %cd %P %B %D'), git('status', '--porcelain', '--ignored', '-b'), git('diff', 'HEAD'), git('for-each-ref', '--format=%(refname)'), git('count-objects', '-v').split('size')[0], git('stash', 'list'), git('config', '--list')],
    'files': sorted((path, os.lstat(path).st_mtime, os.lstat(path).st_nlink, os.lstat(path).st_mode) for path in (os.path.join(folder, name) for folder, folders, names in os.walk('.') for name in names + folders if '.git' not in folder) if '__pycache__' not in path and not path.endswith('test_new.py') and path not in ('./.git', './tests')),
    'counted': config['files'],
    'keys': sorted(config),
    'alternates': plain(open('.git/objects/info/alternates').read()),
}
print('SEEN' + json.dumps(seen, sort_keys=True))
`;

describe('the two sides', function () {
  let example: Example;
  let session: InstanceSession;
  let folder = '';
  let close: () => Promise<void>;
  useExample((made) => (example = made));
  const open = async (): Promise<{ session: InstanceSession; close: () => Promise<void> }> => {
    const storage = await example.storage();
    const source = { kind: 'commit', from: example.origin } as const;
    const trees = await example.prepare(source, storage, { goldenPatch });
    const python = join(bareEnvironment(folder), 'bin', 'python');
    const engine = await localEngine({ environments, storage, tracer, python });
    const opened = await openSession({
      instance: example.instance({ goldenPatch }),
      trees,
      engine,
      python: await loadParser(),
      store: runStore(storage),
    });
    const end = async (): Promise<void> => {
      await opened.dispose();
      await engine.dispose();
    };
    return { session: opened, close: end };
  };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sides-test-'));
    ({ session, close } = await open());
  });
  after(async () => {
    await close();
    await rm(folder, { recursive: true, force: true });
  });
  const options = { timeoutSeconds: 60, reporter: silent, reuse: false };

  describe('are not told apart by', () => {
    /** Of two tests for each spoof: that its condition does not hold, and that it does. */
    const transitions = new Map<string, string>();
    before(async () => {
      const tests = Object.values(spoofs).flatMap((condition, at) => [
        [`not_${at}`, `self.assertFalse(${condition})`],
        [`is_${at}`, `self.assertTrue(${condition})`],
      ]);
      const text = candidateOf(Object.fromEntries(tests) as Record<string, string>);
      const result = await evaluateCandidate(
        session,
        { model: 'spoof', text, format: 'unified', mode: 'unit-test' },
        options,
      );
      for (const { test, transition, base } of result.tests) {
        const told = transition === 'P→P' ? '' : ` ${base.message ?? ''}`;
        transitions.set(test.replace(/^.*::test_/, ''), `${transition}${told}`);
      }
    });
    for (const [at, what] of Object.keys(spoofs).entries()) {
      it(what, () => {
        assert.equal(transitions.get(`not_${at}`), 'P→P');
        assert.match(transitions.get(`is_${at}`) ?? '', /^F→F /);
      });
    }
  });

  it('look alike in all that a test can see but the sources', async () => {
    const set = { patch: candidate(view), files: ['tests/test_new.py'] };
    // On the same pair, also after the sides have run unequally often.
    await session.run(
      { patch: candidate('pass'), files: set.files },
      { ...options, sides: ['base'] },
    );
    const { records } = await session.run(set, options);
    const [one, two] = sides.map((side) => {
      const seen = /^SEEN(.*)$/m.exec(records[side]?.log ?? '')?.[1];
      assert.ok(seen !== undefined, records[side]?.log);
      return JSON.parse(seen) as unknown;
    });
    assert.deepEqual(one, two);
    assert.match(JSON.stringify(one), /"counted":\{"cat\.py":\[2,3\]\}/);
  });

  it('have the same compiled files, also when a module was imported on one of them alone', async () => {
    const fresh = await open();
    try {
      const set = { patch: candidate('purr()'), files: ['tests/test_new.py'] };
      for (const each of [1, 2]) {
        await fresh.session.run(set, { ...options, sides: [each === 1 ? 'fixed' : 'base'] });
        // Compiled before the tests ran, or by them.
        const body = 'import cat; print("SEEN", os.stat(cat.__cached__).st_mtime < 1e9)';
        const look = { patch: candidate(body), files: set.files };
        const { records } = await fresh.session.run(look, options);
        const seen = sides.map((side) => /SEEN \w+/.exec(records[side]?.log ?? '')?.[0]);
        assert.deepEqual(seen, ['SEEN True', 'SEEN True'], `${each}`);
      }
    } finally {
      await fresh.close();
    }
  });

  it('count what is a side’s own, whatever is counted on both', async () => {
    const set = { patch: candidate('purr()'), files: ['tests/test_new.py'] };
    const { records } = await session.run(set, options);
    const counted = sides.map((side) =>
      records[side]?.trace.counts.map(({ path, line }) => `${path}:${line}`),
    );
    assert.deepEqual(counted, [['cat.py:2'], ['cat.py:2', 'cat.py:3']]);
  });
});
