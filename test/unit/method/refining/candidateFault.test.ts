import assert from 'node:assert/strict';
import type { TestResult } from '../../../../src/domain/outcome';
import { candidateFault } from '../../../../src/method/refining/candidateFault';
import { faultInPrompt } from '../../../../src/method/refining/faultInPrompt';
import { noTestFound } from '../../../../src/method/view/runOnR';
import { failing, patchStep, runStep } from './examined';

const inR = { path: 'tallybook/money.py', line: 9, function: 'allocate' };
const inTest = { path: 'tests/test_a.py', line: 5, function: 'test_x' };

/** The reason that a single failure is the test's own; undefined when it is not. */
function reasonOf(result: TestResult): string | undefined {
  const fault = candidateFault({ patch: patchStep(), run: runStep([result]) });
  return fault?.kind === 'broken tests' ? fault.tests[0]?.reason : undefined;
}

describe('a fault of a candidate itself', () => {
  const own: readonly [string, Partial<TestResult>, string][] = [
    [
      'an import that does not exist',
      {
        ...{ phase: 'collect', outcome: 'error', exception: 'ModuleNotFoundError' },
        message: "No module named 'tallybook.mony'",
      },
      'import error',
    ],
    [
      'a name that is not there to import, inside of the test',
      { exception: 'ImportError', message: "cannot import name 'Mony' from 'tallybook'" },
      'import error',
    ],
    [
      'a syntax error',
      { phase: 'collect', outcome: 'error', exception: 'SyntaxError', message: 'invalid syntax' },
      'syntax error',
    ],
    [
      'a misspelt name',
      { exception: 'NameError', message: "name 'mony' is not defined" },
      'undefined name',
    ],
    [
      'a missing fixture',
      { phase: 'setup', outcome: 'error', message: "fixture 'purse' not found", frames: [] },
      'fixture error',
    ],
    [
      'a fixture under unittest',
      {
        ...{ exception: 'TypeError', frames: [] },
        message: "A.test_x() missing 1 required positional argument: 'tmp_path'",
      },
      'fixture error',
    ],
    [
      'what else the file raises while it is collected',
      { phase: 'collect', outcome: 'error', exception: 'KeyError', message: "'a'" },
      'collection error',
    ],
  ];
  for (const [name, result, reason] of own) {
    it(`is ${name}`, () => assert.equal(reasonOf(failing(result)), reason));
  }

  const possible: readonly [string, Partial<TestResult>][] = [
    ['a failed assertion', {}],
    ['a failed assertion of a set-up', { phase: 'setup' }],
    ['a failed assertion while the file is collected', { phase: 'collect', outcome: 'error' }],
    ['what the code of R raises', { exception: 'ValueError', frames: [inTest, inR] }],
    [
      'an import that fails in the code of R',
      { phase: 'collect', exception: 'ImportError', message: 'cannot', frames: [inTest, inR] },
    ],
    [
      'a name that the code of R misspells',
      { exception: 'NameError', message: "name 'x' is not defined", frames: [inTest, inR] },
    ],
    [
      'a name that a folder of R with tests misspells',
      {
        ...{ exception: 'NameError', message: "name 'x' is not defined" },
        frames: [inTest, { path: 'tallybook/test/client.py', line: 1, function: 'get' }],
      },
    ],
    [
      'an attribute that may be what the report asks for',
      { exception: 'AttributeError', message: "'Money' object has no attribute 'split'" },
    ],
    [
      'a parameter that may be what the report asks for',
      { exception: 'TypeError', message: "f() got an unexpected keyword argument 'exact'" },
    ],
    ['a set-up that raises something', { phase: 'setup', exception: 'ValueError' }],
    ['a test that passes', { outcome: 'passed', exception: 'NameError' }],
  ];
  for (const [name, result] of possible) {
    it(`is not ${name}`, () => assert.equal(reasonOf(failing(result)), undefined));
  }

  it('is none where nobody knows where it was raised', () => {
    const { frames: _, ...unknown } = failing({
      ...{ exception: 'ImportError', message: "No module named 'a'" },
    });
    assert.equal(reasonOf(unknown), undefined);
  });

  it('is none that R has without the candidate', () => {
    const broken = failing({ exception: 'NameError', message: "name 'x' is not defined" });
    const run = runStep([broken], { failingBefore: [broken.test] });
    assert.equal(candidateFault({ patch: patchStep(), run }), undefined);
  });

  it('is a patch that does not apply, or that has no test', () => {
    const patch = patchStep({ applies: false, problem: 'no hunk fits' });
    assert.equal(candidateFault({ patch })?.kind, 'does not apply');
    const none = patchStep({ problem: 'the patch touches no Python test file' });
    assert.equal(candidateFault({ patch: none })?.kind, 'no test');
    assert.equal(candidateFault({ patch: patchStep() }), undefined);
  });

  it('is that nothing is collected, where the run came to its end', () => {
    const of = (problem?: string) =>
      candidateFault({
        patch: patchStep(),
        run: runStep([], { ...(problem !== undefined && { problem }) }),
      })?.kind;
    assert.equal(of(), 'no test');
    assert.equal(of(noTestFound), 'no test');
    assert.equal(of('stopped at the time limit after … s'), undefined);
    assert.equal(of("python: can't open file 'bin/test'"), undefined);
  });

  it('is told to the model with its tests alone, and within bounds', () => {
    const name = failing({ exception: 'NameError', message: 'NAME', test: 't.py::test_name' });
    const others = Array.from({ length: 9 }, (_, at) => ({
      ...name,
      frames: [],
      test: `t.py::test_${at}`,
      details: 'x'.repeat(100),
    }));
    const fault = candidateFault({ patch: patchStep(), run: runStep([failing(), ...others]) });
    assert.ok(fault);
    const text = faultInPrompt(fault).join('\n');
    assert.match(text, /undefined name/);
    assert.match(text, /test_4/);
    assert.doesNotMatch(text, /test_5|test_x/);
    const long = patchStep({
      ...{ applies: false, problem: 'p'.repeat(5000) },
      diagnostics: Array.from({ length: 50 }, (_, line) => ({
        ...{ severity: 'error' as const, line },
        message: 'm'.repeat(5000),
      })),
    });
    const wide = candidateFault({ patch: long });
    assert.ok(wide);
    assert.ok(faultInPrompt(wide).join('\n').length < 7000);
  });
});
