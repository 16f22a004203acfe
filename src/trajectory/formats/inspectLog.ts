import { z } from 'zod';
import { inspectSamples, patchOfSample } from '../../files/inspectLog';
import type { Spending, Trajectory, TrajectoryStep } from '../trajectory';
import { callText, messageContent, messageText } from './messageText';

const number = z.number().optional().catch(undefined);
const text = z.string().optional().catch(undefined);

/** Tokens of answers; `total_cost` in US dollars. */
const usageSchema = z
  .looseObject({ input_tokens: number, output_tokens: number, total_cost: number })
  .nullish()
  .catch(undefined);

/** https://inspect.aisi.org.uk/reference/inspect_ai.model.html#messages */
const messageSchema = z.looseObject({
  id: text,
  role: z.string(),
  content: messageContent.catch(''),
  tool_calls: z
    .array(z.looseObject({ function: z.string(), arguments: z.unknown() }))
    .nullish()
    .catch(undefined),
  function: text,
  error: z.looseObject({ message: z.string() }).nullish().catch(undefined),
});
type Message = z.infer<typeof messageSchema>;

const modelEvent = z.looseObject({
  event: z.literal('model'),
  timestamp: text,
  working_time: number,
  output: z.looseObject({
    choices: z.array(z.looseObject({ message: z.looseObject({ id: text }) })),
    usage: usageSchema,
  }),
});

/** https://inspect.aisi.org.uk/reference/inspect_ai.log.html#evalsample */
const sampleSchema = z.looseObject({
  id: z.union([z.string(), z.number()]),
  messages: z.array(messageSchema),
  events: z.array(z.unknown()).catch([]),
  model_usage: z.record(z.string(), usageSchema).catch({}),
  error: z.looseObject({ message: z.string() }).nullish().catch(undefined),
  limit: z.looseObject({ type: z.string() }).nullish().catch(undefined),
});

/**
 * The samples of a log of inspect_ai. A message that an agent dropped from its history is no step.
 *
 * @throws Error naming what is damaged
 */
export async function* readInspectLog(
  log: Buffer,
): AsyncGenerator<Trajectory | { readonly problem: string }, void> {
  for await (const { model, value } of inspectSamples(log)) {
    const { success, data, error } = sampleSchema.safeParse(value);
    if (!success) {
      const [issue] = error.issues;
      yield { problem: `a sample: ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` };
      continue;
    }
    const submission = patchOfSample(value);
    const ending =
      data.error?.message ??
      (data.limit === undefined || data.limit === null ? undefined : `limit: ${data.limit.type}`);
    yield {
      instance: String(data.id),
      format: 'inspect',
      agent: 'inspect_ai',
      ...(model !== undefined && { model }),
      steps: stepsOf(data.messages, costsOf(data.events)),
      ...(submission !== undefined && submission !== '' && { submission }),
      ...(ending !== undefined && { ending }),
      stated: sumOf(Object.values(data.model_usage)),
    };
  }
}

/** What belongs to an answer, by the id of its message. */
type Costs = ReadonlyMap<string, Pick<TrajectoryStep, 'at' | 'seconds' | keyof Spending>>;

const costsOf = (events: readonly unknown[]): Costs =>
  new Map(
    events.flatMap((event) => {
      const { data } = modelEvent.safeParse(event);
      const id = data?.output.choices[0]?.message.id;
      if (data === undefined || id === undefined) return [];
      const { timestamp: at, working_time: seconds, output } = data;
      const times = { ...(at !== undefined && { at }), ...(seconds !== undefined && { seconds }) };
      return [[id, { ...times, ...sumOf([output.usage]) }] as const];
    }),
  );

/** Fields that no usage has are absent. */
function sumOf(usages: readonly z.infer<typeof usageSchema>[]): Spending {
  const sum = (name: 'input_tokens' | 'output_tokens' | 'total_cost'): number | undefined => {
    const known = usages.flatMap((usage) => usage?.[name] ?? []);
    return known.length === 0 ? undefined : known.reduce((before, value) => before + value, 0);
  };
  const [inputTokens, outputTokens, dollars] = [
    sum('input_tokens'),
    sum('output_tokens'),
    sum('total_cost'),
  ];
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(dollars !== undefined && { dollars }),
  };
}

function stepsOf(messages: readonly Message[], costs: Costs): TrajectoryStep[] {
  let turn = 0;
  return messages.flatMap((message): TrajectoryStep[] => {
    const { id = '', role, content, tool_calls: calls, error } = message;
    const said = messageText(content);
    if (role === 'tool') {
      const output = [error?.message ?? '', said].filter((each) => each !== '').join('\n');
      const label = message.function;
      return [{ kind: 'observation', turn, text: output, ...(label !== undefined && { label }) }];
    }
    if (role !== 'assistant') return [{ kind: 'asked', turn, label: role, text: said }];
    turn += 1;
    const actions = (calls ?? []).map((call): TrajectoryStep => ({
      kind: 'action',
      turn,
      text: callText(call.function, call.arguments).trimEnd(),
    }));
    const kind = actions.length > 0 ? 'thought' : 'answer';
    return [{ kind, turn, text: said, ...costs.get(id) }, ...actions];
  });
}
