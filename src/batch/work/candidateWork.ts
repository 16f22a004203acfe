import type { Instance, Prediction } from '../../domain/instance';
import { splitTestEdits, testFilesOf } from '../../patch/testFiles';
import { parseUnified } from '../../patch/parseUnified';
import { evaluateCandidate, type CandidateOptions } from '../../evaluation/candidate';
import type { CandidateResult } from '../../evaluation/candidateResult';
import type { CandidateRequest } from '../../evaluation/prepareCandidate';
import type { InstanceSession } from '../../evaluation/session';
import type { BatchEntry, GradedEntry } from '../../results/entry';
import type { BatchRequest } from '../batchRequest';
import { faultTolerantSession, openingPairs } from '../faultTolerantSession';

/** Evaluates the candidates of one instance, one after the other in one warm pair of sandboxes. */
interface CandidateWork {
  /**
   * Grades a prediction, or says why that is impossible.
   *
   * @throws Cancelled, and nothing else
   */
  evaluate(prediction: Prediction): Promise<BatchEntry>;
  dispose(): Promise<void>;
}

/** @param request its signal cancels the work */
export function candidateWork(instance: Instance, request: BatchRequest): CandidateWork {
  const { signal, reporter } = request;
  const warm = faultTolerantSession(instance, openingPairs(request), request);

  const grade = async (session: InstanceSession, prediction: Prediction): Promise<GradedEntry> => {
    const candidate: CandidateRequest = {
      model: prediction.model,
      text: prediction.patch,
      format: request.format,
      mode: request.mode,
      ...(request.testsOnly === true && { testsOnly: true }),
    };
    const options: CandidateOptions = {
      timeoutSeconds: request.timeoutSeconds,
      signal,
      reporter,
      reuse: !request.fresh,
      fresh: request.fresh,
    };
    const result = await evaluateCandidate(session, candidate, options);
    const entry: GradedEntry = {
      prediction,
      result,
      environment: await session.environment(request),
    };
    const found = await mutantsFor(session, result, request);
    const graded: GradedEntry = { ...entry, ...found };
    const others = othersOf(result, candidate);
    if (others.length === 0) return graded;
    const alone = await evaluateCandidate(session, { ...candidate, testsOnly: true }, options);
    return alone.strict.success ? { ...graded, spoiledBy: others } : graded;
  };

  return {
    async evaluate(prediction) {
      const started = performance.now();
      const graded = await warm.attempt(`${instance.id}, ${prediction.model}`, (session) =>
        grade(session, prediction),
      );
      const entry: BatchEntry =
        'hindrance' in graded ? { prediction, ...graded.hindrance } : graded;
      return { ...entry, seconds: (performance.now() - started) / 1000 };
    },
    dispose: () => warm.dispose(),
  };
}

/**
 * What the candidate does with mutants of X*, if that is asked for. Where no mutants can be made, a
 * note of the result says why.
 */
async function mutantsFor(
  session: InstanceSession,
  result: CandidateResult,
  { mutants, timeoutSeconds, signal, reporter, fresh, store }: BatchRequest,
): Promise<Pick<GradedEntry, 'mutants'> | Pick<GradedEntry, 'result'>> {
  if (mutants === undefined) return {};
  const { limit, workers, test } = mutants;
  const options = { limit, workers, timeoutSeconds, signal, reporter, reuse: !fresh, store };
  const found = await test(session, result, options);
  if (!('failure' in found)) return { mutants: found };
  const note = `mutants are unknown: ${found.failure}`;
  return { result: { ...result, notes: [...result.notes, note] } };
}

/**
 * Files that an unsuccessful candidate edits beside its tests, if these edits may be the cause. A
 * test passes on R if the candidate fixes the bug itself, and may fail anywhere if it changes what
 * is built.
 */
function othersOf(result: CandidateResult, candidate: CandidateRequest): string[] {
  const { strict, patch } = result;
  const isAlone = candidate.mode !== 'unit-test' || candidate.testsOnly === true;
  if (strict.success || isAlone || patch.trim() === '') return [];
  const parsed = parseUnified(patch);
  if (testFilesOf(parsed).length === 0) return [];
  return splitTestEdits(parsed).others.map((file) => file.newPath ?? file.oldPath ?? '');
}
