import { HumanError, messageOf, throwIfAborted } from '../../domain/humanError';
import { folderDigest } from '../../files/folderDigest';
import type { LimitProfile } from '../agents/agent';
import type { Method, MethodCandidate, MethodOptions, MethodResult } from '../method';
import type { Steps } from '../steps';
import type { StepOf } from '../trace';
import { acpPresets, wordsOfCommand, type AcpPreset } from './acpPresets';
import type { AcpAgent, AcpLimits } from './acpRun';
import type { AcpEnding } from './acpEnding';

/** What the names of these methods begin with. */
export const acpPrefix = 'acp:';

/** Seconds of a session: OpenHands gives a prompt as many. */
export const usualAcpSeconds = 3600;

const limitsOf: Readonly<Record<LimitProfile, AcpLimits>> = {
  paper: { calls: 100, dollars: 3 },
  modern: { calls: 500, dollars: 10 },
};

/** How an agent of the protocol is used. */
interface AcpUse {
  /** Folder with its program and runtime. */
  readonly program?: string | undefined;
  readonly seconds?: number | undefined;
}

/** The preset of a method's name; undefined for any other command. */
export const presetOf = (name: string): AcpPreset | undefined =>
  acpPresets.find((each) => `${acpPrefix}${each.name}` === name);

/**
 * The method that lets an agent of the Agent Client Protocol work on an instance: `acp:PRESET`, or
 * `acp:COMMAND` for any other program.
 *
 * @returns undefined for another name
 * @throws HumanError when the name has no command
 */
export function acpMethod(name: string, use: AcpUse = {}): Method | undefined {
  if (!name.startsWith(acpPrefix)) return undefined;
  const agent = agentOf(name, use);
  return {
    ...{ name, title: agent.title, runs: 'workspace', samples: 1, temperature: 0 },
    description: 'an agent of the Agent Client Protocol, which brings its own tools',
    limits: limitsOf,
    async produce(steps, { limits = 'paper', onCandidate }) {
      const session = await steps.converse(agent, limitsOf[limits]);
      return resultOf(session, steps, onCandidate);
    },
  };
}

function agentOf(name: string, { program, seconds = usualAcpSeconds }: AcpUse): AcpAgent {
  const of = { name, program, programDigest: digestOnce(program), seconds };
  const preset = presetOf(name);
  if (preset !== undefined) return { ...preset, ...of };
  const argv = wordsOfCommand(name.slice(acpPrefix.length));
  const [title = ''] = argv;
  return { ...of, title, argv, env: () => ({}) };
}

/** The digest of a program's folder, which is read once for all instances of a run. */
function digestOnce(program: string | undefined): AcpAgent['programDigest'] {
  let digest: Promise<string> | undefined;
  return async (signal) => {
    if (program === undefined) return undefined;
    digest ??= folderDigest(program, signal);
    try {
      return await digest;
    } catch (error) {
      throwIfAborted(signal);
      throw new HumanError(
        `The folder ${program} of the agent's program cannot be read (${messageOf(error)})`,
        'Name a folder that has the agent and its runtime with --agent-program',
      );
    }
  };
}

/** What an agent leaves is submitted, however its session ended. */
async function resultOf(
  session: StepOf<'session'>,
  steps: Pick<Steps, 'convert'>,
  onCandidate: MethodOptions['onCandidate'],
): Promise<MethodResult> {
  const { patch } = session;
  const why = whyOf(session);
  if (patch === '') return { candidates: [], chosen: undefined, why };
  const candidate: MethodCandidate = {
    sample: 1,
    patch: await steps.convert(patch, { key: session.key }),
  };
  onCandidate?.(candidate);
  return { candidates: [candidate], chosen: candidate, why };
}

const words: Readonly<Record<AcpEnding, string>> = {
  finished: 'finished',
  refused: 'the agent refused',
  'cut off': 'ended by a limit of the agent or of its model',
  crashed: 'the agent broke off',
  silent: 'the agent never answered',
  time: 'ended by its time limit',
  calls: 'ended by its limit of calls',
  cost: 'ended by the limit of dollars',
  output: 'ended because it wrote too much',
  disk: 'ended because it filled the disk',
  memory: 'ended because it used up the memory',
  cancelled: 'the agent cancelled its turn',
};

function whyOf({ ending, why, answers, patch, leftOut }: StepOf<'session'>): string {
  const left = leftOut.map(([path, reason]) => `; ${path} is left out: ${reason}`);
  return [
    `${words[ending]} after ${answers.length} calls`,
    ...(why === '' ? [] : [` (${why.slice(0, 300)})`]),
    ...(patch === '' ? [', with no change'] : []),
    ...left.slice(0, 20),
  ].join('');
}
