import assert from 'node:assert/strict';
import type { Dataset } from '../../../../src/dataset/dataset';
import type { InstanceEntry } from '../../../../src/domain/instance';
import type { InstanceStatus, TriageEntry, Validation } from '../../../../src/domain/soundness';
import type { CatalogueState } from '../../../../src/editor/instances/catalogue';
import { shortDatasetName } from '../../../../src/study/entry';
import {
  entriesByRepository,
  headOfInstances,
  instanceNodes,
  instanceTreeRow,
  paragraphsOn,
  parentOfInstance,
  statusInWords,
  issueTitle,
  type ListNode,
  type ShownInstances,
} from '../../../../src/editor/instances/instanceTreeRow';
import { commandIds, listCommandIds } from '../../../../src/editor/shell/names';
import type { TreeRow } from '../../../../src/editor/shell/treeRow';

const entry = (id: string, more: Partial<InstanceEntry> = {}): InstanceEntry => ({
  id,
  repo: 'octo/cat',
  version: '1.0',
  baseCommit: '0123456789abcdef',
  createdAt: '2024-05-06T07:08:09Z',
  issue: `Issue of ${id}`,
  patch: { files: ['a.py'], lines: 3 },
  tests: { files: ['t.py', 'u.py'], lines: 20 },
  ...more,
});
const cats = [entry('octo__cat-2'), entry('octo__cat-1')];
const duck = entry('pond__duck-9', { repo: 'pond/duck' });
const all = [duck, ...cats];

const loaded = (
  entries: readonly InstanceEntry[] = all,
  problems: Dataset['problems'] = [],
): CatalogueState => ({
  kind: 'loaded',
  dataset: { name: 'd', path: '/d', entries, problems } as unknown as Dataset,
});

/** The view of a dataset of three instances in two repositories, with a test's changes. */
function shown(
  more: Partial<
    Pick<
      ShownInstances['catalogue'],
      'state' | 'isFiltered' | 'filter' | 'filterList' | 'datasetName'
    >
  > & {
    readonly left?: readonly InstanceEntry[];
    readonly status?: Readonly<Record<string, InstanceStatus>>;
    readonly triage?: TriageEntry;
    readonly validation?: Validation;
  } = {},
): ShownInstances {
  const { left = all, status = {}, triage, validation, ...others } = more;
  return {
    catalogue: {
      state: loaded(),
      isFiltered: false,
      filter: '',
      filterList: undefined,
      datasetName: '/data/lite.jsonl',
      entry: (id) => all.find((each) => each.id === id),
      statusOf: (id) => status[id] ?? { kind: 'not opened' },
      triageOf: () => triage,
      validationOf: () => validation,
      ...others,
    },
    groups: entriesByRepository(left),
  };
}

const nodes = (of: ShownInstances, node?: ListNode): ListNode[] => instanceNodes(of, node);
const row = (node: ListNode, of = shown()): TreeRow => instanceTreeRow(of, node);
const catNode: ListNode = {
  kind: 'repository',
  repo: 'octo/cat',
  ids: ['octo__cat-2', 'octo__cat-1'],
};

const statuses: readonly [InstanceStatus, short: string, all: string, TreeRow['icon']][] = [
  [{ kind: 'not opened' }, '', 'not opened', { id: 'circle-outline' }],
  [{ kind: 'opened' }, '', 'opened', { id: 'circle-filled' }],
  [{ kind: 'golden valid' }, 'valid', 'valid', { id: 'verified', colour: 'testing.iconPassed' }],
  [
    { kind: 'golden invalid', reason: 'flaky' },
    'invalid: flaky',
    'invalid: flaky',
    { id: 'warning', colour: 'list.warningForeground' },
  ],
  [
    { kind: 'not validated', reason: 'source not available' },
    'not validated: source not available',
    'not validated: source not available',
    { id: 'question' },
  ],
  [
    { kind: 'candidate', success: true, reason: 'success' },
    'reproduces the issue',
    'reproduces the issue',
    { id: 'pass-filled', colour: 'testing.iconPassed' },
  ],
  [
    { kind: 'candidate', success: false, reason: 'passes on R' },
    'candidate: passes on R',
    'candidate: passes on R',
    { id: 'error', colour: 'testing.iconFailed' },
  ],
  [
    { kind: 'candidate', success: true, reason: 'success', golden: { kind: 'golden valid' } },
    'reproduces the issue · valid',
    'reproduces the issue · valid',
    { id: 'pass-filled', colour: 'testing.iconPassed' },
  ],
  [
    {
      ...{ kind: 'golden invalid', reason: 'flaky' },
      candidate: { kind: 'candidate', success: true, reason: 'success' },
    },
    'invalid: flaky · reproduces the issue',
    'invalid: flaky · reproduces the issue',
    { id: 'warning', colour: 'list.warningForeground' },
  ],
];

describe('the head of the Instances view', () => {
  const head = (of: ShownInstances) => headOfInstances(of);

  it('names the dataset, and counts its instances', () => {
    assert.deepEqual(head(shown()), { description: '3 · lite.jsonl', message: '' });
    assert.deepEqual(head(shown({ state: { kind: 'reading' }, isFiltered: true })), {
      description: 'lite.jsonl',
      message: '',
    });
  });

  it('is empty without a dataset', () => {
    assert.deepEqual(head(shown({ state: { kind: 'none' } })), { description: '', message: '' });
  });

  it('says why the dataset cannot be read', () => {
    assert.deepEqual(head(shown({ state: { kind: 'failed', why: 'no such file' } })), {
      description: 'lite.jsonl',
      message: 'no such file',
    });
  });

  it('says how many a filter leaves, and which filter', () => {
    const message = (more: Parameters<typeof shown>[0]): string =>
      head(shown({ isFiltered: true, left: [duck], ...more })).message;
    assert.equal(message({ filter: 'repo:pond' }), '1 of 3: repo:pond');
    assert.equal(message({ filterList: 'mine' }), '1 of 3: mine');
    assert.equal(message({ filter: 'duck', filterList: 'mine' }), '1 of 3: mine · duck');
  });
});

describe('the rows of the Instances view', () => {
  const broken = [{ row: 3, message: 'is not JSON' }] as unknown as Dataset['problems'];

  it('are repositories by name, with instances in the order of the list', () => {
    assert.deepEqual(nodes(shown()), [
      catNode,
      { kind: 'repository', repo: 'pond/duck', ids: ['pond__duck-9'] },
    ]);
    assert.deepEqual(nodes(shown(), catNode), [
      { kind: 'instance', id: 'octo__cat-2' },
      { kind: 'instance', id: 'octo__cat-1' },
    ]);
    assert.deepEqual(nodes(shown(), { kind: 'instance', id: 'octo__cat-1' }), []);
  });

  it('end with what cannot be used, of which the first 200 are listed', () => {
    const of = shown({ state: loaded(all, broken) });
    assert.deepEqual(nodes(of).at(-1), { kind: 'problems' });
    assert.deepEqual(row({ kind: 'problems' }, of), {
      label: '1 row cannot be used',
      icon: { id: 'warning' },
      children: 'folded',
    });
    const [problem] = nodes(of, { kind: 'problems' });
    assert.deepEqual(row(problem ?? assert.fail(), of), {
      label: 'row 3: is not JSON',
      tooltip: 'row 3: is not JSON',
    });
    const many = shown({ state: loaded(all, Array.from({ length: 201 }, () => broken).flat()) });
    assert.equal(row({ kind: 'problems' }, many).label, '201 rows cannot be used');
    assert.equal(nodes(many, { kind: 'problems' }).length, 200);
  });

  for (const [what, state, isFiltered, actions] of [
    [
      'a dataset that cannot be read',
      { kind: 'failed', why: 'x' },
      false,
      [
        ['Try Again', 'refresh', commandIds.refresh],
        ['Choose Another Dataset…', 'database', listCommandIds.chooseDataset],
      ],
    ],
    [
      'a filter that leaves nothing',
      loaded(),
      true,
      [
        ['Change Filter…', 'filter', listCommandIds.filter],
        ['Clear Filter', 'clear-all', listCommandIds.clearFilter],
      ],
    ],
    ['a dataset of nothing', loaded([]), false, []],
    ['a dataset that is being read', { kind: 'reading' }, true, []],
    ['no dataset', { kind: 'none' }, false, []],
  ] as const) {
    it(`are what can be done about ${what}`, () => {
      const of = shown({ state, isFiltered, left: [] });
      assert.deepEqual(
        nodes(of).map((node) => row(node, of)),
        actions.map(([label, icon, command]) => ({
          label,
          icon: { id: icon },
          command: { command, title: label },
        })),
      );
    });
  }

  it('know what they stand below', () => {
    const of = shown();
    assert.deepEqual(parentOfInstance(of, { kind: 'instance', id: 'octo__cat-1' }), catNode);
    assert.deepEqual(parentOfInstance(of, { kind: 'problem', text: 'x' }), { kind: 'problems' });
    assert.equal(parentOfInstance(of, { kind: 'instance', id: 'gone' }), undefined);
    assert.equal(parentOfInstance(of, catNode), undefined);
    assert.equal(parentOfInstance(of, { kind: 'problems' }), undefined);
  });
});

describe('the row of a repository', () => {
  it('counts its instances', () => {
    assert.deepEqual(row(catNode), {
      label: 'octo/cat',
      id: 'repository octo/cat',
      description: '2',
      icon: { id: 'repo' },
      children: 'folded',
      contextValue: 'repository',
      spoken: 'octo/cat, 2 instances',
    });
  });

  it('counts each status that an instance has got to', () => {
    const ids = statuses.map((_, index) => `octo__cat-${index}`);
    const status = Object.fromEntries(
      statuses.map(([each], index) => [`octo__cat-${index}`, each]),
    );
    assert.equal(
      row({ ...catNode, ids: [...ids, ...ids.slice(2, 3)] }, shown({ status })).description,
      '10 · 1 opened · 3 valid · 2 invalid · 1 not validated · 3 success · 1 no success',
    );
  });

  it('is unfolded where it is the only one', () => {
    const { id, children } = row(catNode, shown({ left: cats }));
    assert.deepEqual([id, children], ['repository octo/cat', 'unfolded']);
  });

  it('is unfolded where a filter leaves few, under an id of its own', () => {
    const cat = (count: number): readonly InstanceEntry[] =>
      Array.from({ length: count }, (_, index) => entry(`octo__cat-${index}`));
    const filtered = (count: number): unknown => {
      const { id, children } = row(
        catNode,
        shown({ isFiltered: true, left: [duck, ...cat(count)] }),
      );
      return [id, children];
    };
    assert.deepEqual(filtered(59), ['found octo/cat', 'unfolded']);
    assert.deepEqual(filtered(60), ['repository octo/cat', 'folded']);
  });
});

describe('the row of an instance', () => {
  const node: ListNode = { kind: 'instance', id: 'octo__cat-1' };

  it('has the title of its issue, and shows the issue', () => {
    assert.deepEqual(row(node), {
      label: 'cat-1',
      id: 'instance octo__cat-1',
      description: 'Issue of octo__cat-1',
      icon: { id: 'circle-outline' },
      contextValue: 'instance',
      command: { command: commandIds.showIssue, title: 'Show Issue', arguments: [node] },
      spoken: 'octo__cat-1, not opened, Issue of octo__cat-1',
    });
  });

  for (const [status, short, long, icon] of statuses) {
    it(`shows its status: ${long}`, () => {
      const of = row(node, shown({ status: { 'octo__cat-1': status } }));
      assert.equal(
        of.description,
        short === '' ? 'Issue of octo__cat-1' : `${short} · Issue of octo__cat-1`,
      );
      assert.deepEqual(of.icon, icon);
      assert.equal(of.spoken, `octo__cat-1, ${long}, Issue of octo__cat-1`);
      assert.equal(statusInWords(status), short);
      assert.equal(statusInWords(status, true), long);
    });
  }

  it('shows and says its tags first, which an end that is cut leaves', () => {
    const triage: TriageEntry = { tags: ['mine', 'to discuss'], note: 'x', classification: {} };
    const status = { 'octo__cat-1': { kind: 'golden valid' } } as const;
    const { description, spoken } = row(node, shown({ triage, status }));
    assert.equal(description, '#mine · #to discuss · valid · Issue of octo__cat-1');
    assert.equal(spoken, 'octo__cat-1, #mine, #to discuss, valid, Issue of octo__cat-1');
  });

  it('says no more than its id once the dataset has it no more', () => {
    assert.deepEqual(row({ kind: 'instance', id: 'octo__gone-1' }), {
      label: 'octo__gone-1',
      id: 'instance octo__gone-1',
      contextValue: 'instance',
    });
  });
});

describe('the hover of an instance', () => {
  const cat = cats[1] ?? assert.fail();
  const paragraphs = (more: Parameters<typeof shown>[0] = {}, of = cat): string[] =>
    paragraphsOn(shown(more).catalogue, of);

  it('tells the facts of its row', () => {
    assert.deepEqual(paragraphs(), [
      'octo__cat-1',
      'Issue of octo__cat-1',
      'version 1.0 · 2024-05-06 · 0123456789ab',
      'X*: 3 lines in 1 file · T*: 20 lines in 2 files · issue: 20 characters',
      'Status: not opened',
    ]);
  });

  it('leaves out what the row does not say', () => {
    const bare = entry('octo__cat-1', { version: '', createdAt: '' });
    assert.equal(paragraphs({}, bare)[2], '0123456789ab');
  });

  it('tells of validation, tags and note', () => {
    const validation = {
      id: 'octo__cat-1',
      date: '2026-01-02T03:04:05Z',
      repetitions: 3,
      engine: 'local',
      environment: 'CPython 3.11.7',
      reasons: [{ kind: 'flaky', explanation: 'test_a differs', tests: [] }],
    } as unknown as Validation;
    const triage: TriageEntry = { tags: ['a', 'b'], note: 'see there', classification: {} };
    const status = { 'octo__cat-1': { kind: 'golden invalid', reason: 'flaky' } } as const;
    assert.deepEqual(paragraphs({ validation, triage, status }).slice(4), [
      'Status: invalid: flaky',
      'Validated 2026-01-02, 3 times, local, CPython 3.11.7',
      'flaky: test_a differs',
      'Tags: a, b',
      'Note: see there',
    ]);
    const nothing: TriageEntry = { tags: [], note: '', classification: {} };
    assert.equal(paragraphs({ triage: nothing }).length, 5);
  });
});

describe('names in the Instances view', () => {
  it('take the first line of the issue with words in it for its title', () => {
    assert.equal(issueTitle({ issue: '\n\n## > - \n### A *title*\nmore' }), 'A *title*');
    assert.equal(issueTitle({ issue: ' \n' }), '');
  });

  it('call a dataset by the last part of its path or address', () => {
    assert.equal(shortDatasetName('/data/lite.jsonl'), 'lite.jsonl');
    assert.equal(shortDatasetName('C:\\data\\lite.jsonl'), 'lite.jsonl');
    assert.equal(shortDatasetName('~/data/'), 'data');
    assert.equal(shortDatasetName('https://example.org/sets/lite'), 'lite');
    assert.equal(shortDatasetName('nmuendler/SWT-bench_Lite'), 'nmuendler/SWT-bench_Lite');
    assert.equal(shortDatasetName(''), '');
  });
});
