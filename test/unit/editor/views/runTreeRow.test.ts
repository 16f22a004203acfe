import assert from 'node:assert/strict';
import type { Progress } from '../../../../src/dashboard/protocol';
import type { RunData } from '../../../../src/study/entry';
import { methodsOf, type EvaluatedMethod } from '../../../../src/study/measures/methods';
import {
  withDistinctNames,
  ratesInWords,
  runNodes,
  runTreeRow,
  type RunNode,
  type ShownRuns,
} from '../../../../src/editor/runs/runTreeRow';
import { runCommandIds } from '../../../../src/editor/shell/names';
import type { TreeRow } from '../../../../src/editor/shell/treeRow';
import { entry, run, solved } from '../../study/examples';

const shown = (more: Partial<ShownRuns> = {}): ShownRuns => ({
  runs: [],
  problems: [],
  repairs: [],
  methodsOf: (of) => methodsOf([of]),
  progressOf: () => undefined,
  ...more,
});
const row = (node: RunNode, more: Partial<ShownRuns>): TreeRow => runTreeRow(shown(more), node);
/** The row of the only run. */
const runRow = (of: RunData, progress?: Progress): TreeRow =>
  row({ kind: 'run', label: of.label }, { runs: [of], progressOf: () => progress });

const half = solved('b', { delta: { covered: 1, executable: 4 } });
const one = run(['a', 'b'], [entry('a'), half], { label: 'run-1' });
const two = run(['a'], [solved('a'), entry('a', { model: 'n' })], { label: 'run-2' });

const progress = (more: Partial<Progress> = {}): Progress => ({
  done: 12,
  total: 400,
  running: [],
  paused: false,
  controlled: false,
  interrupted: false,
  ...more,
});

describe('the rows of the Runs view', () => {
  it('are runs, then results of code repair, then what cannot be read', () => {
    const more = {
      runs: [one, two],
      repairs: [{ path: '/r.json', results: undefined }],
      problems: ['x'],
    };
    assert.deepEqual(runNodes(shown(more)), [
      { kind: 'run', label: 'run-1' },
      { kind: 'run', label: 'run-2' },
      { kind: 'repairs', path: '/r.json' },
      { kind: 'problems' },
    ]);
    assert.deepEqual(runNodes(shown()), []);
  });

  it('have methods below a run of several', () => {
    const all = shown({ runs: [one, two] });
    assert.deepEqual(runNodes(all, { kind: 'run', label: 'run-1' }), []);
    const methods = runNodes(all, { kind: 'run', label: 'run-2' });
    assert.deepEqual(methods, [
      { kind: 'method', run: 'run-2', id: '["run-2","m"]' },
      { kind: 'method', run: 'run-2', id: '["run-2","n"]' },
    ]);
    assert.deepEqual(
      methods.map((node) => runTreeRow(all, node)),
      [
        {
          label: 'm',
          id: 'method ["run-2","m"]',
          icon: { id: 'symbol-method' },
          description: 'S 100.0 % (1 of 1)',
        },
        {
          label: 'n',
          id: 'method ["run-2","n"]',
          icon: { id: 'symbol-method' },
          description: 'S 0.0 % (0 of 1)',
        },
      ],
    );
    assert.deepEqual(
      methods.flatMap((node) => runNodes(all, node)),
      [],
    );
    assert.deepEqual(runNodes(all, { kind: 'run', label: 'gone' }), []);
  });

  it('are marked where candidates are made with the answer', () => {
    const golden = entry('a', { model: 'n', oracle: true });
    const both = run(['a'], [solved('a'), golden], { label: 'run-3' });
    const labels = runNodes(shown({ runs: [both] }), { kind: 'run', label: 'run-3' }).map(
      (node) => row(node, { runs: [both] }).label,
    );
    assert.deepEqual(labels, ['m', 'n (oracle)']);
    const alone = run(['a'], [golden], { label: 'run-4' });
    assert.match(String(runRow(alone).description), /^n \(oracle\) · /);
    assert.match(String(runRow(alone).tooltip), /^n \(oracle\): /m);
  });

  it('of a run or method that is gone say no more than its id', () => {
    assert.deepEqual(row({ kind: 'run', label: 'gone' }, {}), { label: 'gone', id: 'run gone' });
    assert.deepEqual(row({ kind: 'method', run: 'gone', id: 'x' }, {}), {
      label: '',
      id: 'method x',
      icon: { id: 'symbol-method' },
    });
  });

  it('count what cannot be read, and list the first 200', () => {
    const problems = Array.from({ length: 201 }, (_, index) => `problem ${index}`);
    const look = { icon: { id: 'warning' }, children: 'folded' } as const;
    assert.deepEqual(row({ kind: 'problems' }, { problems: ['x'] }), {
      label: '1 item cannot be read',
      ...look,
    });
    assert.deepEqual(row({ kind: 'problems' }, { problems }), {
      label: '201 items cannot be read',
      ...look,
    });
    const nodes = runNodes(shown({ problems }), { kind: 'problems' });
    assert.equal(nodes.length, 200);
    assert.deepEqual(row(nodes[199] ?? assert.fail(), { problems }), {
      label: 'problem 199',
      tooltip: 'problem 199',
    });
  });
});

describe('the row of a run', () => {
  it('shows model and rates, and opens the dashboard', () => {
    const of = {
      ...one,
      dataset: 'lite',
      created: '2026-01-02T10:20:30Z',
      place: '/out/runs/run-1',
      folder: '/out',
    };
    const rates = 'S 50.0 % (1 of 2) · ΔC 25.0 %';
    assert.deepEqual(runRow(of), {
      label: 'run-1',
      id: 'run run-1',
      description: `m · ${rates}`,
      tooltip: [
        'run-1',
        `m: ${rates}`,
        '2 instances',
        'lite',
        '2026-01-02 10:20',
        '/out/runs/run-1',
      ].join('\n'),
      icon: { id: 'graph' },
      contextValue: 'run',
      command: {
        command: runCommandIds.openDashboard,
        title: 'Open Dashboard',
        arguments: [{ kind: 'run', label: 'run-1' }],
      },
      spoken: `run-1, m · ${rates}`,
    });
  });

  it('counts several methods, and has the rates of each in its tooltip', () => {
    const { description, children, tooltip } = runRow({ ...two, folder: '/out' });
    assert.equal(description, '2 methods');
    assert.equal(children, 'folded');
    assert.equal(tooltip, 'run-2\nm: S 100.0 % (1 of 1)\nn: S 0.0 % (0 of 1)\n1 instances\n/out');
  });

  it('has no rates without a method', () => {
    const { description, children } = runRow(run(['a'], []));
    assert.equal(description, '');
    assert.equal(children, undefined);
  });

  it('says that it was not finished', () => {
    const { description, icon, contextValue } = runRow({ ...two, unfinished: true });
    assert.equal(description, 'not finished · 2 methods');
    assert.deepEqual(icon, { id: 'debug-disconnect' });
    assert.equal(contextValue, 'run');
  });

  for (const [what, of, words, icon, contextValue] of [
    ['runs', progress(), '12 of 400', 'sync~spin', 'run.running'],
    [
      'runs in this window',
      progress({ controlled: true, perHour: 84.6, secondsLeft: 16_380 }),
      '12 of 400 · 85 per hour · 4 h 33 min left',
      'sync~spin',
      'run.running.mine',
    ],
    [
      'is paused elsewhere',
      progress({ paused: true, perHour: 85 }),
      '12 of 400 · paused',
      'debug-pause',
      'run.paused',
    ],
    [
      'is paused here',
      progress({ paused: true, controlled: true }),
      '12 of 400 · paused',
      'debug-pause',
      'run.paused.mine',
    ],
    [
      'is interrupted, whatever else is said of it',
      progress({ interrupted: true, paused: true, controlled: true }),
      '12 of 400 · interrupted',
      'debug-disconnect',
      'run',
    ],
  ] as const) {
    it(`tells that it ${what}`, () => {
      const shownRow = runRow({ ...two, unfinished: true }, of);
      assert.equal(shownRow.description, `${words} · 2 methods`);
      assert.equal(shownRow.spoken, `run-2, ${words} · 2 methods`);
      assert.equal(shownRow.tooltip?.split('\n')[1], words);
      assert.deepEqual(shownRow.icon, { id: icon });
      assert.equal(shownRow.contextValue, contextValue);
    });
  }
});

describe('the rates of a method in words', () => {
  const rates = (of: RunData): string => {
    const [method] = methodsOf([of]);
    return ratesInWords(method ?? assert.fail());
  };

  it('are of all selected instances', () => {
    assert.equal(rates(one), 'S 50.0 % (1 of 2) · ΔC 25.0 %');
    assert.equal(rates(run(['a'], [entry('a')])), 'S 0.0 % (0 of 1)');
  });

  it('are a dash where nothing is selected', () => {
    const nothing: EvaluatedMethod = { ...(methodsOf([one])[0] ?? assert.fail()), selected: [] };
    assert.equal(ratesInWords(nothing), 'S – (0 of 0)');
  });

  it('name findings, and a grading that is not the strict one', () => {
    const findings = [{ kind: 'no changed line ran', evidence: [] }] as const;
    assert.equal(
      rates(run(['a', 'b'], [solved('a', { findings }), solved('b', { findings: [] })])),
      'S 100.0 % (2 of 2) · ⚠ findings in 1 of 2 with F→P',
    );
    const warning = { kind: 'history', severity: 'warning', step: 1, text: 'git reflog' } as const;
    const searched = [
      solved('a', { trajectoryFindings: [warning] }),
      solved('b', { trajectoryFindings: [{ ...warning, severity: 'note' }] }),
    ];
    assert.equal(
      rates(run(['a', 'b'], searched)),
      'S 100.0 % (2 of 2) · ⚠ findings in 1 of 2 trajectories',
    );
    assert.equal(
      rates({ ...run(['a'], [entry('a')]), grading: 'harness' }),
      'S 0.0 % (0 of 1) · harness grading',
    );
  });
});

describe('results of code repair', () => {
  const path = '/boards/agentless/results.json';
  const repairs = (results: ShownRuns['repairs'][number]): TreeRow =>
    row({ kind: 'repairs', path }, { repairs: [results] });

  it('say how many are resolved, of those that were attempted if that is known', () => {
    const look = {
      label: 'agentless',
      id: `repairs ${path}`,
      tooltip: path,
      icon: { id: 'tools' },
      contextValue: 'repairs',
    };
    assert.deepEqual(repairs({ path, results: { name: 'agentless', resolved: ['a', 'b'] } }), {
      ...look,
      description: 'code repair · 2 resolved',
      spoken: 'agentless, code repair · 2 resolved',
    });
    const attempted = ['a', 'b', 'c'];
    assert.deepEqual(
      repairs({ path, results: { name: 'agentless', resolved: ['a'], attempted } }),
      {
        ...look,
        description: 'code repair · 1 of 3 resolved',
        spoken: 'agentless, code repair · 1 of 3 resolved',
      },
    );
  });

  it('say why a file cannot be read', () => {
    assert.deepEqual(repairs({ path, results: undefined, problem: 'no such file' }), {
      label: 'results.json',
      id: `repairs ${path}`,
      description: 'cannot be read',
      tooltip: `${path}\nno such file`,
      icon: { id: 'warning' },
      contextValue: 'repairs',
      spoken: 'results.json, cannot be read',
    });
  });

  it('are told apart by their folders where files have one name', () => {
    const file = (folder: string, name: string) => ({
      path: `/boards/${folder}/results.json`,
      results: { name, resolved: [] },
    });
    const unreadable = { path: '/x.json', results: undefined, problem: 'gone' };
    const files = [file('a', 'same'), unreadable, file('b', 'same'), file('c', 'other')];
    assert.deepEqual(
      withDistinctNames(files).map(({ results }) => results?.name),
      ['same (a)', undefined, 'same (b)', 'other'],
    );
    assert.equal(withDistinctNames(files)[1], unreadable);
  });
});
