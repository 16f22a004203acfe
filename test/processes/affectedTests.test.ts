import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { silent } from '../../src/domain/work';
import { localEngine } from '../../src/engine/local/localEngine';
import type { CompleteRun } from '../../src/evaluation/runs/affected';
import { evaluateCandidate, evaluateSince } from '../../src/evaluation/candidate';
import { runStore } from '../../src/evaluation/testRun';
import { openSession, type InstanceSession, type TestSet } from '../../src/evaluation/session';
import { pytestEnvironment } from '../environments';
import { loadParser } from '../unit/python/loadParser';
import { useExample, type Example } from './exampleRepository';

const file = (path: string, source: string): string => {
  const lines = source.trimEnd().split('\n');
  return (
    `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n` +
    `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`
  );
};
const goldenTests = file(
  'tests/test_golden.py',
  'import cat\ndef test_two():\n    assert cat.purr() == 2',
);

const first = `import cat
import unittest

def helper():
    return 2

def test_same():
    assert cat.purr() < 3

def test_edited():
    assert True

def test_away():
    assert cat.purr() == 1

class A(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.purr = cat.purr()

    def test_kept(self):
        assert self.purr

    def test_other(self):
        assert self.purr
`;
import { environments } from '../../src/environments/environments';
const editedOne = (source: string): string =>
  source.replace('assert True', 'assert cat.purr() == helper()');
const comeAndGone = (source: string): string =>
  source
    .replace(/def test_away[^]*?== 1\n/, '')
    .replace(
      'def test_same',
      'def test_new():\n    x = 1\n    assert cat.purr() == 2\n\ndef test_same',
    );
const edits: Readonly<Record<string, string>> = {
  'a test that is edited, one that comes and one that goes': editedOne(comeAndGone(first)),
  'an edited test': editedOne(first),
  'a test that comes and one that goes': comeAndGone(first),
  'a test of a class with a set-up': first.replace(
    'def test_other(self):\n        assert self.purr',
    'def test_other(self):\n        assert self.purr == 2',
  ),
  'nothing but a comment': first.replace('def helper', '# two\ndef helper'),
  'a test that fails now': first.replace('assert True', 'assert cat.purr() == 7'),
};

/** The others, parts of it among them, run in the full run alone: each is two runs of all. */
const everyday = ['a test that is edited, one that comes and one that goes'];

describe('a candidate that was edited since all of its tests ran', function () {
  let example: Example;
  let session: InstanceSession;
  const ran: TestSet[] = [];
  useExample((made) => (example = made));
  before(async function () {
    const python = await pytestEnvironment(this);
    const storage = await example.storage();
    const opened = await openSession({
      instance: example.instance({ goldenTests }),
      trees: await example.prepare({ kind: 'commit', from: example.origin }, storage),
      engine: await localEngine({
        environments,
        storage,
        tracer: resolve('src/engine/tracer'),
        python,
      }),
      python: await loadParser(),
      store: runStore(storage),
    });
    session = {
      ...opened,
      run: (set, options) => {
        ran.push(set);
        return opened.run(set, options);
      },
    };
  });
  after(() => session?.dispose());

  const request = (source: string) =>
    ({
      model: 'workspace',
      text: file('tests/test_new.py', source),
      format: 'unified',
      mode: 'unit-test',
    }) as const;
  const usual = { timeoutSeconds: 60, reporter: silent, reuse: false };
  /** A run of all of the first candidate, from which each test starts. */
  let since: CompleteRun;
  let wholeOfFirst: Awaited<ReturnType<typeof evaluateCandidate>>;
  before(async () => {
    const { complete } = await evaluateSince(session, request(first), usual);
    assert.ok(complete);
    since = complete;
    wholeOfFirst = await evaluateCandidate(session, request(first), usual);
  });

  for (const [what, edited] of Object.entries(edits)) {
    it(`has the verdict and ΔC of a run of all: ${what}${everyday.includes(what) ? '' : ' @full'}`, async () => {
      ran.length = 0;
      const { result, complete: next } = await evaluateSince(session, request(edited), {
        ...usual,
        since,
      });
      const own = ran.filter(({ patch }) => patch === request(edited).text);
      assert.ok(result.affected !== undefined && result.affected.kept > 0);
      assert.deepEqual(
        own.map(({ select }) => select?.length),
        result.affected.ran === 0 ? [] : [result.affected.ran],
      );
      const whole = await evaluateCandidate(session, request(edited), usual);
      const told = (each: typeof whole) => ({
        strict: each.strict,
        coverage: each.changeCoverage?.lines.map((line) => ({
          ...line,
          coveredBy: [...line.coveredBy].sort(),
        })),
        delta: each.changeCoverage?.delta,
        tests: each.tests
          .map(({ test, transition, base, fixed }) => ({
            test,
            transition,
            frames: [base.frames, fixed.frames],
          }))
          .sort((a, b) => (a.test < b.test ? -1 : 1)),
      });
      assert.deepEqual(told(result), told(whole));
      // The next edit may start from this run.
      assert.ok(next);
      const again = await evaluateSince(session, request(first), { ...usual, since: next });
      assert.deepEqual(told(again.result), told(wholeOfFirst));
    });
  }

  it('runs as a whole when more than tests was edited, and says so by leaving it out @full', async () => {
    for (const edited of [
      first.replace('return 2', 'return 1'),
      first.replace('import cat\n', 'import cat, os\n'),
      first.replace('cls.purr = cat.purr()', 'cls.purr = 1'),
    ]) {
      const { result } = await evaluateSince(session, request(edited), { ...usual, since });
      assert.equal(result.affected, undefined);
      assert.equal(result.tests.length, 5);
    }
  });

  it('is run as a whole after a run that broke off @full', async () => {
    const broken = first.replace('assert True', 'import os; os._exit(3)');
    const { complete: none } = await evaluateSince(session, request(broken), usual);
    assert.equal(none, undefined);
    const { result } = await evaluateSince(session, request(broken), { ...usual, since });
    assert.equal(result.affected, undefined);
  });
});
