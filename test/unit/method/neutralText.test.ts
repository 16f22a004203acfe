import assert from 'node:assert/strict';
import { neutralLog, neutralResult, neutralText } from '../../../src/method/prompt/neutralText';

const of = (name: string) => ({
  folders: [`/cache/pairs/${name}/tree`, `/cache/pairs/${name}/runs`, `/cache/pairs/${name}`],
});
const run = of('3fa9');

describe('texts of a run for models', () => {
  it('name files by their paths in the tree', () => {
    assert.equal(
      neutralText('File "/cache/pairs/3fa9/tree/tests/test_a.py", line 3', run),
      'File "tests/test_a.py", line 3',
    );
    assert.equal(neutralText("cwd '/cache/pairs/3fa9/tree'", run), "cwd '.'");
    assert.equal(neutralText('/cache/pairs/3fa9/treehouse', run), '[path]');
  });

  it('name no other place of the run or of the machine', () => {
    assert.equal(neutralText('/cache/pairs/3fa9/runs/1/home/x.txt: gone', run), '[path]: gone');
    assert.equal(
      neutralText('File "/opt/py/lib/python3.11/unittest/case.py", line 59', run),
      'File "[python]/unittest/case.py", line 59',
    );
    assert.equal(
      neutralText('/opt/v/lib/python3.9/site-packages/_pytest/main.py:3: Error', run),
      '[python]/_pytest/main.py:3: Error',
    );
    assert.equal(
      neutralText('/usr/bin/python3: No module named pytest', run),
      'python: No module named pytest',
    );
  });

  it('leave alone what is no place', () => {
    for (const text of [
      "'/admin/login' != '/login'",
      'GET http://host/lib/x.js at 3.5 s',
      'lib/python is a folder',
      '0x7fff0000 != 0x7fff0001',
    ]) {
      assert.equal(neutralText(text, run), text);
    }
  });

  it('are the same of two runs of the same', () => {
    const told = (name: string, seconds: string, address: string): string =>
      neutralLog(
        [
          `<A object at 0x${address}>`,
          `Ran 3 tests in ${seconds}s`,
          `=== 1 failed in ${seconds} seconds (0:00:0${seconds}) ===`,
          `rootdir: /cache/pairs/${name}/tree`,
        ].join('\n'),
        of(name),
      ).replace(/\(0:.*\)/, '');
    assert.equal(told('3fa9', '0.123', '7f00aa00bb10'), told('17bc', '10.2', '7fab00aa00bb'));
  });

  it('hold an outcome without how long it took', () => {
    const result = neutralResult(
      {
        test: 'tests/test_a.py::test_x',
        outcome: 'failed',
        seconds: 0.25,
        message: 'no /cache/pairs/3fa9/tree/a.txt',
        comparison: { expected: '/cache/pairs/3fa9/tree', actual: 'b' },
      },
      run,
    );
    assert.deepEqual(result, {
      test: 'tests/test_a.py::test_x',
      outcome: 'failed',
      message: 'no a.txt',
      comparison: { expected: '.', actual: 'b' },
    });
  });
});
