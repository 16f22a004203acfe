import assert from 'node:assert/strict';
import { inlineCommandIds } from '../../../../src/editor/shell/names';
import { lensLooks, placesOfLenses } from '../../../../src/editor/testing/lensLooks';
import { english } from './english';

const test = (id: string, status: 'added' | 'changed' | 'kept', startLine: number) => ({
  id,
  status,
  defLine: startLine + 1,
  range: { start: 0, end: 1, startLine, endLine: startLine + 3 },
});

describe('lenses above tests', () => {
  it('run a test of the candidate in four ways, in this order', () => {
    const at = { line: 5, test: 'a.py::t' };
    assert.deepEqual(lensLooks(english, [test('a.py::t', 'added', 5)]), [
      {
        ...at,
        title: 'Reproduce',
        tooltip: 'Run this test on R and on R∘X*',
        command: inlineCommandIds.reproduce,
      },
      { ...at, title: 'R', tooltip: 'Run this test on R', command: inlineCommandIds.runOnR },
      {
        ...at,
        title: 'R∘X*',
        tooltip: 'Run this test on R∘X*',
        command: inlineCommandIds.runOnFixed,
      },
      {
        ...at,
        title: 'Debug',
        tooltip: 'Debug this test on R',
        command: inlineCommandIds.debugOnR,
      },
    ]);
  });

  it('stand above changed tests too, and not above those of R', () => {
    const tests = [test('a', 'kept', 1), test('b', 'changed', 9), test('c', 'added', 20)];
    assert.deepEqual(
      [...new Set(lensLooks(english, tests).map((each) => `${each.line} ${each.test}`))],
      ['9 b', '20 c'],
    );
    assert.deepEqual(lensLooks(english, []), []);
  });

  it('have moved when a test of the candidate has', () => {
    const file = (...tests: ReturnType<typeof test>[]) => ({ tests });
    const places = placesOfLenses([file(test('a', 'kept', 1), test('b', 'added', 9))]);
    assert.equal(places, '10 b');
    assert.equal(placesOfLenses([file(test('a', 'kept', 2), test('b', 'added', 9))]), places);
    assert.equal(
      placesOfLenses([file(test('b', 'added', 10)), file(test('c', 'changed', 1))]),
      '11 b\n2 c',
    );
  });
});
