import { isDeepStrictEqual } from 'node:util';
import { HumanError, messageOf, throwIfAborted } from '../../domain/work';
import { folderDigest } from '../../files/digest';
import type { LimitProfile } from '../agents/agent';
import type { Method, MethodCandidate, MethodOptions, MethodResult } from '../method';
import type { Steps } from '../steps/steps';
import { providers } from '../models/providers';
import { readTests } from '../steps/readPatch';
import { keyOf, type ActStep, type MethodTrace, type StepOf } from '../trace';
import { acpPresets, type AcpDefinition, type AcpPreset } from './acpPresets';
import { acpPromptVersion } from './acpPrompt';
import type { AcpAgent, AcpLimits } from './acpRun';
import type { AcpEnding } from '../traces/traceSteps';
import { wordsOfCommand } from './wordsOfCommand';

/** What the names of these methods begin with. */
export const acpPrefix = 'acp:';

/** Whether a name is that of such a method. */
export const isAcp = (name: string): boolean => name.startsWith(acpPrefix);

/** Seconds of a session: OpenHands gives a prompt as many. */
export const defaultAcpSeconds = 3600;

const limitsOf: Readonly<Record<LimitProfile, AcpLimits>> = {
  paper: { calls: 100, dollars: 3 },
  modern: { calls: 500, dollars: 10 },
};

/** How an agent of the protocol is used. */
interface AcpUse {
  /** Folder of this machine with its program; undefined where the image has it. */
  readonly program: string | undefined;
  /** Seconds of a session; {@link defaultAcpSeconds} when absent. */
  readonly seconds?: number | undefined;
  /** Says how the folder is named, for errors: `Name … with --agent-program`. */
  readonly advice: string;
}

/** The preset of a method's name; undefined for any other command. */
const presetOf = (name: string): AcpPreset | undefined =>
  acpPresets.find((each) => `${acpPrefix}${each.name}` === name);

/**
 * The agent that a name of the command line stands for: `acp:PRESET`, or `acp:COMMAND` for any other
 * program.
 *
 * @throws HumanError when the name has no command
 */
export function acpNamed(name: string): AcpDefinition {
  const preset = presetOf(name);
  if (preset !== undefined) return preset;
  const argv = wordsOfCommand(name.slice(acpPrefix.length));
  const [title = ''] = argv;
  return { title, argv, providers, env: {} };
}

/**
 * An agent of the protocol, ready to be started.
 *
 * @param name of the method, which begins with {@link acpPrefix}
 */
export function acpAgent(
  name: string,
  definition: AcpDefinition,
  { program, seconds = defaultAcpSeconds, advice }: AcpUse,
): AcpAgent {
  return {
    ...{ ...definition, name, program, seconds, advice },
    definition: changedDefinition(name, definition),
    programDigest: digestOnce(program, advice),
  };
}

/** The method that lets an agent of the Agent Client Protocol work on an instance. */
export const acpMethod = (agent: AcpAgent): Method => ({
  ...{ name: agent.name, title: agent.title, runs: 'workspace', samples: 1, temperature: 0 },
  description: 'an agent of the Agent Client Protocol, which brings its own tools',
  limits: limitsOf,
  asksItself: { agent, providers: agent.providers },
  async produce(steps, { limits = 'paper', onCandidate }) {
    const session = await converse(steps, agent, limitsOf[limits]);
    return resultOf(session, steps, onCandidate);
  },
});

/**
 * The digest of a definition that its name does not stand for: sessions of two such are never taken
 * for each other.
 */
function changedDefinition(
  name: string,
  { argv, authMethod, env, files }: AcpDefinition,
): string | undefined {
  const preset = presetOf(name);
  const isNamed =
    preset === undefined
      ? isDeepStrictEqual(
          [commandOf(name), authMethod, env, files],
          [argv, undefined, {}, undefined],
        )
      : isDeepStrictEqual(
          [preset.argv, preset.authMethod, preset.env, preset.files],
          [argv, authMethod, env, files],
        );
  if (isNamed) return undefined;
  return keyOf('agent', argv, authMethod, env, ...(files === undefined ? [] : [files]));
}

/** The words of a name's command; undefined where it has none. */
function commandOf(name: string): readonly string[] | undefined {
  try {
    return acpNamed(name).argv;
  } catch (error) {
    if (error instanceof HumanError) return undefined;
    throw error;
  }
}

/** The digest of a program's folder, which is read once for all instances of a run. */
function digestOnce(program: string | undefined, advice: string): AcpAgent['programDigest'] {
  let digest: Promise<string> | undefined;
  return async (signal) => {
    if (program === undefined) return undefined;
    digest ??= folderDigest(program, signal);
    try {
      return await digest;
    } catch (error) {
      throwIfAborted(signal);
      throw new HumanError(
        `The agent folder ${program} cannot be read (${messageOf(error)})`,
        advice,
      );
    }
  };
}

/** Lets an agent that brings its own tools and program work on R until its session ends. */
async function converse(
  steps: Steps,
  agent: AcpAgent,
  limits: AcpLimits,
): Promise<StepOf<'session'>> {
  const { instance, model, engine, maxOutputTokens } = steps.parts;
  const { trace, budget, signal, reporter, onAnswer, onAct, onSession } = steps.parts;
  const { repo, issue } = instance;
  // Another version of a program is another agent.
  const programDigest = await agent.programDigest(signal);
  const of = [agent.name, acpPromptVersion, repo, issue, limits, agent.seconds, engine];
  const made = [programDigest, await steps.tree(), model, maxOutputTokens];
  const defined = agent.definition === undefined ? [] : [agent.definition];
  const key = keyOf('session', ...of, ...made, ...defined);
  let isLive = false;
  const session = await steps.recall('session', key, async ({ upstream, view, inTurn }) => {
    if (upstream === undefined) throw new Error('the run has no model for agents');
    isLive = true;
    const { AcpRun } = await import('./acpRun');
    return new AcpRun({
      ...{ agent, limits, key, programDigest, instance, model, upstream, view, trace, budget },
      ...{ maxOutputTokens, inTurn, signal, reporter, onAct },
    }).toEnd();
  });
  for (const each of session.answers) {
    const answer = trace.find('answer', each);
    if (answer !== undefined) onAnswer?.(answer);
  }
  if (!isLive) for (const act of actsOf(session, trace)) onAct?.(act);
  onSession?.(session);
  return session;
}

/** What an agent did in a session after its first answer, in its order. */
function actsOf({ answers }: StepOf<'session'>, { steps }: MethodTrace): ActStep[] {
  const keys = new Set(answers);
  return steps.filter((step): step is ActStep => step.step === 'act' && keys.has(step.answer));
}

/** What an agent leaves is submitted, however its session ended. */
async function resultOf(
  session: StepOf<'session'>,
  steps: Steps,
  onCandidate: MethodOptions['onCandidate'],
): Promise<MethodResult> {
  const { patch } = session;
  const why = whyOf(session);
  if (patch === '') return { candidates: [], chosen: undefined, why };
  const candidate: MethodCandidate = {
    sample: 1,
    patch: await readTests(steps, patch, { key: session.key }),
  };
  onCandidate?.(candidate);
  return { candidates: [candidate], chosen: candidate, why };
}

const words: Readonly<Record<AcpEnding, string>> = {
  finished: 'finished',
  refused: 'the agent refused',
  'cut off': 'ended by a limit of the agent or of its model',
  crashed: 'the agent stopped unexpectedly',
  silent: 'the agent never responded',
  time: 'stopped at the time limit',
  calls: 'stopped at the call limit',
  cost: 'stopped at the cost limit',
  output: 'stopped because it wrote too much output',
  disk: 'stopped because it filled the disk',
  processes: 'stopped because it started too many processes',
  memory: 'stopped because it ran out of memory',
  cancelled: 'the agent cancelled its turn',
};

function whyOf({ ending, why, answers, patch, leftOut }: StepOf<'session'>): string {
  const left = leftOut.map(([path, reason]) => `; ignored ${path}: ${reason}`);
  return [
    `${words[ending]} after ${answers.length} ${answers.length === 1 ? 'call' : 'calls'}`,
    ...(why === '' ? [] : [` (${why.slice(0, 300)})`]),
    ...(patch === '' ? [', without changes'] : []),
    ...left.slice(0, 20),
  ].join('');
}
