import assert from 'node:assert/strict';
import fc from 'fast-check';
import { recipeOf } from '../../../src/environments/recipes';
import { isInVersionRange } from '../../../src/domain/instance';

const version = fc
  .array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 3 })
  .map((numbers) => numbers.join('.'));

describe('recipes', () => {
  it('gives the usual recipe for a repository that the table does not have', () => {
    const recipe = recipeOf('octo/cat', '1.0');
    assert.equal(recipe.runner, 'pytest');
    assert.equal(recipe.install, 'editable');
    assert.deepEqual(recipe.packages, []);
    assert.deepEqual(recipeOf('octo/cat', ''), recipe);
  });

  it('takes the Python that a version of Django runs on', () => {
    const pythons = ['1.11', '3.0', '3.2', '4.0', '4.1', '4.2', '5.0', '5.2'].map(
      (version) => recipeOf('django/django', version).python,
    );
    assert.deepEqual(pythons, ['3.6', '3.6', '3.6', '3.8', '3.9', '3.9', '3.11', '3.11']);
  });

  it('runs Sphinx by tox, but by pytest where its tox.ini runs nose', () => {
    const runners = ['1.4', '1.5', '1.6', '3.5', ''].map(
      (version) => recipeOf('sphinx-doc/sphinx', version).runner,
    );
    assert.deepEqual(runners, ['pytest', 'pytest', 'tox', 'tox', 'tox']);
  });

  it('has the log of old astropy as the reference harness reads it', () => {
    assert.ok(recipeOf('astropy/astropy', '1.3').testArguments.includes('-vv'));
    assert.deepEqual(recipeOf('astropy/astropy', '3.0').testArguments, []);
    assert.equal(recipeOf('astropy/astropy', '1.3').python, '3.6');
  });

  it('takes for granted what holds for all versions where a row has none', () => {
    assert.equal(recipeOf('django/django', '').runner, 'django');
    assert.equal(recipeOf('django/django', '').python, '3.9');
  });

  it('compares versions by their numbers, not as text', () => {
    assert.ok(isInVersionRange('1.10', '1.9-'));
    assert.ok(!isInVersionRange('1.9', '1.10-'));
    assert.equal(recipeOf('pallets/flask', '2.10').python, '3.11');
  });

  it('does not hand out the notes for readers, nor the ranges', () => {
    const recipe = recipeOf('sympy/sympy', '1.0');
    assert.ok(!('notes' in recipe));
    assert.ok(!('versions' in recipe));
  });

  it('finds every version within itself, and within what is open beyond it', () => {
    fc.assert(
      fc.property(version, (one) => {
        assert.ok(isInVersionRange(one, one));
        assert.ok(isInVersionRange(one, `${one}-`));
        assert.ok(isInVersionRange(one, `-${one}`));
        assert.ok(isInVersionRange(one, `${one}-${one}`));
      }),
    );
  });

  it('splits all versions at any version into those before and after it', () => {
    fc.assert(
      fc.property(version, version, (one, other) => {
        const after = isInVersionRange(one, `${other}-`);
        const before = isInVersionRange(one, `-${other}`);
        assert.ok(after || before);
        assert.equal(after && before, isInVersionRange(one, other));
        assert.equal(isInVersionRange(other, `-${one}`), after);
      }),
    );
  });

  it('does not care for zeros at the end of a version', () => {
    fc.assert(
      fc.property(version, version, (one, other) => {
        for (const range of [`${other}-`, `-${other}`, other]) {
          assert.equal(isInVersionRange(`${one}.0`, range), isInVersionRange(one, range));
        }
      }),
    );
  });
});
