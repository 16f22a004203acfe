import type { ShellTask, AgentTurn, ParsedAnswer, ShellAgent } from './agent';
import { fencedBlocks } from './fencedBlocks';
import { runSweAgentCommand, sweAgentCommandDocs } from './sweAgentCommands';
import { demonstration } from './sweAgentDemonstration';

/** Observations that a request holds in full, the last ones. */
const shownObservations = 5;

/** Programs that wait for input, and git, by which an agent could look for another history. */
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
): string => `You are an autonomous programmer who works in a terminal with special commands.

The terminal shows you a file through a window of 100 lines. Besides ordinary shell commands, you have these:

${sweAgentCommandDocs}

Indentation matters: \`edit\` replaces lines with exactly the text that you give, including spaces.

Each answer must have a discussion that says what you do next, and then exactly one command in a fenced block:

DISCUSSION
First I list the files.
\`\`\`
ls -a
\`\`\`

You then see the output of the command. If an answer has several blocks, only the last one runs. Interactive commands, such as editors or \`python\` without a file, do not work. A command can run for ${task.limits.commandSeconds} seconds.`;

const instanceText = (
  { repo, issue, folder }: ShellTask,
  tips: readonly string[],
): string => `Now it is your turn. Here is the issue:

ISSUE:
${issue}

INSTRUCTIONS:
The repository ${repo} is in ${folder}, in the state in which the issue was reported. Write tests for its test suite that reproduce the issue: they fail now, and they pass once the issue is resolved. Change only tests, and do not resolve the issue itself. When you are done, remove any other files that you created and run the command submit.
You can edit files and run any checks and tests that you want. There is no network access.

TIPS:
${tips.map((tip, index) => `${index + 1}. ${tip}`).join('\n')}

(Open file: n/a)
(Current directory: ${folder})
$`;

const tips = [
  'Start by reproducing the issue with a script. If the issue contains code for this, use it.',
  'If a command does not work, try a different one. Running the same command again gives the same output.',
  'To go to a distant line, use goto: it takes fewer steps than scroll_down.',
  'Look at the open file and the current directory, which are shown after each output: they may differ from what you expect.',
  'Check the result of each edit. If it is not what you intended, fix it.',
  'Find the test file that covers the code in question, and write your tests in its style.',
];

const plusTip =
  'Before you submit, run your tests and check that they fail because of the issue. A test that passes now does not reproduce the issue.';

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
  `(old output omitted: ${observation.split('\n').length} lines)`;

function parse(answer: string): ParsedAnswer {
  const block = fencedBlocks(answer).at(-1);
  const action = block?.text.trim() ?? '';
  if (block === undefined || action === '') {
    return {
      problem:
        'Your answer has no command. Write a discussion and then exactly one command in a fenced block:\n\nDISCUSSION\nWhat you do next.\n```\ncommand\n```',
    };
  }
  const [program = ''] = action.split(/\s+/);
  if (blocked.includes(program) || blockedAlone.includes(action)) {
    return {
      problem: `The command ${JSON.stringify(action.slice(0, 60))} is not available here: it is interactive or not allowed. Use a different command.`,
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
