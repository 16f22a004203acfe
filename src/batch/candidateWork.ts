import type { Instance, Prediction } from '../domain/instance';
import { splitTestEdits, testFilesOf } from '../patch/testFiles';
import { parseUnified } from '../patch/unified/parseUnified';
import { evaluateCandidate, type CandidateOptions } from '../evaluation/candidate';
import type { CandidateResult } from '../evaluation/candidateResult';
import type { CandidateRequest } from '../evaluation/prepareCandidate';
import type { InstanceSession } from '../evaluation/session';
import type { BatchEntry, GradedEntry } from '../results/entry';
import type { BatchRequest } from './batchRequest';
import { faultTolerantSession, openingPairs } from './faultTolerantSession';

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
    const others = othersOf(result, candidate);
    if (others.length === 0) return entry;
    const alone = await evaluateCandidate(session, { ...candidate, testsOnly: true }, options);
    return alone.strict.success ? { ...entry, spoiledBy: others } : entry;
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
