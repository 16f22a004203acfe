import assert from 'node:assert/strict';
import { commandIds } from '../../../../src/editor/shell/names';
import {
  verdictPick,
  type VerdictEntry,
  type VerdictPick,
} from '../../../../src/editor/verdict/verdictPick';
import { verdictSentences } from '../../../../src/editor/verdict/verdictSentences';
import { english } from './english';
import { shown, strictGrade } from './shownVerdicts';
import { failed, testCase } from './testCases';

const pick = (...about: Parameters<typeof shown>): VerdictPick =>
  verdictPick(english, shown(...about));
const textOf = (entry: VerdictEntry): string => ('heading' in entry ? entry.heading : entry.label);
/** The entries below a heading. */
const below = ({ entries }: VerdictPick, heading: string): readonly VerdictEntry[] => {
  const rest = entries.slice(entries.findIndex((each) => textOf(each) === heading) + 1);
  const end = rest.findIndex((each) => 'heading' in each);
  return end === -1 ? rest : rest.slice(0, end);
};
const noSuccess = { strict: strictGrade({ success: false, reason: 'passes on R' }) };

const run: VerdictEntry = {
  label: '$(run-all) Reproduce on R and R∘X*',
  detail: 'Runs everything again.',
  does: { command: commandIds.reproduce },
};
const save: VerdictEntry = {
  label: '$(export) Export Reference Reproduction…',
  detail: 'Patch, prediction and note.',
  does: { command: commandIds.exportReproduction },
};

describe('the list of a verdict', () => {
  it('offers an environment first where the tests could not run', () => {
    const broken = { strict: strictGrade({ success: false, reason: 'could not run' }) };
    const [first] = below(pick({ ...broken }), 'Next');
    assert.deepEqual(first, {
      label: '$(package) Make Environment for This Instance',
      detail: 'Its Python, with its requirements as of its day.',
      does: { command: commandIds.makeEnvironment },
    });
    assert.ok(below(pick(noSuccess), 'Next').every((entry) => entry !== first));
    const [inContainers] = below(pick({ ...broken }, { inContainers: true }), 'Next');
    assert.deepEqual(inContainers, run, 'an image is the environment');
  });

  it('offers the next steps, an export of a success first', () => {
    assert.deepEqual(below(pick({}, { revealed: true }), 'Next'), [
      save,
      run,
      {
        label: '$(checklist) Show Change Coverage',
        detail: 'The state of every changed line.',
        does: { command: commandIds.showChangeCoverage },
      },
      {
        label: '$(bug) Check Candidate with Mutants',
        detail: 'Which small faults in the fix its tests notice.',
        does: { command: commandIds.checkWithMutants },
      },
      {
        label: '$(diff) Compare with Golden Tests…',
        detail: 'Both as a diff, and what each covers.',
        does: { command: commandIds.compareWithGolden },
      },
      {
        label: '$(note) Show the Verdict as a Document',
        detail: 'With every test on both sides.',
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

  it('offers a run first where there is no success, or the workspace was edited since', () => {
    assert.deepEqual(below(pick(noSuccess), 'Next').slice(0, 2), [run, save]);
    assert.deepEqual(below(pick({}, { current: false }), 'Next').slice(0, 2), [run, save]);
  });

  it('says which steps ask before they reveal the golden patch', () => {
    const asking = below(pick(), 'Next').flatMap((entry) =>
      'detail' in entry && entry.detail?.startsWith('Asks before it reveals the golden patch. ')
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
      below(verdictPick(english, verdict), 'Verdict'),
      verdictSentences(english, verdict).map((label) => ({ label, does: 'open the document' })),
    );
  });

  it('shows no icon that the name of a test or an environment asks for', () => {
    const labels = below(pick({}, { environment: 'python $(flame)' }), 'Verdict').map(textOf);
    assert.equal(labels.at(-1), 'python \\$(flame)');
  });

  it('has the verdict in its title, and the explanation in its box', () => {
    const { title, placeHolder } = pick();
    assert.equal(title, 'Verdict: 1 F→P');
    assert.equal(placeHolder, '1 test F→P and none fails after the fix');
    assert.equal(pick(noSuccess).title, 'Verdict: passes on R');
    assert.equal(pick({}, { current: false }).title, 'Verdict: 1 F→P, edited since');
  });
});
