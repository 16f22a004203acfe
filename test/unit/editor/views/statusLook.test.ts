import assert from 'node:assert/strict';
import { commandIds, internalCommandIds } from '../../../../src/editor/shell/names';
import {
  lookOfVerdict,
  lookWithoutVerdict,
  lookWithProblem,
  type StatusLook,
  type WithoutVerdict,
} from '../../../../src/editor/verdict/statusLook';
import { firstResult, shown, strictGrade } from './shownVerdicts';

const idle: WithoutVerdict = {
  step: undefined,
  isRunning: false,
  isCancelling: false,
  soFar: undefined,
  environment: undefined,
  hasCandidate: true,
  revealed: false,
};
/** What is seen of the item; what is said of it has a test of its own. */
function without(more: Partial<WithoutVerdict>): Omit<StatusLook, 'label'> {
  const { label: _, ...look } = lookWithoutVerdict({ ...idle, ...more });
  return look;
}
const withVerdict = (...about: Parameters<typeof shown>): StatusLook =>
  lookOfVerdict(shown(...about));

describe('the status-bar item while something prevents tests from running', () => {
  const problem = { missing: 'python', text: 'Python not found at /x' } as const;

  it('says that first, and keeps what is known', () => {
    const look = lookWithProblem(withVerdict(), problem);
    assert.match(look.text, /^\$\(warning\) No Python · 1 F→P · ΔC /);
    assert.equal(look.command, internalCommandIds.checkEngine);
    assert.match(look.label, /^No Python\. Python not found at \/x\. 1 F→P/);
    const { tooltip } = look;
    assert.ok(typeof tooltip === 'object' && tooltip.markdown.startsWith('Python not found at'));
  });

  it('says so before the first verdict, too', () => {
    const look = lookWithProblem(lookWithoutVerdict(idle), problem);
    assert.equal(look.text, '$(warning) No Python · SWT-Bench: no verdict yet');
  });
});

describe('the status-bar item without a verdict', () => {
  it('asks for a run', () => {
    assert.deepEqual(without({}), {
      text: '$(beaker) SWT-Bench: no verdict yet',
      tooltip: 'Click to run your tests on R and R∘X*',
      command: commandIds.reproduce,
    });
  });

  it('asks for a test where nothing differs from R', () => {
    assert.deepEqual(without({ hasCandidate: false }), {
      text: '$(beaker) SWT-Bench: no candidate yet',
      tooltip: 'Add a test that reproduces the issue. Click to show the issue',
      command: commandIds.showIssue,
    });
  });

  it('names the environment in its tooltip where that is known', () => {
    assert.equal(
      without({ environment: 'docker, python 3.11' }).tooltip,
      'Click to run your tests on R and R∘X*\n\ndocker, python 3.11',
    );
  });

  it('is said without the names of its icons, and with its tooltip', () => {
    const state = { ...idle, environment: 'docker, python 3.11', revealed: true };
    assert.equal(
      lookWithoutVerdict(state).label,
      'SWT-Bench: no verdict yet · revealed. ' +
        'Click to run your tests on R and R∘X*. docker, python 3.11',
    );
  });

  it('says that the golden patch was revealed', () => {
    assert.equal(
      without({ revealed: true }).text,
      '$(beaker) SWT-Bench: no verdict yet · $(eye) revealed',
    );
  });

  it('names the step before the tests run; it leads to the log, and a click cancels a run', () => {
    const look: ReturnType<typeof without> = {
      text: '$(sync~spin) SWT-Bench: pulling the image',
      tooltip: 'Preparing to run the tests. Click to show the log',
      command: commandIds.showLog,
    };
    assert.deepEqual(without({ step: 'pulling the image' }), look);
    assert.deepEqual(without({ step: 'pulling the image', isRunning: true, revealed: true }), {
      ...look,
      tooltip: 'Preparing to run the tests. Click to cancel',
      command: internalCommandIds.cancelRuns,
    });
  });

  it('says where tests run while nothing is known of them, and a click cancels', () => {
    const running = {
      text: '$(sync~spin) SWT-Bench: running on R and R∘X*',
      tooltip: 'Click to cancel',
      command: internalCommandIds.cancelRuns,
    };
    assert.deepEqual(without({ isRunning: true }), running);
    assert.deepEqual(without({ isRunning: true, environment: 'docker' }), {
      ...running,
      tooltip: 'docker\n\nClick to cancel',
    });
    assert.deepEqual(
      without({ isRunning: true, soFar: { first: firstResult({ strict: undefined }) } }),
      running,
    );
  });

  it('says that a run is being cancelled until it has ended', () => {
    const stopping = { isRunning: true, isCancelling: true };
    const look = {
      text: '$(sync~spin) SWT-Bench: canceling the run',
      tooltip: 'Stopping the tests. Click to show the log',
      command: commandIds.showLog,
    };
    assert.deepEqual(without(stopping), look);
    assert.deepEqual(without({ ...stopping, step: 'pulling the image' }), look);
    assert.deepEqual(without({ ...stopping, soFar: { first: firstResult() } }), look);
  });

  it('tells what the own tests did while the whole files run, and a click does not cancel by itself', () => {
    assert.deepEqual(
      without({ isRunning: true, environment: 'x', soFar: { first: firstResult() } }),
      {
        text: '$(sync~spin) 1 F→P · running the other tests',
        tooltip:
          '1 test reproduces the issue; none fail with the fix\n\nClick to show results so far, or to cancel',
        command: commandIds.showVerdict,
      },
    );
  });

  it('is grading where the own tests are the whole files', () => {
    const strict = strictGrade({ success: false, reason: 'passes on R' });
    assert.equal(
      without({ isRunning: true, soFar: { first: firstResult({ strict, whole: true }) } }).text,
      '$(sync~spin) passes on R · grading',
    );
  });
});

describe('the status-bar item with a verdict', () => {
  it('shows a success with its F→P count and ΔC with its fraction', () => {
    const { text, command } = withVerdict();
    assert.equal(text, '$(pass) 1 F→P · ΔC 50 % 1/2');
    assert.equal(command, commandIds.showVerdict);
  });

  it('says that a run has shown nothing new, and when', () => {
    const evaluated = { asBefore: true };
    const look = (current: boolean): string =>
      lookOfVerdict(shown({}, { current, evaluated })).text;
    assert.equal(look(true), '$(pass) 1 F→P · ΔC 50 % 1/2 · unchanged, 14:30');
    assert.equal(look(false), '$(history) 1 F→P · ΔC 50 % 1/2 · out of date');
  });

  it('asks for a run where the environment was chosen after tests could not run', () => {
    const strict = strictGrade({ success: false, reason: 'could not run' });
    const look = (environment: string | undefined): string =>
      lookOfVerdict(shown({ strict, changeCoverage: undefined }, { environment })).text;
    assert.equal(look('python 3.11'), '$(error) could not run · ΔC –');
    assert.equal(look(undefined), '$(history) could not run · ΔC – · run again');
  });

  it('shows the reason of what is no success', () => {
    const strict = strictGrade({ success: false, reason: 'fails on both sides' });
    assert.equal(withVerdict({ strict }).text, '$(error) fails on both sides · ΔC 50 % 1/2');
  });

  it('has a dash for a ΔC that is not known or not defined', () => {
    const none = { lines: [], covered: 0, executable: 0, delta: undefined };
    assert.equal(withVerdict({ changeCoverage: undefined }).text, '$(pass) 1 F→P · ΔC –');
    assert.equal(withVerdict({ changeCoverage: none }).text, '$(pass) 1 F→P · ΔC –');
  });

  it('names a finding', () => {
    const finding = { kind: 'no changed line ran', evidence: [] } as const;
    assert.equal(
      withVerdict({ findings: [finding] }).text,
      '$(pass) 1 F→P · ΔC 50 % 1/2 · ⚠ no changed line ran',
    );
    assert.equal(
      withVerdict({ findings: [finding, finding] }).text,
      '$(pass) 1 F→P · ΔC 50 % 1/2 · ⚠ 2 findings',
    );
  });

  it('passes nothing once the workspace is edited, whatever the verdict was', () => {
    const strict = strictGrade({ success: false, reason: 'passes on R' });
    assert.equal(
      withVerdict({}, { current: false }).text,
      '$(history) 1 F→P · ΔC 50 % 1/2 · out of date',
    );
    assert.equal(
      withVerdict({ strict }, { current: false }).text,
      '$(history) passes on R · ΔC 50 % 1/2 · out of date',
    );
  });

  it('says in one order what makes a reader careful', () => {
    const finding = { kind: 'no changed line ran', evidence: [] } as const;
    const careful = withVerdict(
      { findings: [finding], difference: 'harness not resolved' },
      { current: false, revealed: true },
    );
    assert.equal(
      careful.text,
      '$(history) 1 F→P · ΔC 50 % 1/2 · ⚠ no changed line ran · gradings differ · out of date · $(eye) revealed',
    );
  });

  it('is read out without icons, followed by the sentences of the verdict', () => {
    assert.equal(
      withVerdict({}, { revealed: true }).label,
      [
        '1 F→P · ΔC 50 % 1/2 · revealed',
        '✓ 1 test reproduces the issue; none fail with the fix.',
        'Harness grading agrees: resolved.',
        'Patch applies cleanly (W).',
        'Your tests: 1 F→P.',
        'ΔC 50 % (1/2); golden tests 50 % (1/2).',
        'Ran for 2.3 s at 14:30.',
      ].join(' '),
    );
  });

  it('explains itself in a hover', () => {
    assert.deepEqual(withVerdict().tooltip, {
      markdown: [
        '✓ 1 test reproduces the issue; none fail with the fix.',
        'Harness grading agrees: resolved.',
        'Patch applies cleanly (W).',
        'Your tests: 1 F→P.',
        'ΔC 50 % (1/2); golden tests 50 % (1/2).',
        'Ran for 2.3 s at 14:30.',
        'Click for the next steps.',
      ].join('\n\n'),
    });
  });
});
