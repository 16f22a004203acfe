import type { ShellTask, AgentTurn, ParsedAnswer, ShellAgent } from './agent';
import { fencedBlocks } from './fencedBlocks';
import { runSweAgentCommand, sweAgentCommandDocs } from './sweAgentCommands';
import { demonstration } from './sweAgentDemonstration';

/** Observations that a request holds in full, the last ones. */
const shownObservations = 5;

/** Programs that wait for a person, and git, by which an agent could look for another history. */
const blocked = ['vim', 'vi', 'emacs', 'nano', 'nohup', 'git'];

/** Programs that wait for input when they have no argument. */
const blockedAlone = [
  'python',
  'python3',
  'ipython',
  'bash',
  'sh',
  '/bin/bash',
  '/bin/sh',
  'exit',
  'su',
];

const systemText = (
  task: ShellTask,
): string => `You are a programmer who works alone in a terminal with a few special commands.

The terminal shows you a file through a window of 100 lines. Besides usual shell commands you have these:

${sweAgentCommandDocs}

Indentation matters: \`edit\` replaces lines by exactly the text that you give, blanks included.

Each answer has a discussion, which says what you do next, and then one command in a fenced block:

DISCUSSION
First I look at what is there.
\`\`\`
ls -a
\`\`\`

Give exactly one command and wait for its output: if you give two, only the last one is run. Commands that wait for a person, such as editors or \`python\` without a file, do not work. A command has ${task.limits.commandSeconds} seconds.`;

const instanceText = (
  { repo, issue, folder }: ShellTask,
  tips: readonly string[],
): string => `Now it is your turn. This is the issue:

ISSUE:
${issue}

INSTRUCTIONS:
The repository ${repo} lies in ${folder}, as it was when the issue was reported. Write tests for its test suite that reproduce the issue: they fail now because of the problem in the issue, and they pass as soon as the problem is solved as the issue asks. Do not solve the problem: change tests only. When you are done, run the command submit.
Each answer has exactly one command. There is no network.

TIPS:
${tips.map((tip, index) => `${index + 1}. ${tip}`).join('\n')}

(Open file: n/a)
(Current directory: ${folder})
$`;

const tips = [
  'Begin with the code and the tests that the issue is about. If it has a script, run that first to see the problem.',
  'When a command does not work, try another one. The same command again gives the same output.',
  'To look at a line far below, use goto: it needs fewer steps than scroll_down.',
  'Look at the open file and the current directory under each output: they may be others than you think.',
  'Check the result of each edit. If it is not what you intended, correct it.',
  'Look for the file of tests that covers the code in question, and write your tests in its style.',
];

const plusTip =
  'Before you submit, run your tests and check that they fail, and that they fail because of the issue. A test that passes now reproduces nothing.';

/**
 * SWE-agent 0.6.1 for tests (`config/default.yaml`, `config/commands`), whose window commands, history of
 * five observations and limits it keeps. The prompts and the demonstration are our own.
 */
function sweAgentLike(
  named: Pick<ShellAgent, 'name' | 'title' | 'description'>,
  allTips: readonly string[],
): ShellAgent {
  return {
    ...named,
    needs: 'shell',
    version: 1,
    limits: {
      paper: { calls: 20, dollars: 3, commandSeconds: 25, contextTokens: 128_000 },
      modern: { calls: 100, dollars: 3, commandSeconds: 120, contextTokens: 400_000 },
    },
    temperature: 0,
    topP: 0.95,
    formatErrors: 3,
    submitsAtEnd: true,
    system: systemText,
    messages(task, turns) {
      const first = `${demonstration}\n\n${instanceText(task, allTips)}`;
      const omitted = turns.length - shownObservations;
      return [
        { role: 'user', content: first } as const,
        ...turns.flatMap(({ answer, observation }: AgentTurn, index) => [
          { role: 'assistant', content: answer } as const,
          { role: 'user', content: index < omitted ? elided(observation) : observation } as const,
        ]),
      ];
    },
    parse,
    act: runSweAgentCommand,
  };
}

const elided = (observation: string): string =>
  `(old output left out: ${observation.split('\n').length} lines)`;

function parse(answer: string): ParsedAnswer {
  const block = fencedBlocks(answer).at(-1);
  const action = block?.text.trim() ?? '';
  if (block === undefined || action === '') {
    return {
      problem:
        'Your answer has no command. Give a discussion and then exactly one command in a fenced block:\n\nDISCUSSION\nWhat you do next.\n```\ncommand\n```',
    };
  }
  const [program = ''] = action.split(/\s+/);
  if (blocked.includes(program) || blockedAlone.includes(action)) {
    return {
      problem: `The command ${JSON.stringify(action.slice(0, 60))} does not work here: it waits for a person, or is not allowed. Give another command.`,
    };
  }
  return { thought: answer.slice(0, block.start).trim(), action };
}

/** SWE-Agent with its configuration of tests (SWT-Bench paper, section 4.3). */
export const sweAgent = sweAgentLike(
  {
    name: 'swe-agent',
    title: 'SWE-Agent',
    description:
      'an agent with a window of a file, an edit command that checks syntax, and a shell',
  },
  tips,
);

/** SWE-Agent that is also told to run its tests and to see them fail. */
export const sweAgentPlus = sweAgentLike(
  {
    name: 'swe-agent-plus',
    title: 'SWE-Agent+',
    description: 'SWE-Agent that is told to run its tests before it submits',
  },
  [...tips, plusTip],
);
