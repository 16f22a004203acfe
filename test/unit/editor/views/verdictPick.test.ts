import assert from 'node:assert/strict';
import { commandIds, internalCommandIds } from '../../../../src/editor/shell/names';
import {
  runPick,
  verdictPick,
  type VerdictEntry,
  type VerdictPick,
} from '../../../../src/editor/verdict/verdictPick';
import { verdictSentences } from '../../../../src/editor/verdict/verdictSentences';
import { firstResult, shown, strictGrade } from './shownVerdicts';
import { failed, testCase } from './testCases';

const pick = (...about: Parameters<typeof shown>): VerdictPick => verdictPick(shown(...about));
const textOf = (entry: VerdictEntry): string => ('heading' in entry ? entry.heading : entry.label);
/** The entries below a heading. */
const below = ({ entries }: VerdictPick, heading: string): readonly VerdictEntry[] => {
  const rest = entries.slice(entries.findIndex((each) => textOf(each) === heading) + 1);
  const end = rest.findIndex((each) => 'heading' in each);
  return end === -1 ? rest : rest.slice(0, end);
};
const noSuccess = { strict: strictGrade({ success: false, reason: 'passes on R' }) };

const run: VerdictEntry = {
  label: '$(run-all) Run Tests on R and R∘X*',
  detail: 'Runs all tests again.',
  does: { command: commandIds.reproduce },
};
const save: VerdictEntry = {
  label: '$(export) Export Reproduction…',
  detail: 'Saves patch, prediction and summary.',
  does: { command: commandIds.exportReproduction },
};

describe('the list of a verdict', () => {
  it('offers an environment first where the tests could not run', () => {
    const broken = { strict: strictGrade({ success: false, reason: 'could not run' }) };
    const [first] = below(pick(broken, { environment: 'python 3.11' }), 'Next');
    assert.deepEqual(first, {
      label: '$(package) Create Environment for This Instance',
      detail: 'Uses the Python version and packages of the instance’s date.',
      does: { command: internalCommandIds.makeEnvironment },
    });
    assert.ok(below(pick(noSuccess), 'Next').every((entry) => entry !== first));
    const [inContainers] = below(pick({ ...broken }, { inContainers: true }), 'Next');
    assert.deepEqual(inContainers, run, 'an image is the environment');
  });

  it('offers a run before that where nothing has run with what is chosen now', () => {
    const broken = { strict: strictGrade({ success: false, reason: 'could not run' }) };
    const labels = below(pick(broken), 'Next').map(textOf);
    assert.deepEqual(labels.slice(0, 3), [
      '$(run-all) Run Tests on R and R∘X*',
      '$(package) Create Environment for This Instance',
      '$(export) Export Reproduction…',
    ]);
  });

  it('offers the next steps, an export of a success first', () => {
    assert.deepEqual(below(pick({}, { revealed: true }), 'Next'), [
      save,
      run,
      {
        label: '$(checklist) Show Change Coverage',
        detail: 'Shows the state of each line that the fix changes.',
        does: { command: commandIds.showChangeCoverage },
      },
      {
        label: '$(bug) Check Tests with Mutants…',
        detail: 'Shows which seeded bugs your tests catch.',
        does: { command: commandIds.checkWithMutants },
      },
      {
        label: '$(diff) Compare with Golden Tests…',
        detail: 'Shows both as a diff, with the lines that each covers.',
        does: { command: commandIds.compareWithGolden },
      },
      {
        label: '$(note) Show Verdict as Document',
        detail: 'Lists every test on both sides.',
        does: 'open the document',
      },
    ]);
  });

  it('names each test that keeps it from success, and goes there', () => {
    const [one, two] = [
      'tests/test_cat.py::CatTest::test_purr',
      'tests/test_$(x).py::test_hiss[1]',
    ];
    const strict = strictGrade({
      success: false,
      reason: 'breaks a test',
      anyToFail: [one, two],
    });
    const tests = [testCase({}, failed, one), testCase(failed, failed, two)];
    assert.deepEqual(below(pick({ strict, tests }), 'Tests that fail on R∘X*'), [
      {
        label: 'CatTest › test_purr',
        description: '✗ P→F',
        detail: 'tests/test_cat.py',
        does: { goTo: one },
      },
      {
        label: 'test_hiss[1]',
        description: '✗ F→F',
        detail: 'tests/test_$(x).py',
        does: { goTo: two },
      },
    ]);
    assert.ok(pick().entries.every((entry) => textOf(entry) !== 'Tests that fail on R∘X*'));
  });

  it('offers the failing test first, unless it was edited since or there are many', () => {
    const broken = (count: number) => ({
      strict: strictGrade({
        success: false,
        reason: 'fails on both sides',
        anyToFail: Array.from({ length: count }, (_, at) => `tests/test_cat.py::test_${at}`),
      }),
    });
    const first = (...about: Parameters<typeof shown>) => {
      const [heading] = pick(...about).entries;
      return heading === undefined ? undefined : textOf(heading);
    };
    assert.equal(first(broken(1)), 'Tests that fail on R∘X*');
    assert.equal(first(broken(3)), 'Tests that fail on R∘X*');
    assert.equal(first(broken(4)), 'Next');
    assert.equal(first(broken(1), { current: false }), 'Next');
  });

  it('offers a run first where there is no success, or the workspace was edited since', () => {
    assert.deepEqual(below(pick(noSuccess), 'Next').slice(0, 2), [run, save]);
    assert.deepEqual(below(pick({}, { current: false }), 'Next').slice(0, 2), [run, save]);
  });

  it('says which steps ask before they reveal the golden patch', () => {
    const asking = below(pick(), 'Next').flatMap((entry) =>
      'detail' in entry && entry.detail?.startsWith('Asks before revealing the fix. ')
        ? [entry.does]
        : [],
    );
    assert.deepEqual(asking, [
      { command: commandIds.showChangeCoverage },
      { command: commandIds.checkWithMutants },
      { command: commandIds.compareWithGolden },
    ]);
  });

  it('has each sentence of the verdict, which opens the whole as a document', () => {
    const verdict = shown(noSuccess);
    assert.deepEqual(
      below(verdictPick(verdict), 'Verdict'),
      verdictSentences(verdict).map((label) => ({ label, does: 'open the document' })),
    );
  });

  it('shows no icon that the name of a test or an environment asks for', () => {
    const labels = below(pick({}, { environment: 'python $(flame)' }), 'Verdict').map(textOf);
    assert.equal(labels.at(-1), 'python \\$(flame)');
  });

  it('has the verdict in its title, and the explanation in its box', () => {
    const { title, placeHolder } = pick();
    assert.equal(title, 'Verdict: 1 F→P');
    assert.equal(placeHolder, '1 test reproduces the issue; none fail with the fix');
    assert.equal(pick(noSuccess).title, 'Verdict: passes on R');
    assert.equal(pick({}, { current: false }).title, 'Verdict: 1 F→P (out of date)');
  });

  it('names tests without their files in its box, which cuts long sentences', () => {
    const explanation =
      'tests/test_a.py::test_x, tests/b.py::B::test_y fail on R∘X*; tests/c.py: no pytest';
    const strict = strictGrade({ success: false, reason: 'fails on both sides', explanation });
    assert.equal(
      pick({ strict }).placeHolder,
      'test_x, B::test_y fail on R∘X*; tests/c.py: no pytest',
    );
  });
});

describe('the list while tests run', () => {
  it('cancels only as a choice of its own, below waiting', () => {
    const { title, placeHolder, entries } = runPick(undefined);
    assert.equal(title, 'Tests are running on R and R∘X*');
    assert.equal(placeHolder, 'No test has finished yet');
    assert.deepEqual(
      entries.map(({ does }) => does),
      ['wait', { command: internalCommandIds.cancelRuns }, { command: commandIds.showLog }],
    );
  });

  it('has what the own tests did in its title', () => {
    const { title, placeHolder } = runPick(firstResult());
    assert.equal(title, 'So far: 1 F→P');
    assert.equal(placeHolder, 'Running the other tests in these files');
    assert.equal(
      runPick(firstResult({ whole: true })).placeHolder,
      'All tests have finished. Grading…',
    );
    assert.equal(
      runPick(firstResult({ strict: undefined })).title,
      'Tests are running on R and R∘X*',
    );
  });
});
