import assert from 'node:assert/strict';
import type { CandidateResult } from '../../../../src/evaluation/candidateResult';
import { instanceRows, type InstanceAtAGlance } from '../../../../src/editor/instance/instanceRows';
import { commandIds, internalCommandIds } from '../../../../src/editor/shell/names';
import type { TreeRow } from '../../../../src/editor/shell/treeRow';
import { candidateResult } from '../../evaluation/examples';
import { strictGrade } from './shownVerdicts';

const fresh: InstanceAtAGlance = {
  issue: 'Shares do not add up',
  problem: undefined,
  isRunning: false,
  isCancelling: false,
  step: undefined,
  environment: { runsWith: undefined, isContainer: false, step: undefined, last: undefined },
  result: undefined,
  current: true,
  hasCandidate: true,
  revealed: false,
};

const rows = (more: Partial<InstanceAtAGlance> = {}): TreeRow[] =>
  instanceRows({ ...fresh, ...more });

function row(label: string, more: Partial<InstanceAtAGlance> = {}): TreeRow {
  const found = rows(more).find((each) => each.label === label);
  assert.ok(found, label);
  return found;
}
const candidate = (more: Partial<InstanceAtAGlance>): TreeRow => row('Candidate', more);
const coverage = (more: Partial<InstanceAtAGlance>): TreeRow => row('Change coverage', more);
const graded = (more: Partial<CandidateResult> = {}): Partial<InstanceAtAGlance> => ({
  result: candidateResult(more),
});

/** A row as this view makes it from its content. */
const complete = (
  shown: Required<Pick<TreeRow, 'label' | 'description' | 'tooltip' | 'icon'>>,
  command: string,
): TreeRow => ({
  ...shown,
  command: { command, title: shown.label },
  spoken: `${shown.label}: ${shown.description}. ${shown.tooltip}`,
});

describe('the view of the open instance', () => {
  it('has a row for issue, candidate, coverage, golden patch and environment, in this order', () => {
    assert.deepEqual(rows(), [
      complete(
        {
          label: 'Issue',
          description: 'Shares do not add up',
          tooltip: 'Shows what the tests should reproduce',
          icon: { id: 'issues' },
        },
        commandIds.showIssue,
      ),
      complete(
        {
          label: 'Candidate',
          description: 'no verdict yet: run the tests',
          tooltip: 'Write a test that fails on R, then run it',
          icon: { id: 'beaker' },
        },
        commandIds.reproduce,
      ),
      complete(
        {
          label: 'Change coverage',
          description: 'available after a run',
          tooltip: 'Lines of the fix that your tests cover',
          icon: { id: 'checklist' },
        },
        commandIds.showChangeCoverage,
      ),
      complete(
        {
          label: 'Fix, golden tests, hints',
          description: 'hidden',
          tooltip: 'Reveals the fix, golden tests and later hints',
          icon: { id: 'eye-closed' },
        },
        commandIds.reveal,
      ),
      complete(
        {
          label: 'Environment',
          description: 'available after a run',
          tooltip: 'Select the environment of the tests',
          icon: { id: 'server-environment' },
        },
        commandIds.environment,
      ),
    ]);
  });

  it('keeps what came of the environment last, and says how far its making is', () => {
    const shows = (more: Partial<InstanceAtAGlance['environment']>) => {
      const { description, tooltip, icon, command } = row('Environment', {
        environment: { ...fresh.environment, ...more },
      });
      return [description, tooltip, icon, command?.command];
    };
    const last = 'Made at noon: /x/bin/python';
    const icon = { id: 'server-environment' };
    assert.deepEqual(shows({ last }), [
      last,
      `${last}\nSelect the environment of the tests`,
      icon,
      commandIds.environment,
    ]);
    const runsWith = 'local engine, CPython 3.9, pytest 8';
    assert.deepEqual(shows({ last, runsWith }).slice(0, 2), [
      'CPython 3.9 · local engine',
      `${runsWith}\n${last}\nSelect the environment of the tests`,
    ]);
    assert.deepEqual(shows({ runsWith: 'docker', isContainer: true }), [
      'docker',
      'docker\nDetect again',
      icon,
      internalCommandIds.checkEngine,
    ]);
    assert.deepEqual(shows({ step: 'installing', last }).slice(0, 3), [
      'being created: installing',
      `${last}\nSelect the environment of the tests`,
      { id: 'sync~spin' },
    ]);
  });

  it('reads out what its icons tell', () => {
    assert.equal(
      candidate(graded()).spoken,
      'Candidate: reproduces the issue (F→P). 1 test reproduces the issue; none fail with the fix',
    );
  });

  for (const [missing, label] of [
    ['python', 'No Python'],
    ['docker', 'No container engine'],
  ] as const) {
    it(`says at the top what keeps tests from running: ${missing}`, () => {
      const all = rows({ problem: { missing, text: 'looked everywhere' } });
      assert.equal(all.length, 6);
      assert.deepEqual(
        all[0],
        complete(
          {
            label,
            description: 'tests cannot run; click to check again',
            tooltip: 'looked everywhere',
            icon: { id: 'warning', colour: 'list.warningForeground' },
          },
          internalCommandIds.checkEngine,
        ),
      );
    });
  }

  it('shows the first line of the issue, without what cannot be seen', () => {
    const issue = (text: string): string | undefined => row('Issue', { issue: text }).description;
    assert.equal(issue('\n\n  First\nSecond'), 'First');
    assert.equal(issue('a\u202eb\tc'), 'a b c');
    assert.equal(issue(''), '');
  });

  it('leads to what hides the golden patch again once it is revealed', () => {
    assert.deepEqual(
      row('Fix, golden tests, hints', { revealed: true }),
      complete(
        {
          label: 'Fix, golden tests, hints',
          description: 'revealed',
          tooltip: 'Hides the fix, golden tests and later hints again',
          icon: { id: 'eye' },
        },
        commandIds.hideGolden,
      ),
    );
  });
});

describe('the row of the candidate', () => {
  const shows = (more: Partial<InstanceAtAGlance>) => {
    const { description, tooltip, icon, command } = candidate(more);
    assert.equal(command?.command, commandIds.reproduce);
    return { description, tooltip, icon };
  };

  it('shows a success', () => {
    assert.deepEqual(shows(graded()), {
      description: 'reproduces the issue (F→P)',
      tooltip: '1 test reproduces the issue; none fail with the fix',
      icon: { id: 'pass', colour: 'testing.iconPassed' },
    });
  });

  it('shows the reason of what is no success', () => {
    const strict = strictGrade({
      success: false,
      reason: 'passes on R',
      explanation: 'none fails',
    });
    assert.deepEqual(shows(graded({ strict })), {
      description: 'passes on R',
      tooltip: 'none fails',
      icon: { id: 'error', colour: 'testing.iconFailed' },
    });
  });

  it('has findings in front, and says them in the tooltip', () => {
    const findings = [
      { kind: 'no changed line ran', evidence: ['x'] },
      { kind: 'edits what runs tests', evidence: [] },
    ] as const;
    assert.deepEqual(shows(graded({ findings })), {
      description: '⚠ 2 findings · reproduces the issue (F→P)',
      tooltip: [
        '1 test reproduces the issue; none fail with the fix',
        '⚠ No F→P test executed a changed line.',
        '⚠ The candidate changes the test runner, its configuration or its fixtures.',
      ].join('\n'),
      icon: { id: 'pass', colour: 'testing.iconPassed' },
    });
  });

  it('calls a verdict outdated once the workspace is edited', () => {
    assert.deepEqual(shows({ ...graded(), current: false }), {
      description: 'out of date: run again',
      tooltip: 'Was: 1 test reproduces the issue; none fail with the fix',
      icon: { id: 'history' },
    });
  });

  it('is running, with the verdict before it only while that is current', () => {
    const running = (more: Partial<InstanceAtAGlance>) => shows({ ...more, isRunning: true });
    const look = {
      description: 'running on R and R∘X*',
      tooltip: 'The verdict will appear here',
      icon: { id: 'sync~spin' },
    };
    assert.deepEqual(running({}), look);
    assert.deepEqual(running({ ...graded(), current: false }), look);
    assert.deepEqual(running(graded()), {
      ...look,
      tooltip: '1 test reproduces the issue; none fail with the fix',
    });
  });

  it('says that the run is being cancelled', () => {
    assert.deepEqual(shows({ ...graded(), isRunning: true, isCancelling: true }), {
      description: 'canceling the run',
      tooltip: 'Stopping the tests',
      icon: { id: 'sync~spin' },
    });
  });
});

describe('the row of change coverage', () => {
  it('shows ΔC, and counts the states of the lines', () => {
    const { description, tooltip, icon, command } = coverage(graded());
    assert.deepEqual(
      { description, tooltip, icon },
      {
        description: 'ΔC 50 %  1/2',
        tooltip: '1 newly covered, 1 missed, 1 not executable',
        icon: { id: 'checklist' },
      },
    );
    assert.equal(command?.command, commandIds.showChangeCoverage);
  });

  it('has a dash where nothing is executable', () => {
    const none = { lines: [], covered: 0, executable: 0, delta: undefined };
    const { description, tooltip } = coverage(graded({ changeCoverage: none }));
    assert.equal(description, 'ΔC –');
    assert.equal(tooltip, 'Lines of the fix that your tests cover');
  });

  it('is not known where a run could not tell, current or not', () => {
    const unknown = graded({ changeCoverage: undefined });
    assert.equal(coverage(unknown).description, 'not available from the last run');
    assert.equal(coverage({ ...unknown, current: false }).description, 'available after a run');
  });

  it('is outdated once the workspace is edited', () => {
    const { description, tooltip, icon } = coverage({ ...graded(), current: false });
    assert.deepEqual(
      { description, tooltip, icon },
      {
        description: 'out of date: run again',
        tooltip: 'Was: ΔC 50 %  1/2',
        icon: { id: 'history' },
      },
    );
  });

  it('keeps what is known while tests run', () => {
    assert.equal(coverage({ ...graded(), isRunning: true }).description, 'ΔC 50 %  1/2');
  });
});
