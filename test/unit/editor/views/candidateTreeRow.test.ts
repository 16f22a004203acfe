import assert from 'node:assert/strict';
import type { TestResult } from '../../../../src/domain/outcome';
import type { Grade } from '../../../../src/editor/generate/candidateGrades';
import {
  candidateNodes,
  candidateTreeRow,
  type CandidateNode,
  type ShownCandidates,
} from '../../../../src/editor/generate/candidateTreeRow';
import type { Generation } from '../../../../src/editor/generate/generations';
import { generatedCommandIds } from '../../../../src/editor/shell/names';
import type { TreeRow } from '../../../../src/editor/shell/treeRow';
import type { MethodCandidate } from '../../../../src/method/method';
import { methodNamed } from '../../../../src/method/methods';
import type { RunStep } from '../../../../src/method/trace';

const step = { key: 'k', at: '2026-01-02T10:00:00.000Z', instance: 'octo__cat-1' };

function candidate(
  more: Partial<Omit<MethodCandidate, 'answer' | 'patch' | 'run'>> & {
    readonly answer?: Partial<MethodCandidate['answer']>;
    readonly patch?: Partial<MethodCandidate['patch']>;
    readonly run?: Partial<RunStep> | undefined;
  } = {},
): MethodCandidate {
  const { answer, patch, run, ...others } = more;
  return {
    sample: 1,
    answer: {
      ...step,
      step: 'answer',
      purpose: 'tests',
      method: 'zero-shot',
      model: 'openai/some',
      sample: 1,
      parameters: { temperature: 0, maxOutputTokens: 10 },
      prompt: 'p',
      text: 'an answer',
      finish: 'stop',
      inputTokens: 1000,
      outputTokens: 100,
      seconds: 1,
      ...answer,
    },
    patch: {
      ...step,
      step: 'patch',
      applies: true,
      patch: 'diff',
      ownTests: [],
      diagnostics: [],
      ...patch,
    },
    ...(run !== undefined && {
      run: { ...step, step: 'run', tests: [], failingBefore: [], seconds: 1, ...run },
    }),
    ...others,
  };
}

function generation(
  more: Partial<Omit<Generation, 'candidates' | 'record'>> & {
    readonly method?: Generation['record']['method'];
    readonly candidates?: readonly MethodCandidate[];
  } = {},
): Generation {
  const { method = 'zero-shot', candidates = [], ...others } = more;
  return {
    id: 'g1',
    record: {
      method,
      model: 'openai/some',
      samples: 5,
      contextTokens: 27_000,
      maxOutputTokens: 4096,
      engine: 'local',
      timeoutSeconds: 300,
      startedAt: step.at,
    },
    candidates: new Map(candidates.map((each) => [each.sample, each])),
    acts: [],
    stages: [],
    sessions: [],
    writing: new Map(),
    state: 'done',
    chosen: undefined,
    failure: undefined,
    cost: undefined,
    ...others,
  };
}

const graded: Grade = {
  success: true,
  reason: 'success',
  transitions: [
    { test: 'tests/a.py::test_a', transition: 'F→P' },
    { test: 'tests/a.py::test_b', transition: 'P→P' },
    { test: 'tests/a.py::test_c', transition: 'F→F' },
  ],
  coverage: { covered: 3, executable: 4 },
  findings: [],
};

/** The same knowledge of every candidate. */
const knowledge = (isShown: boolean, grade?: Grade): ShownCandidates['knowledge'] => ({
  isShown: () => isShown,
  gradeOf: () => grade,
});
const hidden = knowledge(false, graded);

const rowOf = (node: CandidateNode, more: Partial<ShownCandidates> = {}): TreeRow =>
  candidateTreeRow({ generations: [], knowledge: hidden, ...more }, node);
const below = (node: CandidateNode, more: Partial<ShownCandidates> = {}): CandidateNode[] =>
  candidateNodes({ generations: [], knowledge: hidden, ...more }, node);

/** The row of a candidate of a run. */
const shows = (
  of: MethodCandidate,
  within = generation(),
  known: ShownCandidates['knowledge'] = hidden,
): TreeRow => rowOf({ kind: 'candidate', generation: within, candidate: of }, { knowledge: known });

describe('rows of runs of tests in the Generated view', () => {
  it('are in the order of the runs, the last one unfolded', () => {
    const generations = [generation({ id: 'b' }), generation({ id: 'a' })];
    const shown = { generations, knowledge: hidden };
    const nodes = generations.map((each): CandidateNode => ({
      ...({ kind: 'generation', of: 'tests' } as const),
      generation: each,
    }));
    assert.deepEqual(
      nodes.map((node) => candidateTreeRow(shown, node)).map(({ id, children }) => [id, children]),
      [
        ['b', 'unfolded'],
        ['a', 'folded'],
      ],
    );
  });

  it('mark Pass@5, whose choice uses the answer', () => {
    const one = generation({ method: 'pass-at-5' });
    assert.equal(
      rowOf({ kind: 'generation', of: 'tests', generation: one }).label,
      'Pass@5 (oracle)',
    );
  });

  const three = [1, 2, 3].map((sample) => candidate({ sample }));
  for (const [state, candidates, told, icon] of [
    ['running', three, '3 of 5 answered', 'sync~spin'],
    ['partial', three, 'interrupted, 3 of 5 answered', 'debug-pause'],
    ['done', three, '3 candidates', 'sparkle'],
    ['done', three.slice(1, 2), '1 candidate', 'sparkle'],
    ['done', [], '0 candidates', 'sparkle'],
  ] as const) {
    it(`tell of one that is ${state} with ${candidates.length} answers`, () => {
      const { title, description } = methodNamed('libro');
      const one = generation({ method: 'libro', state, candidates });
      assert.deepEqual(rowOf({ kind: 'generation', of: 'tests', generation: one }), {
        label: title,
        id: 'g1',
        description: `some · ${told}`,
        tooltip: `openai/some\n${description}`,
        icon: { id: icon },
        children: 'folded',
        contextValue: `tests.${state}`,
        spoken: `${title}. some · ${told}. openai/some. ${description}`,
      });
    });
  }

  it('tell runs of one agent within different limits apart', () => {
    const { record, ...others } = generation({ method: 'mini' });
    const [paper, modern] = [record, { ...record, limits: 'modern' as const }].map(
      (each) =>
        rowOf({ kind: 'generation', of: 'tests', generation: { ...others, record: each } })
          .description,
    );
    assert.equal(paper, 'some · 0 candidates');
    assert.equal(modern, 'some · modern limits · 0 candidates');
  });

  it('say why there is no choice', () => {
    const one = generation({ failure: 'the budget is spent' });
    assert.equal(
      rowOf({ kind: 'generation', of: 'tests', generation: one }).tooltip,
      `openai/some\n${methodNamed('zero-shot').description}\nthe budget is spent`,
    );
  });

  it('have candidates below them by sample, with those that are being written', () => {
    const one = generation({
      candidates: [candidate({ sample: 3 }), candidate({ sample: 1 })],
      writing: new Map([[2, 40]]),
    });
    const nodes = below({ kind: 'generation', of: 'tests', generation: one });
    assert.deepEqual(
      nodes.map((node) => rowOf(node).label),
      ['Candidate 1', 'Candidate 2', 'Candidate 3'],
    );
    assert.deepEqual(rowOf(nodes[1] ?? assert.fail()), {
      label: 'Candidate 2',
      description: 'being written, 40 characters',
      icon: { id: 'sync~spin' },
      spoken: 'Candidate 2. being written, 40 characters',
    });
    assert.deepEqual(below(nodes[1] ?? assert.fail()), []);
  });
});

describe('rows of candidates', () => {
  const failed: TestResult = {
    test: 'tests/a.py::test_a',
    outcome: 'failed',
    exception: 'AssertionError',
    message: '1 != 2\nmore of it',
  };
  const passed: TestResult = { test: 'tests/a.py::test_b', outcome: 'passed' };

  const outcomes: readonly [
    what: string,
    of: Parameters<typeof candidate>[0],
    description: string,
    icon: string,
    more: readonly string[],
  ][] = [
    ['an empty answer', { answer: { text: ' ' } }, 'the answer is empty', 'circle-slash', []],
    [
      'one that does not apply',
      { patch: { applies: false, problem: 'no hunk fits' } },
      'not well-formed: no hunk fits',
      'circle-slash',
      [],
    ],
    ['one that did not run', {}, 'W · not run on R', 'question', []],
    [
      'one that could not run',
      { run: { problem: 'no Python' } },
      'W · could not run on R: no Python',
      'warning',
      [],
    ],
    [
      'one that fails on R',
      { run: { tests: [failed] } },
      'W · fails on R: AssertionError: 1 != 2',
      'target',
      ['1 != 2', 'more of it'],
    ],
    [
      'one of which some fail on R',
      { run: { tests: [passed, failed] } },
      'W · 1 of 2 fail on R: AssertionError: 1 != 2',
      'target',
      ['1 != 2', 'more of it'],
    ],
    [
      'one that fails on R without a message',
      { run: { tests: [{ test: 't', outcome: 'error' }] } },
      'W · fails on R: error',
      'target',
      [],
    ],
    [
      'one that fails as before',
      { run: { tests: [failed], failingBefore: [failed.test] } },
      'W · fails on R, as it did before',
      'circle-outline',
      [],
    ],
    ['one without a test', { run: { tests: [] } }, 'W · contains no test', 'circle-outline', []],
    [
      'one that passes on R',
      { run: { tests: [passed] } },
      'W · passes on R: does not reproduce',
      'circle-outline',
      [],
    ],
  ];
  for (const [what, of, description, icon, more] of outcomes) {
    it(`tell of ${what}`, () => {
      const row = shows(candidate(of));
      assert.equal(row.label, 'Candidate 1');
      assert.equal(row.description, description);
      assert.deepEqual(row.icon, { id: icon });
      const tokens = '1000 tokens in, 100 out';
      assert.equal(row.tooltip, [description, ...more, tokens].join('\n'));
      const unsaid = more.filter((line) => !description.includes(line));
      assert.equal(row.spoken, ['Candidate 1', description, ...unsaid, tokens].join('. '));
    });
  }

  it('preview what applies, and unfold to its tests and what is known', () => {
    const of = candidate({ run: { tests: [failed] } });
    const within = generation();
    const row = shows(of, within);
    assert.equal(row.id, 'g1-1');
    assert.equal(row.children, 'folded');
    assert.equal(row.contextValue, 'candidate.applies');
    assert.deepEqual(row.command, {
      command: generatedCommandIds.preview,
      title: 'Preview Candidate',
      arguments: [{ kind: 'candidate', generation: within, candidate: of }],
    });
    const node = { kind: 'candidate', generation: within, candidate: of } as const;
    assert.deepEqual(below(node), [
      { kind: 'test', result: failed },
      { ...node, kind: 'knowledge' },
    ]);
  });

  it('show the answer of what does not apply, and have nothing below', () => {
    const of = candidate({ patch: { applies: false } });
    const row = shows(of);
    assert.equal(row.children, undefined);
    assert.equal(row.contextValue, 'candidate');
    assert.equal(row.command?.command, generatedCommandIds.showAnswer);
    assert.deepEqual(below({ kind: 'candidate', generation: generation(), candidate: of }), []);
  });

  it('say what the judge and the patch say, and whether tokens are counted', () => {
    const lines = (of: MethodCandidate): string[] => shows(of).tooltip?.split('\n').slice(1) ?? [];
    assert.deepEqual(lines(candidate({ matches: true })), [
      'According to the model, it fails as the issue describes',
      '1000 tokens in, 100 out',
    ]);
    assert.deepEqual(lines(candidate({ matches: false, answer: { isEstimate: true } })), [
      'According to the model, it does not fail as the issue describes',
      'about 1000 tokens in, 100 out',
    ]);
    const patch = {
      diagnostics: [{ line: 3, severity: 'warning', message: 'no such function' }],
    } as unknown as Partial<MethodCandidate['patch']>;
    assert.deepEqual(lines(candidate({ patch })), [
      'line 3 of the answer: no such function',
      '1000 tokens in, 100 out',
    ]);
  });

  it('star the one that the method chose, and say why', () => {
    const chosen = { sample: 1, why: 'the only answer' };
    const row = shows(candidate(), generation({ chosen }));
    assert.equal(row.id, 'g1-1-chosen');
    assert.equal(row.description, 'selected · W · not run on R');
    assert.deepEqual(row.icon, { id: 'star-full' });
    assert.equal(row.children, 'unfolded');
    assert.equal(row.tooltip, 'W · not run on R\nChosen: the only answer\n1000 tokens in, 100 out');
    // The description repeats the first line of the tooltip.
    assert.equal(
      row.spoken,
      'Candidate 1. selected · W · not run on R. Chosen: the only answer. 1000 tokens in, 100 out',
    );
    assert.equal(shows(candidate({ sample: 2 }), generation({ chosen })).id, 'g1-2');
  });

  it('keep what an oracle says of the chosen one until that is shown', () => {
    const chosen = { sample: 1, why: 'it goes F→P' };
    const why = (known: ShownCandidates['knowledge']): string | undefined =>
      shows(candidate(), generation({ method: 'pass-at-5', chosen }), known).tooltip?.split(
        '\n',
      )[1];
    assert.equal(why(hidden), 'Chosen: selected by the oracle');
    assert.equal(why(knowledge(true)), 'Chosen: it goes F→P');
  });
});

describe('rows of tests', () => {
  const row = (result: TestResult): TreeRow => rowOf({ kind: 'test', result });

  it('tell how a test failed on R', () => {
    const result: TestResult = {
      test: 'tests/a.py::A::test_a',
      outcome: 'failed',
      seconds: 0.25,
      exception: 'ValueError',
      message: 'odd\nand more',
    };
    assert.deepEqual(row(result), {
      label: 'test_a',
      description: 'A · failed on R in 0.25 s: ValueError: odd',
      tooltip: 'tests/a.py::A::test_a\nfailed on R in 0.25 s\nodd\nand more',
      icon: { id: 'error' },
      spoken: 'test_a. A · failed on R in 0.25 s: ValueError: odd. tests/a.py::A::test_a. and more',
    });
    assert.deepEqual(below({ kind: 'test', result }), []);
  });

  it('tell that a test passed, and call a file by its path', () => {
    assert.deepEqual(row({ test: 'tests/a.py', outcome: 'passed', message: 'ignored' }), {
      label: 'tests/a.py',
      description: 'passed on R',
      tooltip: 'tests/a.py\npassed on R\nignored',
      icon: { id: 'circle-outline' },
      spoken: 'tests/a.py. passed on R. ignored',
    });
  });

  it('name the exception where there is no message', () => {
    const { description, tooltip } = row({ test: 'a::b', outcome: 'error', exception: 'KeyError' });
    assert.equal(description, 'error on R');
    assert.equal(tooltip, 'a::b\nerror on R\nKeyError');
  });
});

describe('what only the developer may know', () => {
  const node = (of = candidate()): CandidateNode => ({
    kind: 'knowledge',
    generation: generation(),
    candidate: of,
  });
  const row = (known: ShownCandidates['knowledge'], of?: MethodCandidate): TreeRow =>
    rowOf(node(of), { knowledge: known });
  const known = (more: ShownCandidates['knowledge'], of?: MethodCandidate): TreeRow[] =>
    below(node(of), { knowledge: more }).map((each) => rowOf(each));
  const verdict = (success: boolean): Partial<MethodCandidate> => ({
    verdict: {
      ...step,
      step: 'verdict',
      success,
      reason: success ? 'success' : 'passes on R',
    } as NonNullable<MethodCandidate['verdict']>,
  });

  it('is hidden until it is asked for, though it is known', () => {
    const of = candidate(verdict(true));
    const tooltip = 'Result of this candidate with the fix. Models never see it.';
    assert.deepEqual(row(hidden, of), {
      label: 'With the fix',
      id: 'g1-1-knowledge-hidden',
      description: 'transition and ΔC: not shown',
      tooltip,
      icon: { id: 'eye-closed' },
      contextValue: 'knowledge',
      command: {
        command: generatedCommandIds.evaluate,
        title: 'Evaluate Candidate',
        arguments: [{ kind: 'candidate', generation: generation(), candidate: of }],
      },
      spoken: `With the fix. transition and ΔC: not shown. ${tooltip.slice(0, -1)}`,
    });
    assert.deepEqual(known(hidden, of), []);
  });

  it('asks for a run where it may be shown and is not known', () => {
    const { id, description, icon, children, contextValue, command } = row(knowledge(true));
    assert.deepEqual(
      { id, description, icon, children, contextValue, command: command?.command },
      {
        id: 'g1-1-knowledge-hidden',
        description: 'transition and ΔC: not run on both sides',
        icon: { id: 'eye' },
        children: undefined,
        contextValue: 'knowledge',
        command: generatedCommandIds.evaluate,
      },
    );
    assert.deepEqual(known(knowledge(true)), []);
  });

  it('has the verdict of the oracle alone where that is all', () => {
    for (const [success, description] of [
      [true, 'reproduces the issue'],
      [false, 'passes on R'],
    ] as const) {
      const of = candidate(verdict(success));
      assert.equal(row(knowledge(true), of).children, 'unfolded');
      assert.equal(row(knowledge(true), of).contextValue, 'knowledge');
      assert.deepEqual(known(knowledge(true), of), [
        {
          label: 'Oracle of Pass@5',
          description,
          icon: { id: 'law' },
          spoken: `Oracle of Pass@5. ${description}`,
        },
      ]);
    }
  });

  it('unfolds to verdict, ΔC and transitions, with nothing left to ask for', () => {
    const { id, description, icon, children, contextValue, command } = row(knowledge(true, graded));
    assert.deepEqual(
      { id, description, icon, children, contextValue, command },
      {
        id: 'g1-1-knowledge-shown',
        description: 'hidden from models',
        icon: { id: 'eye' },
        children: 'unfolded',
        contextValue: undefined,
        command: undefined,
      },
    );
    const rows = known(knowledge(true, graded), candidate(verdict(true)));
    assert.deepEqual(
      rows.map((each) => [each.label, each.description, each.icon?.id]),
      [
        ['Verdict', 'reproduces the issue (F→P)', 'pass'],
        ['ΔC', '75 %  3/4', 'checklist'],
        ['F→P', 'tests/a.py::test_a', 'pass'],
        ['P→P', 'tests/a.py::test_b', 'circle-outline'],
        ['F→F', 'tests/a.py::test_c', 'circle-outline'],
        ['Oracle of Pass@5', 'reproduces the issue', 'law'],
      ],
    );
  });

  it('says findings behind the verdict, and a reason in place of success', () => {
    const grade: Grade = {
      success: false,
      reason: 'passes on R',
      transitions: [],
      coverage: null,
      findings: [{ kind: 'no changed line ran', evidence: ['a', 'b'] }],
    };
    const rows = known(knowledge(true, grade));
    assert.deepEqual(
      rows.map((each) => [each.label, each.description, each.icon?.id]),
      [
        ['Verdict', 'passes on R', 'error'],
        ['⚠ Finding', 'No F→P test executed a changed line. a b', 'warning'],
        ['ΔC', 'unknown', 'checklist'],
      ],
    );
  });

  it('does not know a ΔC where nothing is executable', () => {
    const grade: Grade = { ...graded, coverage: { covered: 0, executable: 0 } };
    assert.equal(known(knowledge(true, grade))[1]?.description, 'unknown');
  });
});

describe('rows of the steps of an agent', () => {
  const act = (more: Partial<Generation['acts'][number]> = {}): Generation['acts'][number] => ({
    ...step,
    ...{ step: 'act', agent: 'tools', model: 'openai/some', answer: 'a', isSubmission: false },
    ...{ thought: 'I look.', action: 'search_code\nquery: allocate', observation: '2 hits:\na\nb' },
    ...{ seconds: 1, patch: '', leftOut: [], ...more },
  });

  it('come as they are made, below the run and after its candidate', () => {
    const acts = [act(), act({ key: 'l', call: { name: 'bash', input: {}, isError: true } })];
    const running = generation({
      method: 'tools',
      state: 'running',
      acts,
      candidates: [candidate()],
    });
    const nodes = below({ kind: 'generation', of: 'tests', generation: running });
    assert.deepEqual(
      nodes.map(({ kind }) => kind),
      ['candidate', 'steps'],
    );
    assert.match(
      rowOf({ kind: 'generation', of: 'tests', generation: running }).description ?? '',
      /2 steps$/,
    );
    const steps = rowOf(nodes[1] as CandidateNode);
    assert.deepEqual(
      [steps.label, steps.description, steps.children],
      ['Steps', '2 steps', 'unfolded'],
    );
    const rows = below(nodes[1] as CandidateNode).map((node) => rowOf(node));
    assert.deepEqual(
      rows.map(({ label, description, icon }) => [label, description, icon?.id]),
      [
        ['search_code query: allocate', '2 hits:', 'circle-small'],
        ['search_code query: allocate', 'failed: 2 hits:', 'warning'],
      ],
    );
    assert.equal(rows[0]?.tooltip, 'I look.\n\nsearch_code\nquery: allocate\n\n2 hits:\na\nb');
    assert.equal(new Set(rows.map(({ id }) => id)).size, 2);
  });

  it('stay, folded, when the run is stopped, with what there is', () => {
    const stopped = generation({
      method: 'tools',
      state: 'partial',
      acts: [act()],
      candidates: [candidate()],
    });
    const row = rowOf({ kind: 'generation', of: 'tests', generation: stopped });
    assert.match(row.description ?? '', /interrupted, 1 step$/);
    const [first, steps] = below({ kind: 'generation', of: 'tests', generation: stopped });
    assert.equal(rowOf(first as CandidateNode).contextValue, 'candidate.applies');
    assert.equal(rowOf(steps as CandidateNode).children, 'folded');
  });
});
