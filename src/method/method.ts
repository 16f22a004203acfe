import type { AnswerStep, PatchStep, RunStep, Steps, VerdictStep } from './steps';

/** One candidate of a method, as far as the method has looked at it. */
export interface MethodCandidate {
  /** From 1. */
  readonly sample: number;
  readonly answer: AnswerStep;
  readonly patch: PatchStep;
  /** What its tests do on R, where the method asks. */
  readonly run?: RunStep;
  /** Whether the judge takes the failure for the problem of the issue. */
  readonly matches?: boolean | undefined;
  /** The oracle's verdict: for the developer, never for a model. */
  readonly verdict?: VerdictStep;
}

/** What a method produces for one instance. */
export interface MethodResult {
  readonly candidates: readonly MethodCandidate[];
  /** Undefined when no answer holds a text. */
  readonly chosen: MethodCandidate | undefined;
  /** One sentence. */
  readonly why: string;
}

export interface MethodOptions {
  /** How many candidates are asked for; one where the method is of one. */
  readonly samples: number;
  /** Instead of the temperature of the method; null leaves it to whoever serves the model. */
  readonly temperature?: number | null | undefined;
  /** Told of candidates as more is known of them. */
  readonly onCandidate?: ((candidate: MethodCandidate) => void) | undefined;
}

/** A way of producing candidates (section 4.3 of the paper). */
export interface Method {
  /** As the command line has it, such as `zero-shot`. */
  readonly name: string;
  /** As papers write it. */
  readonly title: string;
  /** One line for people who choose. */
  readonly description: string;
  /** What has to run: nothing, tests on R, or tests on both sides for an oracle. */
  readonly runs: 'nothing' | 'R' | 'oracle';
  readonly samples: number;
  readonly temperature: number;
  produce(steps: Steps, options: MethodOptions): Promise<MethodResult>;
}

/** The temperature to ask with. */
export const temperatureOf = (
  method: Pick<Method, 'temperature'>,
  { temperature }: MethodOptions,
): number | undefined =>
  temperature === undefined ? method.temperature : (temperature ?? undefined);

/**
 * Asks for all candidates and converts them. When one cannot be had, the others are waited for: what is
 * paid is to be kept.
 */
export async function sampleAll(
  steps: Steps,
  asked: Omit<Parameters<Steps['sample']>[0], 'sample'>,
  { samples, onCandidate }: MethodOptions,
): Promise<MethodCandidate[]> {
  const one = async (sample: number): Promise<MethodCandidate> => {
    const answer = await steps.sample({ ...asked, sample });
    const candidate = { sample, answer, patch: await steps.convert(answer.text) };
    onCandidate?.(candidate);
    return candidate;
  };
  const all = await Promise.allSettled(
    Array.from({ length: samples }, (_, index) => one(index + 1)),
  );
  const failed = all.find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return all.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
}

/** The only candidate there is. */
export function onlyOne(candidates: readonly MethodCandidate[]): MethodResult {
  const [candidate] = candidates;
  const hasText = candidate !== undefined && candidate.answer.text.trim() !== '';
  const why = !hasText
    ? 'the answer is empty'
    : candidate.patch.applies
      ? 'the only answer'
      : `the only answer, and it does not apply (${candidate.patch.problem ?? ''})`;
  return { candidates, chosen: hasText ? candidate : undefined, why };
}

/** What a prediction holds: the unified diff, or else the answer itself, so that W can be seen. */
export const predictionOf = ({ chosen }: MethodResult): string =>
  chosen === undefined ? '' : chosen.patch.applies ? chosen.patch.patch : chosen.answer.text;
