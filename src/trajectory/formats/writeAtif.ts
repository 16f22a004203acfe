import { version as productVersion } from '../../../package.json';
import { totalsOf, type Trajectory, type TrajectoryStep } from '../trajectory';
import { atifCallText, ownKey, speaks } from './atifShape';

/** The steps of ours that become one step of ATIF. */
interface Group {
  readonly turn: number;
  /** What stands in its message; absent where it begins with an action or an observation. */
  readonly message?: TrajectoryStep;
  readonly calls: { readonly action: TrajectoryStep; readonly seen: TrajectoryStep[] }[];
  /** What was seen without an action before it. */
  readonly loose: TrajectoryStep[];
}

/** ATIF 1.7 has a place for everything that is written: what reads 1.8 reads it too. */
const schemaVersion = 'ATIF-v1.7';

/**
 * A trajectory as a document of ATIF, which `readAtif` reads back equal but for lone surrogates,
 * since Python refuses them. What ATIF has no field for is in `extra.swt_bench`.
 */
export function writeAtif(trajectory: Trajectory): object {
  const { instance, format: program, agent, model, steps, ...rest } = trajectory;
  const totals = totalsOf(trajectory);
  const written = grouped(steps).map((group, index) => atifStep(group, index + 1, model));
  // A document has at least one step.
  const all = written.length > 0 ? written : [{ step_id: 1, source: 'system', message: '' }];
  const { inputTokens, outputTokens, dollars } = totals;
  return wellFormed({
    schema_version: schemaVersion,
    session_id: instance,
    agent: {
      name: agent ?? 'unknown',
      // Of other programs nothing here says the version, which ATIF asks for.
      version: program === 'swt-bench' ? productVersion : 'unknown',
      ...(model !== undefined && { model_name: model }),
    },
    steps: written.length > 0 ? all : all.map((step) => ({ ...step, extra: own({ turn: 0 }) })),
    final_metrics: {
      ...(isCount(inputTokens) && { total_prompt_tokens: inputTokens }),
      ...(isCount(outputTokens) && { total_completion_tokens: outputTokens }),
      ...(dollars !== undefined && { total_cost_usd: dollars }),
      total_steps: all.length,
    },
    extra: own({
      ...{ version: 1, instance, program },
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
      ...rest,
    }),
  }) as object;
}

const own = (value: object): object => ({ [ownKey]: value });

function grouped(steps: readonly TrajectoryStep[]): Group[] {
  const groups: Group[] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    const isOpen =
      last !== undefined &&
      last.turn === step.turn &&
      (last.message === undefined || speaks(last.message));
    const { turn } = step;
    if (step.kind === 'action') {
      const call = { action: step, seen: [] };
      if (isOpen && last.loose.length === 0) last.calls.push(call);
      else groups.push({ turn, calls: [call], loose: [] });
    } else if (step.kind === 'observation') {
      if (isOpen) (last.calls.at(-1)?.seen ?? last.loose).push(step);
      else groups.push({ turn, calls: [], loose: [step] });
    } else groups.push({ turn, message: step, calls: [], loose: [] });
  }
  return groups;
}

/** Steps of a method itself, without a request to a model. */
const dispatched: ReadonlySet<string> = new Set(['patch', 'run', 'stage', 'choice']);

function atifStep({ turn, message, calls, loose }: Group, id: number, model?: string): object {
  const source = sourceOf(message, calls.length > 0);
  const isAgent = source === 'agent';
  const metrics = isAgent && message !== undefined ? metricsOf(message) : {};
  const isPaid = Object.keys(metrics).length > 0;
  const timestamp = message?.at !== undefined && isTimestamp(message.at) ? message.at : undefined;
  const callId = (index: number): string => `call_${id}_${index + 1}`;
  const results = [
    ...calls.flatMap(({ seen }, index) => seen.map((step) => resultOf(step, callId(index)))),
    ...loose.map((step) => resultOf(step)),
  ];
  const calledBy = message?.by?.model;
  const answers = message !== undefined && speaks(message) && isPaid ? 1 : undefined;
  const requests = message !== undefined && dispatched.has(message.kind) && !isPaid ? 0 : answers;
  return {
    step_id: id,
    ...(timestamp !== undefined && { timestamp }),
    source,
    ...(isAgent && calledBy !== undefined && calledBy !== model && { model_name: calledBy }),
    message: message?.text ?? '',
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ action }, index) => callOf(action, callId(index))),
    }),
    ...(results.length > 0 && { observation: { results } }),
    ...(isPaid && { metrics }),
    ...(isAgent && requests !== undefined && { llm_call_count: requests }),
    extra: own({
      turn,
      ...(message !== undefined && {
        message: {
          ...partOf(message, { at: timestamp, ...nativeOf(metrics) }),
          kind: message.kind,
        },
      }),
    }),
  };
}

function sourceOf(message: TrajectoryStep | undefined, acts: boolean): string {
  if (message === undefined) return acts ? 'agent' : 'system';
  if (message.kind === 'verdict') return 'system';
  if (message.kind !== 'asked') return 'agent';
  return /(?:^|: )system$/.test(message.label ?? '') ? 'system' : 'user';
}

interface Metrics {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cost_usd?: number;
}

const metricsOf = ({ inputTokens, outputTokens, dollars }: TrajectoryStep): Metrics => ({
  ...(isCount(inputTokens) && { prompt_tokens: inputTokens }),
  ...(isCount(outputTokens) && { completion_tokens: outputTokens }),
  ...(dollars !== undefined && dollars >= 0 && { cost_usd: dollars }),
});

/** The metrics of a step under their names here. */
const nativeOf = ({ prompt_tokens, completion_tokens, cost_usd }: Metrics) => ({
  inputTokens: prompt_tokens,
  outputTokens: completion_tokens,
  dollars: cost_usd,
});

const isCount = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0;

type Native = Partial<Record<'at' | 'inputTokens' | 'outputTokens' | 'dollars', unknown>>;

/** The fields of a step that no field of ATIF has. */
function partOf(step: TrajectoryStep, native: Native = {}): object {
  const { kind: _kind, turn: _turn, text: _text, call: _call, ...fields } = step;
  const kept = Object.entries(fields).filter(
    ([key, value]) => value !== undefined && native[key as keyof Native] === undefined,
  );
  return Object.fromEntries(kept);
}

function callOf(action: TrajectoryStep, id: string): object {
  const { call, label = '', text } = action;
  if (call === undefined) {
    const name = /^[\w.-]{1,64}$/.test(label) ? label : 'bash';
    return {
      ...{ tool_call_id: id, function_name: name, arguments: { command: text } },
      extra: own({ ...partOf(action), isText: true }),
    };
  }
  const isSaid = atifCallText(call.name, call.arguments) === text;
  return {
    ...{ tool_call_id: id, function_name: call.name, arguments: call.arguments },
    extra: own({ ...partOf(action), ...(isSaid ? {} : { text }) }),
  };
}

const resultOf = (step: TrajectoryStep, id?: string): object => ({
  ...(id !== undefined && { source_call_id: id }),
  content: step.text,
  extra: own(partOf(step)),
});

/** Whether Python's `datetime.fromisoformat` takes a time, as validators of ATIF ask. */
function isTimestamp(at: string): boolean {
  const time =
    /^(\d{4})-(\d\d)-(\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.(?:\d{3}|\d{6}))?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?$/.exec(
      at,
    );
  if (time === null) return false;
  const [year = 0, month = 0, day = 0] = time.slice(1).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 100 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** A value without lone surrogates, which no text of Python in UTF-8 may have. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\p{Cs}/gu, '\ufffd');
  if (Array.isArray(value)) return value.map((each: unknown) => wellFormed(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [wellFormed(key), wellFormed(each)]),
  );
}
