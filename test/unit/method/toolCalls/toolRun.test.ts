import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HumanError, silent } from '../../../../src/domain/work';
import type { AgentEnd } from '../../../../src/method/agents/agentRun';
import type { ModelView } from '../../../../src/method/modelView';
import type { Finish, ToolCall } from '../../../../src/method/models/chatModel';
import { TestsCannotRun } from '../../../../src/method/testsOfModels';
import {
  ToolRun,
  type ToolLimits,
  type ToolRequest,
} from '../../../../src/method/toolCalls/toolRun';
import type { ActStep, StepOf } from '../../../../src/method/trace';
import { addedFile, viewForTests } from '../sampleView';

/** What the model says; a call without input is one that was cut off. */
interface Said {
  readonly text?: string;
  readonly calls?: readonly (readonly [name: string, input?: unknown])[];
  readonly finish?: Finish;
  readonly dollars?: number;
}

interface Played {
  readonly end: AgentEnd;
  readonly requests: readonly ToolRequest[];
  readonly acts: readonly ActStep[];
}

const lines = (expected: number): string[] => [
  'import unittest',
  '',
  'from tallybook.money import Money',
  '',
  '',
  'class LostCentTest(unittest.TestCase):',
  '    def test_no_cent_is_lost(self):',
  '        parts = Money(2000).allocate([1, 1, 1])',
  `        self.assertEqual(sum(part.cents for part in parts), ${expected})`,
];
const patch = (expected = 2000): string => addedFile('tests/test_lost_cent.py', ...lines(expected));

describe('the loop of a model that calls tools', () => {
  const made = viewForTests();
  const limits: ToolLimits = { calls: 20, dollars: 3, contextTokens: 128_000 };

  const play = async (
    script: readonly Said[],
    more: { limits?: Partial<ToolLimits>; view?: () => Promise<ModelView> } = {},
  ): Promise<Played> => {
    const requests: ToolRequest[] = [];
    const acts: ActStep[] = [];
    const { repo, issue } = made.instance;
    const end = await new ToolRun({
      ...{ repo, issue, limits: { ...limits, ...more.limits }, timeoutSeconds: 60 },
      ask: (request) => {
        requests.push(request);
        const said = script[requests.length - 1] ?? {};
        const calls = (said.calls ?? []).map(([name, input], at): ToolCall => ({
          ...{ id: `call-${requests.length}-${at + 1}`, name },
          ...(input !== undefined && { input }),
        }));
        return Promise.resolve({
          ...{ text: said.text ?? '', finish: said.finish ?? 'stop', dollars: said.dollars },
          ...(calls.length > 0 && { calls }),
          ...{ key: String(requests.length), parameters: { maxOutputTokens: 4096 } },
        } as unknown as StepOf<'answer'>);
      },
      act: async (answer, number, _before, make) => {
        const act = { ...(await make()), key: `${answer.key}.${number}` } as unknown as ActStep;
        acts.push(act);
        return act;
      },
      view: more.view ?? (() => Promise.resolve(made.view)),
      reporter: silent,
    }).toEnd();
    return { end, requests, acts };
  };
  /** What the model got for its last answer. */
  const lastOf = ({ requests }: Played): string => {
    const { content, results = [] } = requests.at(-1)?.messages.at(-1) ?? { content: '' };
    return [content, ...results.map(({ text }) => text)].join('\n---\n');
  };

  it('gives the model what the golden transcript says, from the issue to a test that fails', async () => {
    const played = await play([
      {
        text: 'I read the code.',
        calls: [
          ['search_code', { query: 'allocate', kind: 'function' }],
          ['read_file', { path: 'tallybook/money.py', start_line: 40, end_line: 60 }],
        ],
      },
      {
        calls: [
          ['apply_candidate', { patch: patch(2001) }],
          ['list_candidate_tests', {}],
        ],
      },
      {
        text: 'It should be 2000.',
        calls: [
          ['apply_candidate', { patch: patch() }],
          ['run_tests', {}],
        ],
      },
      { text: 'The test shows that a cent is lost.' },
    ]);
    const { end, requests, acts } = played;
    assert.deepEqual([end.ending, end.calls, acts.length], ['stopped', 4, 6]);
    assert.equal(end.patch, acts[4]?.patch);
    assert.match(end.patch, /, 2000\)/);
    assert.match(acts[5]?.observation ?? '', /FAILED tests\/test_lost_cent\.py/);
    // What a run prints depends on the runner of this machine.
    assertGolden(requests[2]);
  });

  it('makes parallel calls in their order, so that a run has the candidate before it', async () => {
    const { acts, requests } = await play([
      {
        calls: [
          ['apply_candidate', { patch: patch() }],
          ['run_tests', {}],
          ['read_issue', {}],
          ['apply_candidate', { patch: addedFile('tests/test_b.py', 'def test_b():', '    pass') }],
          ['list_candidate_tests', {}],
        ],
      },
    ]);
    const said = acts.map(({ observation }) => observation);
    assert.match(said[1] ?? '', /test_no_cent_is_lost/);
    assert.match(said[4] ?? '', /tests\/test_b\.py::test_b/);
    assert.doesNotMatch(said[4] ?? '', /lost_cent/);
    assert.deepEqual(
      requests[1]?.messages.at(-1)?.results?.map(({ id }) => id),
      [1, 2, 3, 4, 5].map((each) => `call-1-${each}`),
    );
  });

  it('answers calls that cannot be made: unknown tools, wrong arguments, too many', async () => {
    const many = Array.from({ length: 22 }, () => ['read_issue', {}] as const);
    const played = await play([
      { calls: [['bash', { command: 'ls' }]] },
      {
        calls: [
          ['read_file', { file: 'x' }],
          ['read_file', 'x'],
          ['apply_candidate', { patch: 'no' }],
        ],
      },
      { calls: many },
    ]);
    const { acts } = played;
    assert.match(acts[0]?.observation ?? '', /There is no tool "bash"\. Call one of read_issue, /);
    for (const at of [1, 2]) {
      assert.match(acts[at]?.observation ?? '', /input of read_file is invalid[^]*schema/);
    }
    assert.match(acts[3]?.observation ?? '', /does not apply to the repository/);
    assert.ok(acts.slice(0, 4).every(({ call }) => call?.isError === true));
    assert.deepEqual(
      acts.slice(4).map(({ call }) => call?.isError),
      many.map((_, at) => at >= 20),
    );
    assert.match(acts.at(-1)?.observation ?? '', /an answer can have at most 20 calls/);
  });

  it('asks again when an answer was cut off in a call, and leaves that call out of the history', async () => {
    const played = await play([
      { text: 'I write it.', calls: [['read_issue', {}], ['apply_candidate']], finish: 'length' },
      { text: 'Long words', finish: 'length' },
      { calls: [['apply_candidate']] },
      { calls: [['apply_candidate', { patch: patch() }]] },
      { text: 'Done.' },
    ]);
    const { requests, acts, end } = played;
    assert.deepEqual([end.ending, end.calls], ['stopped', 5]);
    assert.equal(acts.length, 2, 'a call that is not whole is not made');
    const first = requests[1]?.messages;
    assert.deepEqual(
      first?.at(-2)?.calls?.map(({ name }) => name),
      ['read_issue'],
    );
    assert.match(
      first?.at(-1)?.results?.[0]?.text ?? '',
      /cut off at its limit of 4096 tokens, so the call of apply_candidate was not made/,
    );
    assert.match(requests[2]?.messages.at(-1)?.content ?? '', /before a call was whole/);
    assert.match(
      requests[3]?.messages.at(-1)?.content ?? '',
      /not valid JSON, so the call of apply_cand/,
    );
    assert.equal(requests[3]?.messages.at(-2)?.content, '(no text)');
  });

  it('says once and again that there is no candidate, and ends by the third answer without a call', async () => {
    const played = await play([{ text: 'Hello.' }, { text: 'Hello?' }, { text: 'Well.' }]);
    assert.deepEqual([played.end.ending, played.end.calls, played.end.patch], ['format', 3, '']);
    assert.match(lastOf(played), /no candidate yet/);
    const refused = await play([{ text: 'I cannot.', finish: 'refused' }]);
    assert.deepEqual([refused.end.ending, refused.end.calls], ['stopped', 1]);
    const apart = await play([
      {},
      {},
      { calls: [['read_issue', {}]] },
      {},
      {},
      { calls: [['apply_candidate', { patch: patch() }]] },
    ]);
    assert.deepEqual([apart.end.ending, apart.end.calls], ['stopped', 7]);
  });

  it('ends at its limits of calls and dollars with the candidate that there is', async () => {
    const reads: Said[] = Array.from({ length: 30 }, () => ({
      calls: [['read_issue', {}]],
      dollars: 0.7,
    }));
    const [apply]: Said[] = [{ calls: [['apply_candidate', { patch: patch() }]], dollars: 0.7 }];
    const script = [apply ?? {}, ...reads];
    const calls = await play(script, { limits: { dollars: 100 } });
    assert.deepEqual([calls.end.ending, calls.end.calls], ['calls', 20]);
    assert.match(calls.end.patch, /test_no_cent_is_lost/);
    const cost = await play(script);
    assert.deepEqual([cost.end.ending, cost.end.calls], ['cost', 5]);
  });

  it('leaves out the oldest results when the history is full, and ends when nothing is left to leave out', async () => {
    const read: Said = { calls: [['read_file', { path: 'tallybook/money.py' }]] };
    const played = await play(Array<Said>(12).fill(read), {
      limits: { calls: 12, contextTokens: 7000 },
    });
    assert.equal(played.end.ending, 'calls');
    const texts = (at: number): string[] =>
      (played.requests[at]?.messages ?? []).flatMap(({ results = [] }) =>
        results.map(({ text }) => text),
      );
    const last = texts(11);
    assert.match(last[0] ?? '', /removed to save space/);
    assert.match(last.at(-1) ?? '', /allocate/);
    // The beginning stays as it is for several requests, for the caches of providers.
    const left = played.requests.map(
      (_, at) => texts(at).filter((text) => text.startsWith('[This')).length,
    );
    assert.ok(new Set(left).size < left.length - 3, left.join(' '));
    const tiny = await play([read, read], { limits: { contextTokens: 3200 } });
    assert.equal(tiny.end.ending, 'context');
  });

  it('fails where tests cannot run, so that no candidate counts that was never run', async () => {
    const view = (): Promise<ModelView> =>
      Promise.resolve({
        ...made.view,
        runOnR: () =>
          Promise.reject(new TestsCannotRun('The image cannot be built', 'See the log')),
      });
    const script: Said[] = [
      {
        calls: [
          ['apply_candidate', { patch: patch() }],
          ['run_tests', {}],
        ],
      },
    ];
    await assert.rejects(play(script, { view }), (error: unknown) => {
      assert.ok(error instanceof HumanError);
      assert.match(error.message, /image cannot be built/);
      return true;
    });
  });
});

/** A request, as a person would read it. UPDATE_GOLDEN=1 writes it anew. */
function assertGolden(request: ToolRequest | undefined): void {
  const text = [
    `--- system\n${request?.system ?? ''}`,
    ...(request?.messages ?? []).map(({ role, content, calls = [], results = [] }) =>
      [
        `--- ${role}`,
        ...(content === '' ? [] : [content]),
        ...calls.map(({ name, input }) => `> ${name} ${JSON.stringify(input, null, 1)}`),
        ...results.map((each) => `< ${each.name}${each.isError ? ' (error)' : ''}\n${each.text}`),
      ].join('\n'),
    ),
  ].join('\n');
  const path = join(__dirname, 'golden', 'tools.txt');
  if (process.env['UPDATE_GOLDEN'] === '1' || !existsSync(path)) writeFileSync(path, `${text}\n`);
  assert.equal(`${text}\n`, readFileSync(path, 'utf8'));
}
