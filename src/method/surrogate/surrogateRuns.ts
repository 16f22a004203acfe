import { z } from 'zod';
import { isFailure, standing } from '../../domain/outcome';
import type { Steps } from '../steps/steps';
import { stagesOnR, type StageOnR } from '../steps/stages';

/** A candidate whose tests fail on R. */
interface FailingCandidate {
  /** Unified diff on R. */
  readonly patch: string;
  /** Ids of those of its tests that fail on R and did not fail before. */
  readonly failing: readonly string[];
}

const surrogateRunSchema = z.object({
  /** Whether the candidate goes F→P: one of its failing tests passes, and none of its tests fails. */
  accepts: z.boolean(),
  /** Tests of the candidate that fail with the fix, with the end of what the runner says. */
  failures: z.array(z.object({ test: z.string(), text: z.string() })),
  /** Why nothing can be said. */
  problem: z.string().optional(),
});

/** A candidate on R with a fix. */
export type SurrogateRun = Readonly<z.infer<typeof surrogateRunSchema>>;

/** Raised when such a run is judged in another way. */
const version = 1;
/** Characters of a failure that are kept: its end says more than its beginning. */
const failureLength = 1500;
/** Failures that are kept. */
const mostFailures = 3;

/**
 * Runs each candidate on R with each fix, several at once. Equal candidates run once.
 *
 * @param fixes distinct code patches on R
 * @returns for each candidate, its runs in the order of the fixes
 */
export async function surrogateRuns(
  steps: Steps,
  candidates: readonly FailingCandidate[],
  fixes: readonly string[],
): Promise<SurrogateRun[][]> {
  const distinct = [...new Map(candidates.map((each) => [each.patch, each])).values()];
  const stages = distinct.flatMap((candidate) => fixes.map((fix) => runOf(candidate, fix)));
  const outputs = await stagesOnR(steps, stages);
  const runs = new Map(
    distinct.map(({ patch }, at) => [
      patch,
      outputs.slice(at * fixes.length, (at + 1) * fixes.length),
    ]),
  );
  return candidates.map(({ patch }) => runs.get(patch) ?? []);
}

const runOf = ({ patch, failing }: FailingCandidate, fix: string): StageOnR<SurrogateRun> => ({
  stage: 'tests with a surrogate fix',
  of: [version, patch, failing, fix],
  schema: surrogateRunSchema,
  // No fix distinguishes the candidates, so they are refined.
  supposed: () => ({ accepts: false, failures: [] }),
  run: async (on, options) => {
    const { tests, problem } = await on.runOnR(patch, { ...options, format: 'unified', fix });
    const failures = tests.filter(isFailure);
    const passes = new Set(
      tests.filter(({ outcome }) => standing(outcome) === 'passes').map(({ test }) => test),
    );
    return {
      accepts:
        problem === undefined && failures.length === 0 && failing.some((test) => passes.has(test)),
      failures: failures.slice(0, mostFailures).map(({ test, exception, message, details }) => ({
        test,
        text: (details ?? [exception, message].filter(Boolean).join(': ')).slice(-failureLength),
      })),
      ...(problem !== undefined && { problem }),
    };
  },
});
