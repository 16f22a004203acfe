import assert from 'node:assert/strict';
import type { CommandResult } from '../../../../src/engine/sandbox/workspace';
import type { AgentLimits, ShellAgent } from '../../../../src/method/agents/agent';
import { mini } from '../../../../src/method/agents/mini';
import { sweAgent, sweAgentPlus } from '../../../../src/method/agents/sweAgent';
import { folder, madeUpWorkspace } from './madeUpWorkspace';
import { assertGolden, playAgent, type Played } from './playAgent';

const issue = 'purr() of a sleeping cat raises TypeError. It should return 0.';
const files = {
  'cat.py': Array.from({ length: 250 }, (_, index) => `line_${index + 1} = ${index + 1}\n`).join(
    '',
  ),
};

const play = (
  agent: ShellAgent,
  script: readonly string[],
  {
    shell,
    limits = {},
    dollars,
  }: {
    shell?: (command: string) => Partial<CommandResult>;
    limits?: Partial<AgentLimits>;
    dollars?: number;
  } = {},
): Promise<Played> =>
  playAgent(agent, script, {
    task: { repo: 'octo/cat', issue, folder, limits: { ...agent.limits.paper, ...limits } },
    first: { cwd: folder },
    open: () => Promise.resolve(madeUpWorkspace(files, shell).workspace),
    losesOnRestart: true,
    dollars,
  });

const says = (command: string, language = ''): string =>
  `Something to try.\n\`\`\`${language}\n${command}\n\`\`\``;

describe('the loop of agents', () => {
  const script = [
    says('open cat.py'),
    says('scroll_down'),
    says('goto 240'),
    says('edit 240:241\nchanged = True\nend_of_edit'),
    says('search_file changed'),
    says('ls'),
    says('cat nothing'),
    says('submit'),
  ];
  const shell = (command: string): Partial<CommandResult> =>
    command === 'ls'
      ? { output: 'cat.py\n' }
      : command === 'cat nothing'
        ? { output: 'cat: nothing: No such file\n', exitCode: 1 }
        : {};

  it('gives SWE-Agent what the golden transcripts say', async () => {
    const played = await play(sweAgent, script, { shell });
    assert.equal(played.end.ending, 'submitted');
    assertGolden('swe-agent', played.requests.at(-1));
    const plus = await play(sweAgentPlus, script.slice(-1));
    assertGolden('swe-agent-plus', plus.requests.at(-1));
  });

  it('gives mini what the golden transcript says', async () => {
    const answers = ['ls', 'sleep 900', 'head -c 99999 x', 'echo SUBMIT_REPRODUCING_TESTS'];
    const outputs: Readonly<Record<string, Partial<CommandResult>>> = {
      ls: { output: 'cat.py\n' },
      'sleep 900': { ending: 'timed out', exitCode: 137 },
      'head -c 99999 x': { output: 'x'.repeat(99_999) },
      'echo SUBMIT_REPRODUCING_TESTS': { output: 'SUBMIT_REPRODUCING_TESTS\n' },
    };
    const played = await play(
      mini,
      answers.map((each) => says(each, 'bash')),
      { shell: (line) => outputs[/bash -c '(.*)'$/.exec(line)?.[1] ?? ''] ?? {} },
    );
    assert.equal(played.end.ending, 'submitted');
    assert.equal(played.end.calls, 4);
    assertGolden('mini', played.requests.at(-1));
  });

  it('shows the last five observations of SWE-Agent in full, and the first message always', async () => {
    const { requests } = await play(
      sweAgent,
      [...Array<string>(9).fill(says('ls')), says('submit')],
      {
        shell,
      },
    );
    const told = requests.at(-1)?.messages.map(({ content }) => content) ?? [];
    assert.match(told[0] ?? '', /DEMONSTRATION[^]*purr\(\) of a sleeping cat/);
    const seen = told.filter((_, index) => index > 0 && index % 2 === 0);
    assert.deepEqual(
      seen.map((each) => each.startsWith('(old output')),
      [true, true, true, true, false, false, false, false, false],
    );
  });

  it('asks again after format errors and blocked commands, which leave no trace in the history', async () => {
    const { end, requests, acts } = await play(sweAgent, [
      'no command',
      says('git log'),
      says('ls'),
      says('vim cat.py'),
      says('submit'),
    ]);
    assert.deepEqual([end.ending, end.calls, acts.length], ['submitted', 5, 2]);
    assert.match(requests[2]?.messages.at(-1)?.content ?? '', /"git log" is not available here/);
    assert.equal(requests[3]?.messages.length, 3);
  });

  it('ends by the third format error in a row, and not by more of them apart', async () => {
    const three = await play(sweAgent, ['a', 'b', 'c', says('submit')]);
    assert.deepEqual([three.end.ending, three.end.calls], ['format', 3]);
    const apart = await play(mini, ['', '', says('ls', 'bash'), '', '', says('ls', 'bash')], {
      limits: { calls: 6 },
    });
    assert.deepEqual([apart.end.ending, apart.acts.length], ['calls', 2]);
  });

  it('ends at its limits of calls, dollars and length', async () => {
    const ls = Array<string>(30).fill(says('ls'));
    const calls = await play(sweAgent, ls);
    assert.deepEqual([calls.end.ending, calls.end.calls], ['calls', 20]);
    const cost = await play(sweAgent, ls, { dollars: 0.7 });
    assert.deepEqual([cost.end.ending, cost.end.calls], ['cost', 5]);
    const long = await play(mini, Array<string>(30).fill(says('ls', 'bash')), {
      limits: { contextTokens: 3000 },
      shell: () => ({ output: 'many words of output\n'.repeat(100) }),
    });
    assert.equal(long.end.ending, 'context');
    assert.ok(long.end.calls >= 2);
  });
});
