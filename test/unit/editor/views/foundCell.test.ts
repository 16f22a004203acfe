import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { CellName } from '../../../../src/dashboard/protocol';
import { HumanError } from '../../../../src/domain/work';
import type { RunData } from '../../../../src/study/entry';
import {
  findCell,
  logsOf,
  logToShow,
  repositoryOfCell,
  type FoundCell,
} from '../../../../src/editor/runs/foundCell';
import { entry, facts, run } from '../../study/examples';

const folder = join('/out', 'run_instance_swt_logs', 'run', 'm', 'octo__cat-1');
const report = 'run_instance_swt_logs/run/m/octo__cat-1/report.json';
const cell: CellName = { run: 'run', model: 'm', sample: 1, instance: 'octo__cat-1' };

const find = (more: Partial<CellName> = {}, of: Partial<RunData> = {}): FoundCell => {
  const entries = [
    entry('octo__cat-1', { report }),
    entry('octo__cat-1', { sample: 2 }),
    entry('octo__cat-2', { report: '../elsewhere/report.json' }),
  ];
  const listed = run(['octo__cat-1', 'octo__cat-2'], entries, { folder: '/out', ...of });
  return findCell(
    { run: (label) => (label === listed.label ? listed : undefined) },
    { ...cell, ...more },
  );
};

const refuses = (message: string, remedy: string, make: () => unknown): void => {
  assert.throws(make, (error: unknown) => {
    assert.ok(error instanceof HumanError);
    assert.equal(error.message, new HumanError(message, remedy).message);
    return true;
  });
};

describe('a candidate of a saved run', () => {
  it('is found with the folder of its report', () => {
    const found = find();
    assert.equal(found.folder, folder);
    assert.equal(found.entry.sample, 1);
  });

  for (const [what, more, of] of [
    ['a run that is gone', { run: 'gone' }, {}],
    ['another model', { model: 'n' }, {}],
    ['another sample', { sample: 3 }, {}],
    ['a candidate without a report', { sample: 2 }, {}],
  ] as const) {
    it(`has no report: ${what}`, () => {
      refuses(
        `octo__cat-1 of ${'run' in more ? more.run : 'run'} has no report`,
        'Run "SWT-Bench: Refresh Instances and Runs"',
        () => find(more, of),
      );
    });
  }

  it('has a report in the folder of its run and nowhere else', () => {
    refuses('run refers to a report outside its folder', 'Evaluate it again', () =>
      find({ instance: 'octo__cat-2' }),
    );
  });
});

describe('the repository of a candidate without R', () => {
  const repository = (repo: string, of: Partial<CellName> = {}): string => {
    const listed = run([], [], { instances: [facts('octo__cat-1', { repo })] });
    const library = { run: (label: string) => (label === listed.label ? listed : undefined) };
    return repositoryOfCell(library, { ...cell, ...of });
  };

  it('is the one that the run names', () => {
    assert.equal(repository('octo/cat'), 'octo/cat');
  });

  for (const [what, repo, of] of [
    ['a run that is gone', 'octo/cat', { run: 'gone' }],
    ['an instance that the run does not have', 'octo/cat', { instance: 'octo__dog-1' }],
    ['no repository', '', {}],
    ['all repositories', '*', {}],
    ['a path', '../octo/cat', {}],
  ] as const) {
    it(`is none, since the run names ${what}`, () => {
      const { run: label, instance } = { ...cell, ...of };
      refuses(
        `${label} does not name the repository of ${instance}`,
        'Run "SWT-Bench: Refresh Instances and Runs"',
        () => repository(repo, of),
      );
    });
  }
});

describe('the log of a candidate', () => {
  const found = find();
  const at = (prefix: string): string =>
    join('/out/run_instance_swt_logs/run', `${prefix}m`, 'octo__cat-1', 'test_output.txt');
  const logs = { base: at('pred_pre__'), fixed: at('pred_post__') };

  it('is a file for each side', () => {
    assert.deepEqual(logsOf(found), logs);
  });

  it('shows both sides beside each other, the one that there is, or else the report', () => {
    const shows = (base: boolean, fixed: boolean) => logToShow(found, { base, fixed });
    assert.deepEqual(shows(true, true), { both: logs });
    assert.deepEqual(shows(true, false), { one: logs.base });
    assert.deepEqual(shows(false, true), { one: logs.fixed });
    assert.deepEqual(shows(false, false), { one: join(folder, 'report.json') });
  });
});
