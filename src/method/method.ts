import { markedAsOracle } from '../domain/answerSeen';
import type { Draw, ReproductionAnswer } from '../domain/ranking';
import type { AcpAgent } from './acp/acpRun';
import type { AgentLimits, LimitProfile } from './agents/agent';
import { seesAnswer, type GivenSetting } from './given/setting';
import type { Provider } from './models/providers';
import type { Exchange } from './prompt/prompts';
import { refineCandidate } from './refining/refineCandidate';
import type { Steps } from './steps/steps';
import { askForTests } from './steps/filledPrompts';
import { readTests } from './steps/readPatch';
import type { AnswerStep, PatchStep, RunStep, StepOf } from './trace';

/** The place of a code patch among those of one instance, and why it has it. */
export interface RepairRanking {
  /** From 1, which is the chosen patch. */
  readonly rank: number;
  /** Samples whose patch is the same after normalising, this one included. */
  readonly votes: number;
  /** The earliest of these samples; absent of a method with one sample. */
  readonly group?: number;
  /** Regression tests that fail with the patch; absent where none ran. */
  readonly regressions?: readonly string[];
  /** What the chosen reproduction script says with the patch; absent where there is none. */
  readonly reproduction?: ReproductionAnswer;
}

/** One candidate of a method, as far as the method has examined it. */
export interface MethodCandidate {
  /** Number of the sample, from 1. */
  readonly sample: number;
  /** Absent where the patch was given to the run. */
  readonly answer?: AnswerStep | undefined;
  readonly patch: PatchStep;
  /** Keys of the other answers that it comes from, where it was sent back to the model. */
  readonly from?: readonly string[];
  /** What its tests do on R, if the method runs them. */
  readonly run?: RunStep | undefined;
  /** Whether the judge considers the failure to be the problem of the issue. */
  readonly matches?: boolean | undefined;
  /** Its place among the samples, where these are asked with several prompts. */
  readonly draw?: Draw;
  /** Its place among the code patches of the instance, where the method writes those. */
  readonly ranking?: RepairRanking;
  /** The oracle's verdict: for the developer, never for a model. */
  readonly verdict?: StepOf<'verdict'>;
}

/** A candidate that the model wrote in this run. */
export type AnsweredCandidate = MethodCandidate & { readonly answer: AnswerStep };

/** What a method produces for one instance. */
export interface MethodResult {
  readonly candidates: readonly MethodCandidate[];
  /** Undefined when every answer is empty. */
  readonly chosen: MethodCandidate | undefined;
  /** One sentence: the reason for the choice. */
  readonly why: string;
  /** The last stage of a run that was to end there, before there is anything to choose from. */
  readonly until?: string | undefined;
}

export interface MethodOptions {
  /** How many candidates to ask for; 1 for a method with a single candidate. */
  readonly samples: number;
  /** Times that a sample goes back to the model with an error of its own; 0 by default. */
  readonly refine?: number | undefined;
  /** Times that an attempt goes back to the model; those of the method by default. */
  readonly tries?: number | undefined;
  /** Replaces the temperature of the method; null leaves it to the server. */
  readonly temperature?: number | null | undefined;
  /** The limits of an agent; those of its paper by default. */
  readonly limits?: LimitProfile | undefined;
  /** What the candidate is: tests, which is usual, or a script. */
  readonly mode?: 'unit-test' | 'reproduction-script' | undefined;
  /** Called with candidates as the method learns more about them. */
  readonly onCandidate?: ((candidate: MethodCandidate) => void) | undefined;
}

/** A way of producing candidates (section 4.3 of the paper). */
export interface Method {
  /** The name on the command line, such as `zero-shot`. */
  readonly name: string;
  /** The name in papers. */
  readonly title: string;
  /** One line that helps people choose. */
  readonly description: string;
  /**
   * What the method runs: nothing, tests on R, tests on both sides for an oracle, or commands in a
   * workspace on R.
   */
  readonly runs: 'nothing' | 'R' | 'oracle' | 'workspace';
  readonly samples: number;
  readonly temperature: number;
  /** Times that an attempt goes back to the model by default; absent where there are no attempts. */
  readonly tries?: number;
  /** Of a method that `refiningMethod` makes: the method whose samples go back, and the times. */
  readonly refined?: { readonly of: Method; readonly times: number };
  /** The setting of Table 5, for the methods that `givenMethod` makes. */
  readonly given?: GivenSetting;
  /** Limits of an agent; absent where the number of samples decides. */
  readonly limits?: Readonly<Record<LimitProfile, Pick<AgentLimits, 'calls' | 'dollars'>>>;
  /** Of an agent that sends its own requests: it, and the providers whose models it can ask. */
  readonly asksItself?: { readonly agent: AcpAgent; readonly providers: readonly Provider[] };
  /** Whether its model has to call tools; a text is enough by default. */
  readonly needsTools?: boolean;
  /** Whether it asks with `sampleAll`, so that its samples can be sent back to the model. */
  readonly canRefine?: boolean;
  /** Whether it can write a reproduction script instead of tests. */
  readonly writesScripts?: boolean;
  /** Whether it turns code of R into vectors, where there is an embedding model. */
  readonly embeds?: boolean;
  /** How many requests it usually makes, where its limits allow many more. */
  readonly typicalRequests?: number;
  produce(steps: Steps, options: MethodOptions): Promise<MethodResult>;
}

/** Whether candidates of a method are made or chosen with the answer, so that they are marked. */
export const usesAnswer = ({ runs, given }: Pick<Method, 'runs' | 'given'>): boolean =>
  runs === 'oracle' || (given !== undefined && seesAnswer(given));

/** The title of a method for people, marked where it uses the answer. */
export const shownTitle = (method: Pick<Method, 'title' | 'runs' | 'given'>): string =>
  usesAnswer(method) ? markedAsOracle(method.title) : method.title;

/** The temperature of a request. */
export const temperatureOf = (
  method: Pick<Method, 'temperature'>,
  { temperature }: Pick<MethodOptions, 'temperature'>,
): number | undefined =>
  temperature === undefined ? method.temperature : (temperature ?? undefined);

/** Asks for all candidates, converts them, and refines them where that is asked for. */
export async function sampleAll(
  steps: Steps,
  asked: Omit<Parameters<typeof askForTests>[1], 'sample'>,
  { samples, refine = 0, onCandidate }: MethodOptions,
): Promise<AnsweredCandidate[]> {
  const converted = async (sample: number, answer: AnswerStep): Promise<AnsweredCandidate> => {
    const candidate = { sample, answer, patch: await readTests(steps, answer.text, answer) };
    onCandidate?.(candidate);
    if (refine === 0) return candidate;
    const again = (after: Exchange): Promise<AnswerStep> =>
      askForTests(steps, { ...asked, sample, after });
    return refineCandidate(steps, candidate, { times: refine, again, onCandidate });
  };
  const isReused = samples > 1;
  return firstThenOthers(
    samples,
    (sample) => askForTests(steps, { ...asked, sample, isReused }),
    converted,
  );
}

/**
 * Asks for samples of one prompt. The first answer comes alone: the provider's cache has the prompt
 * then, where there is one, and the others cost less. When one of these fails, the others are still
 * awaited, so that paid answers stay.
 *
 * @param use what is made of each answer, as soon as it is there
 */
export async function firstThenOthers<Result>(
  samples: number,
  ask: (sample: number) => Promise<AnswerStep>,
  use: (sample: number, answer: AnswerStep) => Promise<Result>,
): Promise<Result[]> {
  if (samples === 0) return [];
  const first = await ask(1);
  const others = Array.from({ length: samples - 1 }, async (_, index) => {
    const sample = index + 2;
    return use(sample, await ask(sample));
  });
  return allOf([use(1, first), ...others]);
}

/** The results of work under way. When some of it fails, the rest is still awaited. */
export async function allOf<Result>(work: readonly Promise<Result>[]): Promise<Result[]> {
  const all = await Promise.allSettled(work);
  const failed = all.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}

/** The result of a method with a single candidate. */
export function onlyOne(candidates: readonly MethodCandidate[]): MethodResult {
  const [candidate] = candidates;
  const hasText = candidate?.answer !== undefined && candidate.answer.text.trim() !== '';
  const why = !hasText
    ? 'the answer is empty'
    : candidate.patch.applies
      ? 'the only answer'
      : `the only answer, but it does not apply (${candidate.patch.problem ?? ''})`;
  return { candidates, chosen: hasText ? candidate : undefined, why };
}

/**
 * The text of a prediction: the unified diff, or else the answer itself, so that W can be measured.
 */
export const predictionOf = ({ chosen }: MethodResult): string =>
  chosen?.patch.applies === true ? chosen.patch.patch : (chosen?.answer?.text ?? '');
