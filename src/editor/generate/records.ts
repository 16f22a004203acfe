import { z } from 'zod';
import { isFailure, type TestResult } from '../../domain/outcome';
import { agentlessNumbers, type AgentlessNumber } from '../../method/agentless';
import {
  acpMethod,
  isAcp,
  defaultAcpSeconds,
  type AcpAgent,
  limitProfiles,
  type LimitProfile,
} from '../../method/agents';
import type { MethodCandidate, Method } from '../../method/method';
import { methodNamed, methods, repairMethods } from '../../method/methods';
import { refiningMethod, type Steps, failsOnR, runOnR } from '../../method/generating';
import { Cancelled, messageOf, type Reporter } from '../../domain/work';
import { spentOn, type Spent, type EmbeddingUse } from '../../method/models';
import { keyOf, paidSteps, type MethodTrace, type StepOf } from '../../method/trace';

const agentlessNames = Object.keys(agentlessNumbers) as AgentlessNumber[];

/** The request of a run of a method: enough to read it back from the trace, or to resume it. */
const recordSchema = z.object({
  method: z.string().refine((name) => isKnown(name) || isAcp(name)),
  /** Of an agent of the Agent Client Protocol: what its sessions are known by. */
  agent: z
    .object({
      title: z.string(),
      /** Seconds of a session, at most. */
      seconds: z.number(),
      definition: z.string().optional(),
      programDigest: z.string().optional(),
    })
    .optional(),
  /** `PROVIDER/NAME` or `vscode/VENDOR/ID`. */
  model: z.string(),
  samples: z.number(),
  contextTokens: z.number(),
  maxOutputTokens: z.number(),
  /** Maximum number of tokens that the model takes, where a history may become longer than that. */
  maxInputTokens: z.number().optional(),
  /** Numbers of Agentless that differ from those of the paper; absent where none does. */
  agentless: z.partialRecord(z.enum(agentlessNames), z.number()).optional(),
  /** The embedding model, with dollars for a million tokens; absent where the run has none. */
  embedding: z
    .object({ name: z.string(), baseUrl: z.string().optional(), price: z.number().optional() })
    .optional(),
  /** Times that a sample may be sent back; absent for none. */
  refine: z.number().int().positive().optional(),
  /** Limits of an agent; those of its paper when absent. */
  limits: z.enum(limitProfiles).optional(),
  engine: z.string(),
  timeoutSeconds: z.number(),
  /** Dollars for a million tokens, if known. */
  price: z.object({ input: z.number(), output: z.number() }).optional(),
  /** When it first began, ISO 8601. Answers in the trace since then count towards its budget. */
  startedAt: z.string(),
});

export type GenerationRecord = z.infer<typeof recordSchema>;

const isKnown = (name: string): boolean =>
  [...methods, ...repairMethods()].some((method) => method.name === name);

/** Stored records, the latest begun first; unreadable ones are left out. */
export function readGenerationRecords(value: unknown): readonly GenerationRecord[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => {
    const read = recordSchema.safeParse(each);
    return read.success ? [read.data] : [];
  });
}

/**
 * The method of a run, refined where the run was. An agent of the Agent Client Protocol is known by
 * its sessions, and cannot be started.
 */
export function methodOfRecord({
  method: name,
  refine = 0,
  agent,
}: Pick<GenerationRecord, 'method' | 'refine' | 'agent'>): Method {
  if (!isAcp(name)) return refinedWhereItCan(methodNamed(name), refine);
  const { title = name, seconds = defaultAcpSeconds, definition, programDigest } = agent ?? {};
  return acpMethod({
    ...{ name, title, seconds, definition, programDigest: () => Promise.resolve(programDigest) },
    ...{ argv: [], env: {}, providers: [], program: undefined, advice: '' },
  });
}

/** What the record of a run has of its agent. @throws HumanError, Cancelled */
export async function recordedAgent(
  { title, definition, seconds, programDigest }: AcpAgent,
  signal: AbortSignal | undefined,
): Promise<NonNullable<GenerationRecord['agent']>> {
  const digest = await programDigest(signal);
  return {
    ...{ title, seconds },
    ...(definition !== undefined && { definition }),
    ...(digest !== undefined && { programDigest: digest }),
  };
}

/** The method with refinement, if it has samples to refine. */
export const refinedWhereItCan = (method: Method, times: number): Method =>
  times > 0 && method.canRefine === true ? refiningMethod(method, times) : method;

/** Identifies a run: starting one with the same values again resumes it. */
export function recordId({
  startedAt: _,
  price: _price,
  embedding,
  ...asked
}: GenerationRecord): string {
  const { name, baseUrl } = embedding ?? {};
  return keyOf(embedding === undefined ? asked : { ...asked, embedding: { name, baseUrl } }).slice(
    0,
    16,
  );
}

/** The embedding model of a run; undefined where it has none. */
export const embeddingOfRecord = ({ embedding }: GenerationRecord): EmbeddingUse | undefined =>
  embedding && { baseUrl: undefined, price: undefined, ...embedding };

/** What a run has spent since it first began, over all interruptions. */
export function spentSince(
  steps: MethodTrace['steps'],
  { model, embedding, price, startedAt }: GenerationRecord,
): Spent {
  const paid = steps.filter(
    (step) =>
      (step.step === 'answer' && step.model === model) ||
      (step.step === 'embedding' && step.model === embedding?.name),
  );
  return spentOn(paidSteps(paid.filter(({ at }) => at >= startedAt)), price);
}

/**
 * A method that in the end also runs on R each candidate that it has not run itself, for the list
 * that the user sees. Its choice stays the same.
 */
export function withOutcomesOnR(method: Method, reporter: Reporter): Method {
  return {
    ...method,
    async produce(steps, options) {
      const choice = await method.produce(steps, options);
      for (const candidate of choice.candidates) {
        if (!candidate.patch.applies || candidate.run !== undefined) continue;
        const run = await runOrNot(steps, candidate, reporter);
        if (run !== undefined) options.onCandidate?.({ ...candidate, run });
      }
      return choice;
    },
  };
}

/** A candidate without a run is still a candidate, so a missing engine is only logged. */
async function runOrNot(
  steps: Steps,
  { patch }: MethodCandidate,
  reporter: Reporter,
): Promise<MethodCandidate['run']> {
  try {
    return await runOnR(steps, patch);
  } catch (error) {
    if (error instanceof Cancelled) throw error;
    reporter.log(messageOf(error));
    return undefined;
  }
}

/** What the runs on R say of a candidate. */
type OutcomeOnR =
  | { readonly kind: 'empty' }
  | { readonly kind: 'does not apply'; readonly why: string }
  | { readonly kind: 'not run' }
  | { readonly kind: 'could not run'; readonly why: string }
  /** Some of its tests fail that did not fail before; `first` is the first of them. */
  | {
      readonly kind: 'fails';
      readonly failing: number;
      readonly tests: number;
      readonly first: TestResult;
    }
  /** All tests that fail with it failed before, too. */
  | { readonly kind: 'failed before'; readonly tests: number }
  | { readonly kind: 'passes'; readonly tests: number };

export function outcomeOnR({ answer, patch, run }: MethodCandidate): OutcomeOnR {
  // The last answer of an agent may have no text: its actions count.
  if (answer?.text.trim() === '' && answer.purpose !== 'act') return { kind: 'empty' };
  if (!patch.applies) return { kind: 'does not apply', why: patch.problem ?? '' };
  if (run === undefined) return { kind: 'not run' };
  const failing = run.tests.filter(
    (each) => isFailure(each) && !run.failingBefore.includes(each.test),
  );
  const [first] = failing;
  const tests = run.tests.length;
  if (failsOnR(run) && first !== undefined) {
    return { kind: 'fails', failing: failing.length, tests, first };
  }
  if (run.problem !== undefined) return { kind: 'could not run', why: run.problem };
  if (run.tests.some(isFailure)) return { kind: 'failed before', tests };
  return { kind: 'passes', tests };
}

/** The limits that a setting names. Anything else stands for those of the paper, its default. */
export const limitProfileOf = (value: unknown): LimitProfile =>
  limitProfiles.find((each) => each === value) ?? 'paper';

/**
 * The part of a run's record about limits. It is empty for the default and for methods that have no
 * such limits, so that a changed setting makes no other run of these.
 */
export const recordedLimits = (
  { limits }: Pick<Method, 'limits'>,
  chosen: LimitProfile,
): { readonly limits?: LimitProfile } =>
  limits === undefined || chosen === 'paper' ? {} : { limits: chosen };

/** What a run has written into its trace. */
interface Written {
  readonly candidates: ReadonlyMap<number, Pick<MethodCandidate, 'answer' | 'from'>>;
  readonly acts: readonly StepOf<'act'>[];
  readonly stages: readonly StepOf<'stage'>[];
  readonly sessions: readonly StepOf<'session'>[];
}

/**
 * A trace without the answers of a run, what was done on them, and what stages found with them. What
 * another run has too stays, and so do prompts, runs on R and vectors, which are the same again.
 */
export function withoutStepsOf(
  trace: string,
  forgotten: Written,
  others: readonly Written[],
): string {
  const kept = new Set(others.flatMap(keysOf));
  const gone = new Set(keysOf(forgotten).filter((key) => !kept.has(key)));
  return trace
    .split('\n')
    .filter((line) => line !== '' && !isAbout(line, gone))
    .map((line) => `${line}\n`)
    .join('');
}

const keysOf = ({ candidates, acts, stages, sessions }: Written): string[] => [
  ...[...candidates.values()].flatMap(({ answer, from = [] }) =>
    [...from, answer?.key ?? []].flat(),
  ),
  ...acts.map(({ answer }) => answer),
  ...sessions.flatMap(({ key, answers }) => [key, ...answers]),
  // A stage without an answer has the same output again.
  ...stages.flatMap(({ key, from = [] }) => (from.length === 0 ? [] : [key, ...from])),
];

const isKeyed = (step: unknown): boolean =>
  step === 'answer' || step === 'stage' || step === 'session';

/** Whether a line has one of the keys, or is an action on one: a new answer may have the same key. */
function isAbout(line: string, keys: ReadonlySet<string>): boolean {
  try {
    const { step, key, answer } = JSON.parse(line) as Record<string, unknown>;
    const of = isKeyed(step) ? key : step === 'act' ? answer : undefined;
    return typeof of === 'string' && keys.has(of);
  } catch {
    return false;
  }
}
