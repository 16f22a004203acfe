import assert from 'node:assert/strict';
import type { MutantResults, TestedMutant } from '../../../../src/mutation/mutantSchema';
import {
  faultInWords,
  mutantHoverParts,
  mutantRows,
  mutantSentences,
  mutantsAt,
  shownMutants,
} from '../../../../src/editor/coverage/mutantTexts';

const mutant = (more: Partial<TestedMutant>): TestedMutant => ({
  ...{ path: 'a.py', line: 5, column: 8, operator: 'number', before: '1', after: '2' },
  ...{ status: 'survived', killedBy: [] },
  ...more,
});
const killed = mutant({ status: 'killed', killedBy: ['t.py::test_a'], before: '<', after: '<=' });
const late = mutant({ status: 'timed out', killedBy: ['t.py::test_b'], line: 6 });
const lives = mutant({});
const missed = mutant({ status: 'not covered', line: 7, operator: 'decorator removed', after: '' });
const results: MutantResults = { made: 9, tested: [killed, lives, late, missed] };

describe('the texts of mutants', () => {
  it('give in the hover of a line its mutants, with their fate and code', () => {
    assert.deepEqual(mutantHoverParts([killed, lives]), [
      { between: 'sections' },
      { plain: 'Mutants of this line that your tests kill: 1 of 2' },
      { code: '✓ killed    < → <=\n✗ survived  1 → 2' },
    ]);
    assert.deepEqual(mutantHoverParts([]), []);
  });

  it('name at most a dozen mutants in one hover', () => {
    const parts = mutantHoverParts(Array.from({ length: 15 }, () => lives));
    const code = parts.flatMap((part) => ('code' in part ? part.code.split('\n') : []));
    assert.equal(code.length, 13);
    assert.equal(code.at(-1), 'and 3 more');
  });

  it('are on one line each, whatever the code has', () => {
    const odd = mutant({ before: 'f(a,\n      \u001b[31mb)', after: 'x'.repeat(100) });
    const text = faultInWords(odd);
    assert.match(text, /^f\(a, +\[31mb\) → x{59}…$/);
    assert.equal(faultInWords(missed), '1 → (removed)');
  });

  it('give the score with its denominators, and say that it is of a sample', () => {
    assert.deepEqual(mutantSentences(results, ['t.py::test_a']), [
      'Mutants killed 50 % (2/4), by F→P tests 1; survived 1, not covered 1.',
      'These are a sample of 4 of 9 mutants.',
    ]);
    assert.deepEqual(mutantSentences({ made: 0, tested: [] }, []), [
      'Mutants killed undefined (no mutants), by F→P tests 0; survived 0, not covered 0.',
    ]);
  });

  it('list those that live first, and show no icon that code asks for', () => {
    const sly = mutant({ before: '"$(flame)"', after: '""' });
    const rows = mutantRows({ made: 5, tested: [...results.tested, sly] });
    assert.deepEqual(
      rows.map((row) => ('heading' in row ? row.heading : row.label)),
      [
        'Survived',
        '✗ 1 → 2',
        '✗ "\\$(flame)" → ""',
        'Not covered',
        '– 1 → (removed)',
        'Killed',
        '✓ < → <=',
        '✓ 1 → 2',
      ],
    );
  });
});

describe('the mutants that are shown', () => {
  const open = (revealed: boolean) =>
    ({ revealed, last: { mutants: results } }) as unknown as Parameters<typeof shownMutants>[0];

  it('are none while the golden patch is hidden', () => {
    assert.equal(shownMutants(open(false)), undefined);
    assert.equal(shownMutants(open(true)), results);
  });

  it('belong to the added lines where they begin', () => {
    const at = (change: 'added' | 'removed', line: number, path = 'a.py') =>
      mutantsAt(results, { change, path, line });
    assert.deepEqual(at('added', 5), [killed, lives]);
    assert.deepEqual(at('removed', 5), []);
    assert.deepEqual(at('added', 5, 'b.py'), []);
    assert.deepEqual(mutantsAt(undefined, { change: 'added', path: 'a.py', line: 5 }), []);
  });
});
