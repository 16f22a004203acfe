import { z } from 'zod';
import type { Spending, Trajectory, TrajectoryStep } from '../trajectory';
import { callText, messageContent, messageText, toolCall } from './messageText';

const number = z.number().optional().catch(undefined);

/** Tokens as the Chat Completions API counts them, or the Responses API. */
const usageSchema = z
  .looseObject({
    prompt_tokens: number,
    completion_tokens: number,
    input_tokens: number,
    output_tokens: number,
  })
  .nullish()
  .catch(undefined);

const said = {
  content: messageContent.optional().catch(undefined),
  reasoning_content: z.string().nullish().catch(undefined),
  tool_calls: z.array(toolCall).nullish().catch(undefined),
};

/** An item of an answer of the Responses API. */
const itemSchema = z
  .looseObject({
    type: z.string(),
    content: messageContent.optional().catch(undefined),
    summary: messageContent.optional().catch(undefined),
    name: z.string().optional().catch(undefined),
    arguments: z.unknown().optional(),
  })
  .catch({ type: '' });

/** An answer as the provider gave it. */
const responseSchema = z.looseObject({
  usage: usageSchema,
  choices: z
    .array(z.looseObject({ message: z.looseObject(said) }))
    .optional()
    .catch(undefined),
  /** Of the Responses API; what a tool printed, where the object is no answer. */
  output: z
    .union([z.array(itemSchema), z.string()])
    .optional()
    .catch(undefined),
});

const extraSchema = z
  .looseObject({
    actions: z
      .array(z.looseObject({ command: z.string() }))
      .optional()
      .catch(undefined),
    /** US dollars of this request. */
    cost: number,
    /** Seconds since 1970, up to the last day that a date can have. */
    timestamp: z.number().min(0).max(8.64e12).optional().catch(undefined),
    submission: z.string().optional().catch(undefined),
    exit_status: z.string().optional().catch(undefined),
    response: responseSchema.optional().catch(undefined),
    /** The text of an answer that was not in the expected format. */
    model_response: z.string().optional().catch(undefined),
  })
  .catch({});

const messageSchema = z.looseObject({
  /** Absent in what the Responses API gave, and takes. */
  role: z.string().catch('tool'),
  ...said,
  ...responseSchema.shape,
  extra: extraSchema.optional(),
});
type Message = z.infer<typeof messageSchema>;
type Response = z.infer<typeof responseSchema>;

const fileSchema = z.looseObject({
  messages: z.array(messageSchema),
  info: z
    .looseObject({
      exit_status: z.string().nullish().catch(undefined),
      submission: z.string().nullish().catch(undefined),
      model_stats: z.looseObject({ instance_cost: number, api_calls: number }).catch({}).optional(),
      config: z
        .looseObject({ model: z.looseObject({ model_name: z.string() }) })
        .optional()
        .catch(undefined),
    })
    .catch({})
    .optional(),
  instance_id: z.string().optional().catch(undefined),
});

/**
 * A `.traj.json` file of mini-SWE-agent (its `docs/usage/output_files.md`, versions 1 and 2). The
 * oldest files are the list of messages alone.
 */
export const miniSchema = z.union([
  fileSchema,
  z.array(messageSchema).transform((messages): z.infer<typeof fileSchema> => ({ messages })),
]);

/** @param name the id that the name of the file says */
export function readMini(file: z.infer<typeof fileSchema>, name: string): Trajectory {
  const { messages, info = {} } = file;
  const { submission, exit_status: ending, model_stats: stats, config } = info;
  const { instance_cost: dollars, api_calls: turns } = stats ?? {};
  return {
    instance: file.instance_id ?? name,
    format: 'mini-swe-agent',
    agent: 'mini-SWE-agent',
    ...(config !== undefined && { model: config.model.model_name }),
    steps: stepsOf(messages),
    ...(typeof submission === 'string' && submission !== '' && { submission }),
    ...(typeof ending === 'string' && { ending }),
    stated: {
      ...(dollars !== undefined && { dollars }),
      ...(turns !== undefined && { turns }),
    },
  };
}

function stepsOf(messages: readonly Message[]): TrajectoryStep[] {
  let turn = 0;
  let since: number | undefined;
  return messages.flatMap((message): TrajectoryStep[] => {
    const { role, content, extra = {} } = message;
    const { timestamp } = extra;
    const seconds = since === undefined || timestamp === undefined ? undefined : timestamp - since;
    since = timestamp ?? since;
    const common = {
      ...(timestamp !== undefined && { at: new Date(timestamp * 1000).toISOString() }),
      ...(seconds !== undefined && seconds >= 0 && { seconds }),
    };
    const answer = answerIn(message);
    if (answer !== undefined) turn += 1;
    const steps =
      answer === undefined
        ? []
        : answered(answer, extra, { ...common, turn, ...spending(message) });
    if (role === 'assistant' || Array.isArray(message.output)) return steps;
    if (role === 'exit' || extra.exit_status !== undefined) {
      const text = [extra.exit_status, extra.submission ?? messageText(content)].filter(Boolean);
      return [{ kind: 'choice', turn, label: 'end', text: text.join('\n'), ...common }];
    }
    const text = typeof message.output === 'string' ? message.output : messageText(content);
    return turn === 0 || role === 'system'
      ? [{ kind: 'asked', turn, label: role, text, ...common }]
      : [...steps, { kind: 'observation', turn, text, ...(steps.length === 0 && common) }];
  });
}

type Answer = Pick<Message, 'content' | 'reasoning_content' | 'tool_calls'>;

/** The answer of the model that a message is, or tells the model to be in the wrong format. */
function answerIn(message: Message): Answer | undefined {
  const { role, output, extra = {} } = message;
  if (role === 'assistant') return message;
  if (Array.isArray(output)) return answerOfItems(output);
  const { response, model_response: text } = extra;
  const { choices, output: items } = response ?? {};
  if (choices?.[0] !== undefined) return choices[0].message;
  if (Array.isArray(items)) return answerOfItems(items);
  return text === undefined ? undefined : { content: text };
}

/** An answer of the Responses API in the terms of the other. */
function answerOfItems(items: Exclude<Response['output'], string | undefined>): Answer {
  const texts = (of: string, field: 'content' | 'summary'): string =>
    items.flatMap((item) => (item.type === of ? messageText(item[field]) : [])).join('\n');
  return {
    content: texts('message', 'content'),
    reasoning_content: texts('reasoning', 'summary'),
    tool_calls: items.flatMap(({ type, name = '', arguments: given }) =>
      type === 'function_call' ? [{ function: { name, arguments: given } }] : [],
    ),
  };
}

type Common = Omit<TrajectoryStep, 'kind' | 'text'>;

/** The commands of a message of the model, in a block of its text in older files. */
function answered(
  { content, reasoning_content: reasoning, tool_calls: calls }: Answer,
  { actions }: z.infer<typeof extraSchema>,
  common: Common,
): TrajectoryStep[] {
  const text = messageText(content);
  const block = /```(?:mswea_bash_command|bash|sh)\s*\n([^]*?)\n?```/.exec(text);
  const commands =
    actions?.map(({ command }) => command) ??
    calls?.map((call) => callText(call.function?.name ?? '', call.function?.arguments)) ??
    (block === null ? [] : [block[1] ?? '']);
  const before = block === null ? text : text.slice(0, block.index);
  const thought = [reasoning ?? '', before]
    .map((each) => each.trim())
    .filter(Boolean)
    .join('\n\n');
  const { turn } = common;
  return [
    { kind: commands.length > 0 ? 'thought' : 'answer', text: thought, ...common },
    ...commands.map((command): TrajectoryStep => ({
      kind: 'action',
      turn,
      text: command.trimEnd(),
    })),
  ];
}

function spending({ usage, extra = {} }: Message): Spending {
  const counts = extra.response?.usage ?? usage ?? {};
  const input = counts.prompt_tokens ?? counts.input_tokens;
  const output = counts.completion_tokens ?? counts.output_tokens;
  return {
    ...(extra.cost !== undefined && { dollars: extra.cost }),
    ...(input !== undefined && { inputTokens: input }),
    ...(output !== undefined && { outputTokens: output }),
  };
}
