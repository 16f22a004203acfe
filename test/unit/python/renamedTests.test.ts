import assert from 'node:assert/strict';
import { renamedTests } from '../../../src/python/changedTests';

const test = (id: string, text: string) => ({ id, name: id.split('::').at(-1) ?? '', text });
const body = (name: string, rest = '    assert add(1, 2) == 3') => `def ${name}():\n${rest}`;

describe('renamedTests', () => {
  it('finds a test whose name alone was changed', () => {
    const before = new Map([['tests/a.py::test_sum', body('test_sum')]]);
    const now = [test('tests/a.py::test_total', body('test_total'))];
    assert.deepEqual(
      [...renamedTests(now, before)],
      [['tests/a.py::test_total', 'tests/a.py::test_sum']],
    );
  });

  it('finds it with decorators, and as an async method of a class', () => {
    const text = (name: string) =>
      `@pytest.mark.parametrize("x", [1])\n    async def ${name}(self, x):\n        pass`;
    const before = new Map([['a.py::A::test_x', text('test_x')]]);
    const now = [test('a.py::A::test_y', text('test_y'))];
    assert.equal(renamedTests(now, before).get('a.py::A::test_y'), 'a.py::A::test_x');
  });

  it('takes no test whose body differs, which has moved, or which is still there', () => {
    const before = new Map([
      ['a.py::A::test_x', body('test_x')],
      ['a.py::test_there', body('test_there', '    pass')],
    ]);
    for (const id of ['a.py::B::test_y', 'b.py::A::test_y', 'a.py::test_y']) {
      assert.equal(renamedTests([test(id, body('test_y'))], before).size, 0, id);
    }
    const other = test('a.py::A::test_y', body('test_y', '    assert add(1, 2) == 4'));
    assert.equal(renamedTests([other], before).size, 0);
    const now = [
      test('a.py::test_there', body('test_there', '    pass')),
      test('a.py::test_copy', body('test_copy', '    pass')),
    ];
    assert.equal(renamedTests(now, before).size, 0, 'a copy beside it');
  });

  it('does not choose between two', () => {
    const twins = new Map([
      ['a.py::test_1', body('test_1')],
      ['a.py::test_2', body('test_2')],
    ]);
    assert.equal(renamedTests([test('a.py::test_x', body('test_x'))], twins).size, 0);
    const one = new Map([['a.py::test_1', body('test_1')]]);
    const now = ['x', 'y', 'z'].map((name) => test(`a.py::test_${name}`, body(`test_${name}`)));
    assert.equal(renamedTests(now, one).size, 0);
  });

  it('leaves other places where the name stands alone', () => {
    const recursive = (name: string, inner: string) => `def ${name}():\n    ${inner}()`;
    const before = new Map([['a.py::test_1', recursive('test_1', 'test_1')]]);
    const now = [test('a.py::test_2', recursive('test_2', 'test_2'))];
    assert.equal(renamedTests(now, before).size, 0, 'it calls something else now');
  });
});
