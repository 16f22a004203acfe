import { z } from 'zod';
import { parseForeignJson } from '../../files/json';
import { stepKinds, trajectoryFormats, type TrajectoryStep } from '../trajectory';
import { callText } from './messageText';

/** A field that a document may lack, or have wrong: what else it says is read all the same. */
const lenient = <Shape extends z.ZodType>(shape: Shape) => shape.nullish().catch(undefined);
const text = lenient(z.string());
const count = lenient(z.number());
const extra = lenient(z.record(z.string(), z.unknown()));

/** Content of a message: a text, or since 1.6 parts, of which pictures and sounds are only named. */
const content = z.union([
  z.string(),
  z.array(
    z.looseObject({
      type: z.string().catch('part'),
      text,
      source: lenient(z.looseObject({ media_type: text, path: text, duration_sec: count })),
    }),
  ),
]);
export type AtifContent = z.infer<typeof content>;

/** Kept as it is: a record of zod drops a key `__proto__`, which an argument of a tool may have. */
const callArguments = z.custom<Readonly<Record<string, unknown>>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

const toolCall = z.looseObject({
  tool_call_id: z.string().catch(''),
  function_name: z.string().catch(''),
  arguments: callArguments.catch({}),
  extra,
});

const subagentRef = z.looseObject({ trajectory_id: text, session_id: text, trajectory_path: text });
export type SubagentRef = z.infer<typeof subagentRef>;

const result = z.looseObject({
  source_call_id: text,
  content: lenient(content),
  subagent_trajectory_ref: lenient(z.array(subagentRef)),
  extra,
});
export type AtifResult = z.infer<typeof result>;

const step = z.looseObject({
  timestamp: text,
  source: z.enum(['system', 'user', 'agent']).catch('system'),
  model_name: text,
  message: content.catch(''),
  reasoning_content: text,
  tool_calls: lenient(z.array(toolCall)),
  observation: lenient(z.looseObject({ results: z.array(result).catch([]) })),
  metrics: lenient(
    z.looseObject({ prompt_tokens: count, completion_tokens: count, cost_usd: count }),
  ),
  is_copied_context: lenient(z.boolean()),
  llm_call_count: count,
  extra,
});
export type AtifStep = z.infer<typeof step>;

/**
 * A document of ATIF, the Agent Trajectory Interchange Format of Harbor (its RFC 0001 and
 * `harbor.models.trajectories`), of any version 1.x. Embedded trajectories of subagents are documents
 * too, and checked where they are read.
 */
export const atifSchema = z.looseObject({
  schema_version: z.string().regex(/^ATIF-v1\.\d{1,4}$/, 'not a version ATIF-v1.x'),
  trajectory_id: text,
  agent: z.looseObject({ name: z.string().catch(''), model_name: text }).catch({ name: '' }),
  steps: z.array(step),
  notes: text,
  final_metrics: lenient(
    z.looseObject({
      total_prompt_tokens: count,
      total_completion_tokens: count,
      total_cost_usd: count,
    }),
  ),
  continued_trajectory_ref: text,
  extra,
  subagent_trajectories: lenient(z.array(z.unknown())),
});
export type AtifDocument = z.infer<typeof atifSchema>;

/** Whether a value says that it is a document of ATIF. */
export const isAtif = (value: Readonly<Record<string, unknown>>): boolean =>
  typeof value['schema_version'] === 'string' && value['schema_version'].startsWith('ATIF-');

const spending = {
  inputTokens: z.number().exactOptional(),
  outputTokens: z.number().exactOptional(),
  dollars: z.number().exactOptional(),
};

const partSchema = z.object({
  ...spending,
  label: z.string().exactOptional(),
  at: z.string().exactOptional(),
  seconds: z.number().exactOptional(),
  folder: z.string().exactOptional(),
  diff: z.string().exactOptional(),
  isRestarted: z.boolean().exactOptional(),
  by: z.object({ model: z.string(), agent: z.string().exactOptional() }).exactOptional(),
  /** The text of an action, where its arguments do not say it. */
  text: z.string().exactOptional(),
  /** Set for an action that is a text and no call of a tool. */
  isText: z.literal(true).exactOptional(),
});
/** The fields of a step of ours that a part of a step of ATIF has no place for. */
export type OwnPart = z.infer<typeof partSchema>;

/** Under this key of `extra` stands what this program writes beyond ATIF. */
export const ownKey = 'swt_bench';

/** Beyond ATIF: of a step, of a call or a result, and of the document. */
export const ownExtras = {
  step: z.object({
    turn: z.number(),
    message: z.object({ kind: z.enum(stepKinds), ...partSchema.shape }).exactOptional(),
  }),
  part: partSchema,
  document: z.object({
    version: z.literal(1),
    instance: z.string(),
    program: z.enum(trajectoryFormats),
    agent: z.string().exactOptional(),
    model: z.string().exactOptional(),
    submission: z.string().exactOptional(),
    choices: z
      .array(z.object({ method: z.string(), model: z.string(), patch: z.string() }))
      .exactOptional(),
    ending: z.string().exactOptional(),
    stated: z.object({ ...spending, turns: z.number().exactOptional() }).exactOptional(),
  }),
};

/** Arguments of a tool for a shell that its command is, and those that say how it runs. */
const shellArguments = ['command', 'cmd', 'keystrokes'];
const besideCommand = /^(?:description|duration|is_input|timeout(?:_?ms|_sec)?|workdir|cwd)$/i;

/** A call of a tool for people: the command where it is one of a shell, else name and arguments. */
export function atifCallText(name: string, given: Readonly<Record<string, unknown>>): string {
  const keys = Object.keys(given);
  const commands = keys.filter((key) => shellArguments.includes(key));
  const [only] = commands;
  const command = only === undefined ? undefined : given[only];
  const isShell = keys.every((key) => key === only || besideCommand.test(key));
  return isShell && typeof command === 'string' && command !== '' ? command : callText(name, given);
}

/** The kinds of steps that are the message of a step of ATIF by an agent with calls and results. */
export const speaks = ({ kind }: Pick<TrajectoryStep, 'kind'>): boolean =>
  kind === 'thought' || kind === 'answer';

/** @throws SyntaxError, ZodError */
export const parseAtif = (json: string): AtifDocument => atifSchema.parse(parseForeignJson(json));
