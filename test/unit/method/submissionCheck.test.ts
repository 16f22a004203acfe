import assert from 'node:assert/strict';
import { silent } from '../../../src/domain/work';
import type { ModelView } from '../../../src/method/modelView';
import {
  checkSubmission,
  submissionQuestions,
  type SubmissionAnswer,
  type SubmissionCheck,
} from '../../../src/method/submission/submissionCheck';
import { submissionCheckText } from '../../../src/method/submission/submissionCheckText';
import { TestsCannotRun } from '../../../src/method/testsOfModels';
import { submissionPick } from '../../../src/editor/verdict/submissionPick';
import { addedFile, viewForTests } from './sampleView';

const options = { timeoutSeconds: 60, reporter: silent } as const;

describe('the check before submitting', () => {
  const sample = viewForTests();

  const check = (candidate: string, view: ModelView = sample.view): Promise<SubmissionCheck> =>
    checkSubmission(view, candidate, options);

  const answers = ({ questions }: SubmissionCheck): SubmissionAnswer[] =>
    questions.map(({ answer }) => answer);

  const textOf = ({ questions }: SubmissionCheck, asked: string): string =>
    questions.find(({ question }) => question === asked)?.text ?? '';

  /** A file of tests with one test of this body. */
  const test = (...body: string[]): string =>
    addedFile(
      ...(['tests/test_new.py', 'import unittest', 'from tallybook.money import Money'] as const),
      ...['class NewTest(unittest.TestCase):', '    def test_new(self):'],
      ...body.map((line) => `        ${line}`),
    );
  const failing = 'assert Money(2000).allocate([1, 1, 1])[2].cents == 666';

  /** Replaces a line of R's tests. */
  const changed = async (before: RegExp, after: string): Promise<string> => {
    const path = 'tests/test_money.py';
    const lines = ((await sample.view.tree.read(path)) ?? '').split('\n');
    const at = lines.findIndex((line) => before.test(line));
    assert.ok(at > 0);
    const [above, line, below] = lines.slice(at - 1, at + 2);
    return `--- a/${path}\n+++ b/${path}\n@@ -${at},3 +${at},3 @@\n ${above}\n-${line}\n+${after}\n ${below}\n`;
  };

  /** Adds lines at the end of R's tests. */
  const appended = async (...added: string[]): Promise<string> => {
    const path = 'tests/test_money.py';
    const lines = ((await sample.view.tree.read(path)) ?? '').trimEnd().split('\n');
    const last = lines.length;
    const head = `--- a/${path}\n+++ b/${path}\n@@ -${last} +${last},${added.length + 1} @@\n`;
    return `${head} ${lines.at(-1)}\n${added.map((line) => `+${line}\n`).join('')}`;
  };

  it('is ready with a test that fails on R by an assertion', async () => {
    const made = await check(test(failing));
    assert.equal(made.conclusion, 'ready');
    assert.deepEqual(
      answers(made),
      submissionQuestions.map(() => 'yes'),
    );
    assert.equal(textOf(made, 'fails on R'), 'Its test fails on R.');
  });

  it('answers nothing more where there is no candidate, or it does not apply', async () => {
    for (const [candidate, why] of [
      ['', /There is no candidate yet/],
      ['no patch at all', /It does not apply to R/],
    ] as const) {
      const made = await check(candidate);
      assert.equal(made.conclusion, 'not ready');
      assert.deepEqual(answers(made), ['no', ...Array<string>(6).fill('unknown')]);
      assert.match(textOf(made, 'applies'), why);
    }
  });

  it('names files that are no tests, and a test that passes', async () => {
    const made = await check(
      `${test('assert Money(1).cents == 1')}${addedFile('tallybook/extra.py', 'x = 1')}`,
    );
    assert.equal(made.conclusion, 'not ready');
    assert.match(textOf(made, 'only tests'), /tallybook\/extra\.py/);
    assert.match(textOf(made, 'fails on R'), /None of its tests fail on R/);
    assert.match(submissionCheckText(made), /\nNot checked: related failure\.$/);
  });

  it('says where a file is not Python', async () => {
    const made = await check(addedFile('tests/test_new.py', 'def test_new(:', '    pass'));
    assert.match(textOf(made, 'has tests'), /tests\/test_new\.py has a syntax error in line 1/);
    assert.equal(made.conclusion, 'not ready');
  });

  it('doubts failures by an import or a name, and tests that are skipped', async () => {
    const imported = await check(test('import tallybook.nowhere'));
    assert.equal(imported.conclusion, 'look again');
    assert.match(textOf(imported, 'related failure'), /import error \(tallybook\.nowhere\)/);
    const skipped = await check(
      addedFile(
        ...(['tests/test_new.py', 'import unittest', 'class A(unittest.TestCase):'] as const),
        ...['    @unittest.skip("no")', '    def test_skipped(self): pass'],
        ...['    def test_failing(self): self.fail()'],
      ),
    );
    assert.equal(skipped.conclusion, 'look again');
    assert.match(textOf(skipped, 'collected'), /test_skipped \(skipped\)/);
  });

  it('names tests of R that it breaks or removes', async () => {
    const money = await changed(/^from tallybook/, 'Money = None');
    const broken = await check(`${money}${test(failing)}`);
    assert.equal(broken.conclusion, 'look again');
    assert.match(
      textOf(broken, 'existing tests'),
      /^It changes existing tests that pass without it/,
    );
    const spoiling = await check(
      await appended(
        ...(['class NewTest(unittest.TestCase):', '    def test_new(self): self.fail()'] as const),
        "delattr(AllocateTest, 'test_equal_parts')",
      ),
    );
    assert.equal(spoiling.conclusion, 'not ready');
    assert.match(
      textOf(spoiling, 'existing tests'),
      /^Existing tests are removed from tests\/test_money\.py: [^,]*test_equal_parts\.$/,
    );
    const removed = await check(
      await changed(/^ {4}def test_equal_parts/, '    def equal_parts(self):'),
    );
    assert.equal(removed.conclusion, 'not ready');
    assert.match(
      textOf(removed, 'existing tests'),
      /^Existing tests are removed from tests\/test_money\.py: .*test_equal_parts\.$/,
    );
  });

  it('is incomplete where tests cannot be run, and shows no reason of this machine', async () => {
    const made = await check(test(failing), {
      ...sample.view,
      runOnR: () => Promise.reject(new TestsCannotRun('secret image', 'do something')),
    });
    assert.equal(made.conclusion, 'incomplete');
    assert.doesNotMatch(JSON.stringify(made), /secret/);
  });

  it('is shown as a list in which names of tests are no icons', async () => {
    const made = await check(test(failing));
    const { title, entries } = submissionPick({
      ...made,
      questions: made.questions.map((each) => ({ ...each, text: 'a $(bug) b' })),
    });
    assert.equal(title, 'Ready to Submit');
    assert.equal(entries.length, submissionQuestions.length);
    assert.deepEqual(entries[0], { label: '$(pass) Applies to R: yes', detail: 'a \\$(bug) b' });
  });
});
