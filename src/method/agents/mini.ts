import { throwIfAborted } from '../../domain/work';
import { bounded } from '../tools/tool';
import { quotedForShell } from '../../engine/programs';
import type {
  ShellWork,
  ShellTask,
  AgentTurn,
  AgentObservation,
  ParsedAnswer,
  ShellAgent,
} from './agent';
import type { ShellState } from '../traces/traceSteps';
import { reproducingTask } from './reproducingTask';
import { whyStopped } from './whyStopped';
import { fencedBlocks } from './fencedBlocks';

/** The command whose output ends the run. */
const submission = 'SUBMIT_REPRODUCING_TESTS';

/** Characters of output that the model is shown: the first and the last 5,000. */
const shown = 10_000;

/**
 * mini-SWE-agent 2.4 (`agents/default.py`, `config/benchmarks/swebench_backticks.yaml`), with its rules
 * inverted for tests: bash only, a new shell for each command, the whole history. The prompts are our
 * own.
 */
export const mini: ShellAgent = {
  needs: 'shell',
  name: 'mini',
  title: 'mini-SWE-agent',
  description: 'an agent with bash alone; a new shell for each command',
  version: 1,
  limits: {
    paper: { calls: 250, dollars: 3, commandSeconds: 60, contextTokens: 128_000 },
    modern: { calls: 250, dollars: 3, commandSeconds: 180, contextTokens: 400_000 },
  },
  temperature: 0,
  topP: undefined,
  formatErrors: 3,
  submitsAtEnd: false,
  system: () => `You are a software engineer who works in a terminal to write tests.

Each of your answers must have a THOUGHT that explains what you do next and why, and then exactly one command:

THOUGHT: Your reasoning

\`\`\`bash
your_command_here
\`\`\`

You then see its output. You can join several steps with && or ||. An answer with no such block, or with more than one, is rejected.`,
  messages(task, turns) {
    const first = { role: 'user', content: firstMessage(task) } as const;
    return [
      first,
      ...turns.flatMap(({ answer, observation }: AgentTurn) => [
        { role: 'assistant', content: answer } as const,
        { role: 'user', content: observation } as const,
      ]),
    ];
  },
  parse(answer): ParsedAnswer {
    const blocks = fencedBlocks(answer).filter(({ language }) => language === 'bash');
    const [block] = blocks;
    if (block === undefined || blocks.length > 1) {
      return {
        problem: `Your answer has ${blocks.length} commands. Give exactly one command, in one block that starts with \`\`\`bash and ends with \`\`\`. To end the task, run: echo ${submission}`,
      };
    }
    return { thought: answer.slice(0, block.start).trim(), action: block.text.trim() };
  },
  act,
};

const firstMessage = (task: ShellTask): string => `${reproducingTask(task)}
5. Remove any other files that you created.
6. Submit your tests with this command, on its own: echo ${submission}

Note:
- Each command runs in a new shell in ${task.folder}. Changes to the directory or to variables do not persist.
- A command can run for ${task.limits.commandSeconds} seconds and has no input and no network access. Do not start editors or pagers.
- You have at most ${task.limits.calls} commands.`;

async function act(
  action: string,
  { workspace, task, state, signal }: ShellWork,
): Promise<AgentObservation<ShellState>> {
  const { folder, limits } = task;
  const program = `PAGER=cat MANPAGER=cat PIP_PROGRESS_BAR=off TQDM_DISABLE=1 bash -c ${quotedForShell(action)}`;
  const result = await workspace.run({
    command: `cd ${quotedForShell(folder)} && ${program}`,
    timeoutSeconds: limits.commandSeconds,
    keptBytes: 8 * shown,
    signal,
  });
  throwIfAborted(signal);
  const stopped = whyStopped(result, limits.commandSeconds);
  const isSubmission = result.exitCode === 0 && result.output.trimStart().startsWith(submission);
  const output = bounded(result.output, shown);
  const text = [
    ...(stopped === undefined ? [] : [`<note>${stopped}</note>`]),
    ...result.remarks.map((each) => `<note>${each}</note>`),
    `<returncode>${result.exitCode ?? 'none'}</returncode>`,
    `<output>\n${output}${output.endsWith('\n') || output === '' ? '' : '\n'}</output>`,
  ].join('\n');
  return { text, state: { ...state, cwd: folder }, isSubmission };
}
