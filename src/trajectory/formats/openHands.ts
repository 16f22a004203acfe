import { z } from 'zod';
import type { Spending, Trajectory, TrajectoryStep } from '../trajectory';
import { messageContent, messageText } from './messageText';
import { newEventSchema, stepsOfNewEvents, type NewEvent } from './openHandsNewEvents';
import { stepsOfOldEvents, oldEventSchema, type OldEvent } from './openHandsOldEvents';

const number = z.number().optional().catch(undefined);

const metricsSchema = z
  .looseObject({
    accumulated_cost: number,
    accumulated_token_usage: z
      .looseObject({ prompt_tokens: number, completion_tokens: number })
      .nullish()
      .catch(undefined),
    costs: z
      .array(z.looseObject({ cost: z.number() }))
      .optional()
      .catch(undefined),
    token_usages: z
      .array(
        z.looseObject({
          response_id: z.string(),
          prompt_tokens: number,
          completion_tokens: number,
        }),
      )
      .optional()
      .catch(undefined),
  })
  .nullish()
  .catch(undefined);
type Metrics = NonNullable<z.infer<typeof metricsSchema>>;

const eventSchema = z.union([newEventSchema, oldEventSchema]);
/** Events one after the other, or in older files in pairs of action and observation. */
const historySchema = z.array(z.union([eventSchema, z.array(eventSchema)]));

/**
 * A row of OpenHands' `output.jsonl` (`EvalOutput` in `evaluation/utils/shared.py`, and in
 * `benchmarks/utils/models.py` since 1.0).
 */
export const openHandsRowSchema = z.looseObject({
  instance_id: z.union([z.string(), z.number()]).transform(String),
  history: historySchema.nullable(),
  instruction: messageContent.optional().catch(undefined),
  test_result: z
    .looseObject({ git_patch: z.string().nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
  /** The patch in the oldest files. */
  git_patch: z.string().nullish().catch(undefined),
  error: z.string().nullish().catch(undefined),
  metrics: metricsSchema,
  metadata: z
    .looseObject({
      agent_class: z.string().optional().catch(undefined),
      llm_config: z.looseObject({ model: z.string() }).optional().catch(undefined),
      llm: z.looseObject({ model: z.string() }).optional().catch(undefined),
    })
    .nullish()
    .catch(undefined),
});

/** The events alone: what OpenHands saves as a trajectory. */
export const openHandsEventsSchema = historySchema;

type Events = z.infer<typeof historySchema>;

/** `base_state.json` of a conversation: what each use of a model cost, and how it ended. */
export const conversationStateSchema = z
  .looseObject({
    agent: z
      .looseObject({ llm: z.looseObject({ model: z.string() }) })
      .optional()
      .catch(undefined),
    stats: z
      .looseObject({ usage_to_metrics: z.record(z.string(), metricsSchema).catch({}) })
      .optional()
      .catch(undefined),
    execution_status: z.string().optional().catch(undefined),
  })
  .catch({});

export function readOpenHandsRow(row: z.infer<typeof openHandsRowSchema>): Trajectory {
  const { metadata, metrics, error } = row;
  const submission = row.test_result?.git_patch ?? row.git_patch ?? '';
  const model = metadata?.llm_config?.model ?? metadata?.llm?.model;
  const steps = stepsOf(row.history ?? [], spendingByResponse(metrics ?? undefined));
  const instruction = messageText(row.instruction);
  const isAsked = steps.some(({ kind }) => kind === 'asked');
  return {
    instance: row.instance_id,
    format: 'openhands',
    agent: metadata?.agent_class ?? 'OpenHands',
    ...(model !== undefined && { model }),
    steps: [
      ...(isAsked || instruction === ''
        ? []
        : [{ kind: 'asked', turn: 0, label: 'instruction', text: instruction } as const]),
      ...steps,
    ],
    ...(submission.trim() !== '' && { submission }),
    ...(typeof error === 'string' && error !== '' && { ending: error }),
    ...(metrics !== null && metrics !== undefined && { stated: statedBy(metrics) }),
  };
}

/** @param name the id that the name of the file says */
export const readOpenHandsEvents = (events: Events, name: string): Trajectory => ({
  instance: name,
  format: 'openhands',
  agent: 'OpenHands',
  steps: stepsOf(events, new Map()),
});

/**
 * A conversation that the program saves while it runs (`openhands.sdk.conversation`).
 *
 * @param name the id of the conversation
 */
export function readOpenHandsConversation(
  events: Events,
  state: z.infer<typeof conversationStateSchema>,
  name: string,
): Trajectory {
  const { agent, stats, execution_status: ending } = state;
  const uses = Object.values(stats?.usage_to_metrics ?? {}).filter(
    (each): each is Metrics => each !== null && each !== undefined,
  );
  const spent = new Map(uses.flatMap((each) => [...spendingByResponse(each)]));
  return {
    instance: name,
    format: 'openhands',
    agent: 'OpenHands',
    ...(agent !== undefined && { model: agent.llm.model }),
    steps: stepsOf(events, spent),
    ...(ending !== undefined && { ending }),
    // Titles and summaries of the conversation are paid for too, and are no step.
    ...(uses.length > 0 && { stated: uses.map(statedBy).reduce(sumOf) }),
  };
}

const sumOf = (one: Spending, other: Spending): Spending => {
  const sum = (of: keyof Spending): number | undefined =>
    one[of] === undefined ? other[of] : one[of] + (other[of] ?? 0);
  const [dollars, inputTokens, outputTokens] = [
    sum('dollars'),
    sum('inputTokens'),
    sum('outputTokens'),
  ];
  return {
    ...(dollars !== undefined && { dollars }),
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
  };
};

function statedBy({
  accumulated_cost: dollars,
  accumulated_token_usage: usage,
}: Metrics): Spending {
  const { prompt_tokens: input, completion_tokens: output } = usage ?? {};
  return {
    ...(dollars !== undefined && { dollars }),
    ...(input !== undefined && { inputTokens: input }),
    ...(output !== undefined && { outputTokens: output }),
  };
}

function stepsOf(history: Events, spent: ReadonlyMap<string, Spending>): TrajectoryStep[] {
  const events = history.flat();
  const isNew = events.some((event) => 'kind' in event && typeof event.kind === 'string');
  return isNew
    ? stepsOfNewEvents(events as NewEvent[], spent)
    : stepsOfOldEvents(events as OldEvent[]);
}

/**
 * What each response cost. Dollars are in a list without ids, which belongs to the responses only
 * where it is as long as theirs.
 */
function spendingByResponse(metrics: Metrics | undefined): ReadonlyMap<string, Spending> {
  const usages = metrics?.token_usages ?? [];
  const costs = metrics?.costs ?? [];
  return new Map(
    usages.map((usage, index) => {
      const dollars = costs.length === usages.length ? costs[index]?.cost : undefined;
      const { prompt_tokens: input, completion_tokens: output } = usage;
      return [
        usage.response_id,
        {
          ...(input !== undefined && { inputTokens: input }),
          ...(output !== undefined && { outputTokens: output }),
          ...(dollars !== undefined && { dollars }),
        },
      ];
    }),
  );
}
