import assert from 'node:assert/strict';
import type { AgentLimits } from '../../../../src/method/agents/agent';
import { aider } from '../../../../src/method/agents/aider';
import { viewForTests } from '../sampleView';
import { assertGolden, playAgent, type Played } from './playAgent';

const diff = (...lines: readonly string[]): string => `\`\`\`diff\n${lines.join('\n')}\n\`\`\``;

const lostCent = diff(
  ...['--- tests/test_money.py', '+++ tests/test_money.py', '@@ ... @@'],
  '         self.assertEqual(amounts(parts), ["3.34", "3.33", "3.33"])',
  ' ',
  '+    def test_no_cent_is_lost(self):',
  '+        parts = Money(2000).allocate([1, 1, 1])',
  '+        self.assertEqual(sum(part.cents for part in parts), 2000)',
  '+',
  '     def test_useless_weights_are_refused(self):',
);
const broken = lostCent.replace('parts = Money(', 'parts = (Money(');
const mending = diff(
  ...['--- tests/test_money.py', '+++ tests/test_money.py', '@@ ... @@'],
  '     def test_no_cent_is_lost(self):',
  '-        parts = (Money(2000).allocate([1, 1, 1])',
  '+        parts = Money(2000).allocate([1, 1, 1])',
);
const unplaced = diff(
  ...['--- tests/test_money.py', '+++ tests/test_money.py', '@@ ... @@'],
  ...['     def test_that_is_not_there(self):', '-        nothing = 1', '+        nothing = 2'],
);

describe('Aider', () => {
  const sample = viewForTests();

  const play = async (
    script: readonly string[],
    { dollars, ...limits }: Partial<AgentLimits & { rounds: number }> = {},
    issue = 'Sharing 20.00 out to three loses a cent: allocate() rounds each part.',
  ): Promise<Played> => {
    const task = {
      ...{ repo: 'tallybook/tallybook', issue },
      limits: { ...aider.limits.paper, ...limits },
    };
    const workspace = sample.files();
    return playAgent(aider, script, {
      ...{ task, losesOnRestart: false, dollars },
      first: await aider.begin({ workspace, task }),
      open: () => Promise.resolve(workspace),
    });
  };
  const shown = ({ requests }: Played, at: number): string =>
    requests[at]?.messages[0]?.content ?? '';

  it('is told what the golden transcripts say', async () => {
    const played = await play(['I look at tests/test_money.py first.', unplaced, broken, mending]);
    assert.equal(played.end.ending, 'submitted');
    assertGolden('aider', played.requests[0]);
    assertGolden('aider-reflections', played.requests.at(-1));
    const added = played.end.patch.split('\n').filter((line) => /^[-+]/.test(line));
    assert.equal(added.length, 2 + 4);
  });

  it('shows files that the issue or the model mentions, as they are after each edit', async () => {
    const played = await play([broken, mending], {}, 'money.py of `tallybook` loses a cent.');
    assert.match(shown(played, 0), /tallybook\/money\.py is now:\n\n```\n"""Exact/);
    assert.doesNotMatch(shown(played, 0), /tests\/test_money\.py is now/);
    assert.match(shown(played, 1), /tests\/test_money\.py is now:[^]*parts = \(Money\(2000/);
    assert.doesNotMatch(shown(played, 1), /^tests\/test_money\.py:$/m, 'it left the map');
  });

  it('reflects at most three times, and submits what there is then', async () => {
    const played = await play([broken, unplaced, unplaced, unplaced, mending]);
    assert.deepEqual([played.end.ending, played.end.calls], ['given up', 4]);
    assert.match(played.end.patch, /parts = \(Money/);
    assert.ok(aider.submitsAtEnd);
  });

  it('is done when an answer leaves nothing to mend, with an edit or without', async () => {
    const one = await play([lostCent]);
    assert.deepEqual([one.end.ending, one.end.calls], ['submitted', 1]);
    const none = await play(['I would not change anything.']);
    assert.deepEqual([none.end.ending, none.end.patch], ['submitted', '']);
  });

  it('asks again for a diff that was cut off', async () => {
    const { requests, end } = await play([lostCent.slice(0, -10), lostCent]);
    assert.match(requests[1]?.messages.at(-1)?.content ?? '', /- The block of a diff has no end/);
    assert.equal(end.ending, 'submitted');
  });

  it('never writes outside R', async () => {
    for (const path of ['../out.py', '/tmp/out.py', '.git/hooks/post-checkout']) {
      const { end, acts } = await play([
        diff('--- /dev/null', `+++ ${path}`, '@@ ... @@', '+x = 1'),
        'I stop.',
      ]);
      assert.match(acts[0]?.observation ?? '', /could not be applied/);
      assert.equal(end.patch, '');
    }
  });

  it('keeps the last exchanges in its history, and the last one always', async () => {
    const long = (name: string): string => `${name} ${'talks on. '.repeat(2500)}\n${unplaced}`;
    const { requests } = await play([long('One'), long('Two'), long('Three')], { rounds: 9 });
    const told = requests[3]?.messages.map(({ content }) => content.slice(0, 5)) ?? [];
    assert.deepEqual(told.slice(3), ['Three', 'Your ']);
    assert.match(told[2] ?? '', /<issu/);
  });

  it('ends at its limits', async () => {
    assert.equal((await play([unplaced, unplaced], { calls: 2 })).end.ending, 'calls');
    assert.equal((await play([unplaced, unplaced], { dollars: 3 })).end.calls, 1);
    assert.equal((await play(['', '', ''])).end.ending, 'format');
    assert.equal((await play([lostCent], { contextTokens: 300 })).end.ending, 'context');
  });
});
