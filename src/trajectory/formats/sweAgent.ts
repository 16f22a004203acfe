import { z } from 'zod';
import type { Spending, Trajectory, TrajectoryStep } from '../trajectory';
import { messageContent, messageText } from './messageText';

const text = z.string().catch('');

/** The state after a step: an object, or in older files JSON of one. */
const stateSchema = z
  .looseObject({
    working_dir: z.string().optional().catch(undefined),
    /** Unified diff from R, where the configuration has the tool that records it. */
    diff: z.string().optional().catch(undefined),
  })
  .catch({});

const stepSchema = z.looseObject({
  action: text,
  observation: text,
  thought: text,
  response: text,
  state: z.union([z.string(), stateSchema]).catch(''),
  /** Seconds of the action. */
  execution_time: z.number().optional().catch(undefined),
});

const messageSchema = z.looseObject({
  role: z.string(),
  content: messageContent.optional(),
  thought: z.string().nullish().catch(undefined),
  action: z.string().nullish().catch(undefined),
  is_demo: z.boolean().optional().catch(undefined),
});
type Message = z.infer<typeof messageSchema>;

const number = z.number().optional().catch(undefined);

const infoSchema = z
  .looseObject({
    exit_status: z.string().nullish().catch(undefined),
    submission: z.string().nullish().catch(undefined),
    model_stats: z
      .looseObject({ instance_cost: number, tokens_sent: number, tokens_received: number })
      .catch({})
      .optional(),
  })
  .catch({});

/**
 * A `.traj` file of SWE-agent (`sweagent/types.py`, versions 0 and 1). Demonstrations have only the
 * history.
 */
export const sweAgentSchema = z
  .looseObject({
    trajectory: z.array(stepSchema).optional(),
    history: z.array(messageSchema).optional().catch(undefined),
    info: infoSchema.optional(),
    replay_config: z.unknown().optional(),
  })
  .refine(
    ({ trajectory, history }) => trajectory !== undefined || history !== undefined,
    'it has neither a trajectory nor a history',
  );

/** @param instance the id that the name of the file says */
export function readSweAgent(file: z.infer<typeof sweAgentSchema>, instance: string): Trajectory {
  const { trajectory = [], history = [], info = {} } = file;
  const steps =
    trajectory.length > 0 ? [...asked(history), ...acted(trajectory)] : ofHistory(history);
  const model = modelIn(file.replay_config);
  const { exit_status: ending, submission, model_stats: stats } = info;
  return {
    instance,
    format: 'swe-agent',
    agent: 'SWE-agent',
    ...(model !== undefined && { model }),
    steps,
    ...(typeof submission === 'string' && submission !== '' && { submission }),
    ...(typeof ending === 'string' && { ending }),
    ...(stats !== undefined && { stated: spending(stats) }),
  };
}

function spending(stats: {
  readonly instance_cost?: number | undefined;
  readonly tokens_sent?: number | undefined;
  readonly tokens_received?: number | undefined;
}): Spending {
  const { instance_cost: dollars, tokens_sent: input, tokens_received: output } = stats;
  // Replays and demonstrations count nothing.
  if ((input ?? 0) === 0 && (dollars ?? 0) === 0) return {};
  return {
    ...(dollars !== undefined && { dollars }),
    ...(input !== undefined && { inputTokens: input }),
    ...(output !== undefined && { outputTokens: output }),
  };
}

/** The messages before the first answer. */
function asked(history: readonly Message[]): TrajectoryStep[] {
  const first = history.findIndex(({ role, is_demo }) => role === 'assistant' && is_demo !== true);
  return history.slice(0, first === -1 ? history.length : first).map(askedStep);
}

const askedStep = ({ role, content, is_demo }: Message): TrajectoryStep => ({
  kind: 'asked',
  turn: 0,
  label: is_demo === true ? 'demonstration' : role,
  text: messageText(content),
});

function acted(trajectory: readonly z.infer<typeof stepSchema>[]): TrajectoryStep[] {
  let before: string | undefined;
  return trajectory.flatMap((step, index): TrajectoryStep[] => {
    const { action, observation, execution_time: seconds } = step;
    const turn = index + 1;
    const thought = step.thought === '' && action === '' ? step.response : step.thought;
    const { working_dir: folder, diff } = stateOf(step.state);
    const isNew = diff !== undefined && diff !== before;
    before = diff ?? before;
    return [
      { kind: 'thought', turn, text: thought },
      ...(action.trim() === '' ? [] : [{ kind: 'action', turn, text: action.trimEnd() } as const]),
      {
        kind: 'observation',
        turn,
        text: observation,
        ...(seconds !== undefined && { seconds }),
        ...(folder !== undefined && { folder }),
        ...(isNew && { diff }),
      },
    ];
  });
}

function stateOf(state: z.infer<typeof stepSchema>['state']): z.infer<typeof stateSchema> {
  if (typeof state !== 'string') return state;
  try {
    return stateSchema.parse(JSON.parse(state));
  } catch {
    return {};
  }
}

/** The steps of a file that has only messages. */
function ofHistory(history: readonly Message[]): TrajectoryStep[] {
  let turn = 0;
  return history.flatMap((message): TrajectoryStep[] => {
    const { role, content, thought, action } = message;
    if (message.is_demo === true || role === 'system') return [askedStep(message)];
    if (role !== 'assistant') {
      return turn === 0
        ? [askedStep(message)]
        : [{ kind: 'observation', turn, text: messageText(content) }];
    }
    turn += 1;
    const hasAction = typeof action === 'string' && action.trim() !== '';
    return [
      { kind: hasAction ? 'thought' : 'answer', turn, text: thought ?? messageText(content) },
      ...(hasAction ? [{ kind: 'action', turn, text: action.trimEnd() } as const] : []),
    ];
  });
}

const replayConfig = z.looseObject({
  agent: z.looseObject({ model: z.looseObject({ name: z.string() }) }),
});

/** The model in the configuration, which newer files have as an object and others as JSON. */
function modelIn(config: unknown): string | undefined {
  try {
    const value: unknown = typeof config === 'string' ? JSON.parse(config) : config;
    return replayConfig.safeParse(value).data?.agent.model.name;
  } catch {
    return undefined;
  }
}
