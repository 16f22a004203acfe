import assert from 'node:assert/strict';
import { silent } from '../../../../src/domain/work';
import { candidateFault } from '../../../../src/method/refining/candidateFault';
import { addedFile, viewForTests } from '../sampleView';
import { patchStep, runStep } from './examined';

describe('the faults of candidates that run on R', () => {
  const sample = viewForTests();

  /** The fault of a new test file, as its reason or its kind; undefined for none. */
  async function faultOf(path: string, ...lines: string[]): Promise<string | undefined> {
    const candidate = addedFile(path, ...lines);
    const options = { timeoutSeconds: 60, reporter: silent } as const;
    const { applies, problem, patch } = await sample.view.read(candidate);
    const run = await sample.view.runOnR(candidate, options);
    const fault = candidateFault({
      patch: patchStep({ applies, patch, ...(problem !== undefined && { problem }) }),
      run: runStep(run.tests, { ...(run.problem !== undefined && { problem: run.problem }) }),
    });
    return fault?.kind === 'broken tests' ? fault.tests[0]?.reason : fault?.kind;
  }
  const method = (name: string, ...body: string[]): string[] => [
    ...[
      'import unittest',
      'from tallybook.money import Money',
      '',
      'class ATest(unittest.TestCase):',
    ],
    ...[`    def ${name}:`, ...body.map((line) => `        ${line}`)],
  ];

  it('are told apart from what may be the reproduction', async () => {
    const path = 'tests/test_a.py';
    const faults: readonly [string | undefined, readonly string[]][] = [
      ['syntax error', method('test_x(self)', 'self.assertEqual(1')],
      ['import error', method('test_x(self)', 'import tallybook.mony')],
      ['undefined name', method('test_x(self)', 'Mony(1)')],
      ['fixture error', method('test_x(self, tmp_path)', 'pass')],
      ['collection error', [...method('test_x(self)', 'pass'), '{}["a"]']],
      ['no test', method('check(self)', 'pass')],
      ['no test', ['class A:', '    pass']],
      [undefined, method('test_x(self)', 'self.assertEqual(Money(1), Money(2))')],
      [undefined, method('test_x(self)', 'Money.parse("no amount")')],
      [undefined, method('test_x(self)', 'Money(1).split()')],
      [undefined, method('test_x(self)', 'pass')],
      [undefined, [...method('test_x(self)', 'pass'), 'Money.parse("no amount")']],
    ];
    for (const [expected, lines] of faults) {
      assert.equal(await faultOf(path, ...lines), expected, lines.join('\n'));
    }
  });

  it('count a file that is no test', async () => {
    assert.equal(await faultOf('tallybook/reproduce.py', 'x = 1'), 'no test');
  });
});
