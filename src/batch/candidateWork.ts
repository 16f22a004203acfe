import type { Instance, Prediction } from '../domain/instance';
import { splitTestEdits, testFilesOf } from '../patch/testFiles';
import { parseUnified } from '../patch/unified/parseUnified';
import { evaluateCandidate, type CandidateOptions } from '../evaluation/candidate';
import type { CandidateResult } from '../evaluation/candidateResult';
import type { CandidateRequest } from '../evaluation/prepareCandidate';
import type { InstanceSession } from '../evaluation/session';
import type { BatchEntry, GradedEntry } from '../results/entry';
import type { BatchRequest } from './batchRequest';
import { faultTolerantSession } from './faultTolerantSession';

/** The candidates of one instance, one after the other in one warm pair of sandboxes. */
export interface CandidateWork {
  /**
   * Grades a prediction, or finds out why that cannot be done.
   * @throws Cancelled, and nothing else
   */
  evaluate(prediction: Prediction): Promise<BatchEntry>;
  dispose(): Promise<void>;
}

/** @param request its signal ends what runs */
export function candidateWork(instance: Instance, request: BatchRequest): CandidateWork {
  const { signal, reporter } = request;
  const warm = faultTolerantSession(instance, request);

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
 * Files that a candidate edits beside its tests, where these edits may be what keeps it from success:
 * one that fixes the bug itself passes on R, and one that changes what is built may fail anywhere.
 */
function othersOf(result: CandidateResult, candidate: CandidateRequest): string[] {
  const { strict, patch } = result;
  const isAlone = candidate.mode !== 'unit-test' || candidate.testsOnly === true;
  if (strict.success || isAlone || patch.trim() === '') return [];
  const parsed = parseUnified(patch);
  if (testFilesOf(parsed).length === 0) return [];
  return splitTestEdits(parsed).others.map((file) => file.newPath ?? file.oldPath ?? '');
}
