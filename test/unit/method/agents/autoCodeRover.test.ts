import assert from 'node:assert/strict';
import type { AgentLimits } from '../../../../src/method/agents/agent';
import { autoCodeRover } from '../../../../src/method/agents/autoCodeRover';
import { viewForTests } from '../sampleView';
import { assertGolden, playAgent, type Played } from './playAgent';

const json = (calls: readonly string[], locations: readonly object[] = []): string =>
  `\`\`\`json\n${JSON.stringify({ API_calls: calls, relevant_locations: locations })}\n\`\`\``;

const searching = 'Look at allocate and at its tests.';
const analysis = 'Rounding each part can lose or invent a cent.';
const located = 'I have seen enough: Money.allocate, and AllocateTest in tests/test_money.py.';
const locations = json(
  [],
  [
    { file: 'tallybook/money.py', class: 'Money', method: 'allocate' },
    { file: 'tests/test_money.py', class: 'AllocateTest', method: null },
  ],
);

const testLines = `import unittest

from tallybook import Money


class LostCentTest(unittest.TestCase):
    def test_no_cent_is_lost(self):
        parts = Money(2000).allocate([1, 1, 1])
        self.assertEqual(sum(part.cents for part in parts), 2000)`;

const edit = (path: string, original: string, patched: string): string =>
  `<file>${path}</file>\n<original>\n${original}\n</original>\n<patched>\n${patched}\n</patched>`;

const newTest = `Here it is.\n${edit('tests/test_lost_cent.py', '', testLines)}`;

describe('AutoCodeRover', () => {
  const sample = viewForTests();

  const play = (
    script: readonly string[],
    { dollars, ...limits }: Partial<AgentLimits & { rounds: number }> = {},
    issue = 'Sharing 20.00 out to three loses a cent.',
  ): Promise<Played> =>
    playAgent(autoCodeRover, script, {
      task: {
        ...{ repo: 'tallybook/tallybook', issue },
        limits: { ...autoCodeRover.limits.paper, ...limits },
      },
      first: { stage: 'search', round: 1, tries: 0 },
      open: () => Promise.resolve(sample.files()),
      losesOnRestart: false,
      dollars,
    });

  it('is told what the golden transcripts say', async () => {
    const played = await play([
      searching,
      json(['search_method("allocate", "Money")']),
      json([
        'search_method("allocate")',
        "search_class('AllocateTest')",
        'search_method_in_class("parse", "Money")',
        'search_code(code="allocate([1, 1, 1])")',
        'search_class("Nothing")',
        'show_file_start("test_money.py")',
      ]),
      analysis,
      located,
      locations,
      'No edit.',
      edit('tests/test_money.py', 'no such line', 'x = 1'),
      newTest,
    ]);
    assert.equal(played.end.ending, 'submitted');
    assert.match(played.end.patch, /^diff --git a\/tests\/test_lost_cent\.py[^]*\nnew file mode/);
    assertGolden('autocoderover', played.requests.at(-1));
    assertGolden('autocoderover-translation', played.requests[2]);
  });

  it('translates each answer anew, and names searches again after the second failed try', async () => {
    const { requests, end } = await play([
      ...[searching, 'no', '{"API_calls": ["search_all()"]}'],
      ...[located, locations, newTest],
    ]);
    const told = requests.map(({ messages }) => messages);
    assert.deepEqual(
      told.map((each) => each.length),
      [1, 1, 3, 3, 1, 5],
    );
    assert.match(told[3]?.at(-1)?.content ?? '', /^Your search calls could not be parsed/);
    assert.equal(end.ending, 'submitted');
    const roles = told.at(-1)?.map(({ role }) => role);
    assert.deepEqual(roles, ['user', 'assistant', 'user', 'assistant', 'user']);
  });

  it('writes when no round is left, located or not', async () => {
    const round = [searching, json(['search_class("Money")']), analysis];
    const { requests, end } = await play([...round, ...round, newTest], { rounds: 2 });
    assert.equal(requests.length, 7);
    assert.match(requests.at(-1)?.messages.at(-1)?.content ?? '', /^Now write the tests/);
    assert.equal(end.ending, 'submitted');
    const neither = await play([searching, json([]), searching, json([]), newTest], { rounds: 2 });
    assert.match(neither.requests[2]?.messages.at(-1)?.content ?? '', /neither search calls nor/);
    assert.equal(neither.end.ending, 'submitted');
  });

  it('gives up after three tries that edit nothing, and has changed nothing then', async () => {
    const half = `${newTest}\n${edit('tests/test_money.py', 'no such line', 'x = 1')}`;
    const { end, acts } = await play([searching, locations, half, half, half, newTest]);
    assert.deepEqual([end.ending, end.calls, end.patch], ['given up', 5, '']);
    assert.match(acts.at(-1)?.observation ?? '', /tests\/test_money\.py: the original lines are/);
  });

  it('ends at its limits of calls, dollars and length, and by answers without a text', async () => {
    const script = [searching, json(['search_class("Money")']), analysis, located];
    const long = 'Money is lost. '.repeat(4000);
    assert.equal((await play(script, { calls: 4 })).end.ending, 'calls');
    assert.deepEqual((await play(script, { dollars: 1.1 })).end.calls, 3);
    assert.equal((await play(script, { contextTokens: 4000 }, long)).end.ending, 'context');
    assert.equal((await play(['', ' ', ''])).end.ending, 'format');
  });
});
