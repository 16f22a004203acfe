import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Cancelled, silent } from '../../../src/domain/work';
import { addedFile, viewForTests } from './sampleView';

const options = { timeoutSeconds: 60, reporter: silent } as const;

describe('runOnR', function () {
  const sample = viewForTests();

  /** A candidate that inserts a test at the start of a class of R's tests. */
  const oneMore = async (...body: string[]): Promise<string> => {
    const source = (await sample.view.tree.read('tests/test_money.py')) ?? '';
    const lines = source.split('\n');
    const at = lines.findIndex((line) => line.startsWith('class AllocateTest')) + 1;
    assert.ok(at > 0);
    const test = ['    def test_one_more(self):', ...body.map((line) => `        ${line}`), ''];
    return [
      'diff --git a/tests/test_money.py b/tests/test_money.py',
      '--- a/tests/test_money.py',
      '+++ b/tests/test_money.py',
      `@@ -${at - 1},3 +${at - 1},${3 + test.length} @@`,
      ` ${lines[at - 2]}`,
      ` ${lines[at - 1]}`,
      ...test.map((line) => `+${line}`),
      ` ${lines[at]}`,
      '',
    ].join('\n');
  };
  const own = 'tests/test_money.py::AllocateTest::test_one_more';
  const failing = ['self.assertEqual(Money(2000).allocate([1, 1, 1])[2].cents, 666)'];

  it('runs the tests that a candidate adds, or all of the files that it touches', async () => {
    const patch = await oneMore(...failing);
    const part = await sample.view.runOnR(patch, options);
    assert.deepEqual(
      part.tests.map(({ test, outcome, exception }) => [test, outcome, exception]),
      [[own, 'failed', 'AssertionError']],
    );
    assert.deepEqual(part.others, []);
    assert.deepEqual(part.ownTests, [own]);
    assert.equal(part.problem, undefined);
    const whole = await sample.view.runOnR(patch, { ...options, whole: true });
    assert.deepEqual(
      whole.tests.map(({ test, outcome }) => [test, outcome]),
      [[own, 'failed']],
    );
    assert.ok(whole.others.length > 10);
    assert.ok(whole.others.every(({ outcome }) => outcome === 'passed'));
  });

  it('runs tests of R alone, one or whole files', async () => {
    const one = 'tests/test_money.py::AllocateTest::test_equal_parts';
    const run = await sample.view.runOnR('', { ...options, tests: [one] });
    assert.deepEqual(
      run.tests.map(({ test, outcome }) => [test, outcome]),
      [[one, 'passed']],
    );
    const files = await sample.view.runOnR('', { ...options, tests: ['tests/test_money.py'] });
    assert.ok(files.tests.length > 10);
    assert.deepEqual(files.others, []);
    const both = await sample.view.runOnR(await oneMore(...failing), {
      ...options,
      tests: [one, own],
    });
    assert.deepEqual(both.tests.map(({ outcome }) => outcome).sort(), ['failed', 'passed']);
  });

  it('says of a candidate that cannot be run why not', async () => {
    const empty = await sample.view.runOnR(' \n', options);
    assert.deepEqual([empty.applies, empty.problem], [true, 'the candidate is empty']);
    const prose = await sample.view.runOnR('I cannot help with that.', options);
    assert.equal(prose.applies, false);
    assert.match(prose.problem ?? '', /contains no patch/);
    const unfit = await sample.view.runOnR(
      (await oneMore('pass')).replace('class AllocateTest', 'class OtherTest'),
      options,
    );
    assert.equal(unfit.applies, false);
    assert.equal(unfit.patch, '');
    const code = await sample.view.runOnR(addedFile('tallybook/more.py', 'x = 1'), options);
    assert.equal(code.applies, true);
    assert.match(code.problem ?? '', /changes no Python test file/);
    assert.deepEqual(code.otherFiles, ['tallybook/more.py']);
    for (const { tests, others, log } of [empty, prose, unfit, code]) {
      assert.deepEqual([tests, others, log], [[], [], '']);
    }
  });

  it('leaves out edits of other files when asked to', async () => {
    const patch = addedFile('tallybook/more.py', 'x = 1') + (await oneMore(...failing));
    const all = await sample.view.read(patch);
    assert.deepEqual(all.otherFiles, ['tallybook/more.py']);
    const left = await sample.view.read(patch, { testsOnly: true });
    assert.deepEqual([left.otherFiles, left.ownTests], [[], [own]]);
  });

  it('tells of a test file that cannot be loaded, and of a run that is cut short', async () => {
    const broken = addedFile(
      'tests/test_broken.py',
      'import unittest',
      '',
      'class A(unittest.TestCase):',
      '    def test_a(:',
      '        pass',
    );
    const loaded = await sample.view.runOnR(broken, options);
    assert.ok(loaded.tests.every(({ outcome }) => outcome === 'error') && loaded.tests.length > 0);
    const endless = await oneMore('import time', 'time.sleep(3600)');
    const cut = await sample.view.runOnR(endless, { ...options, timeoutSeconds: 2 });
    assert.match(cut.problem ?? '', /time limit/);
    assert.deepEqual(
      cut.tests.map(({ test, outcome }) => [test, outcome]),
      [[own, 'error']],
    );
  });

  it('keeps runs, and runs again when asked to', async () => {
    const runs = async (): Promise<number> => {
      const folder = join(sample.storage, 'instances', sample.instance.id, 'runs');
      const names = await readdir(folder, { recursive: true });
      return names.filter((name) => name.endsWith('.json')).length;
    };
    const patch = await oneMore('self.assertEqual(1, 1)');
    const first = await sample.view.runOnR(patch, options);
    const count = await runs();
    assert.deepEqual(await sample.view.runOnR(patch, options), first);
    assert.equal(await runs(), count);
    const again = await sample.view.runOnR(patch, { ...options, reuse: false });
    assert.notEqual(again.seconds, first.seconds);
  });

  it('stops when it is cancelled, and runs nothing once it is disposed of', async () => {
    const stop = new AbortController();
    const endless = await oneMore('import time', 'time.sleep(3601)');
    const running = sample.view.runOnR(endless, { ...options, signal: stop.signal });
    setTimeout(() => stop.abort(), 500);
    await assert.rejects(running, Cancelled);
    await sample.view.dispose();
    const patch = await oneMore('self.assertEqual(2, 2)');
    await assert.rejects(sample.view.runOnR(patch, options), Cancelled);
  });
});
