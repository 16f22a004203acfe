import { z } from 'zod';
import { standing } from '../../../domain/outcome';
import type { Steps } from '../../steps/steps';
import { stagesOnR, type StageOnR } from '../../steps/stages';
import { reproductionAnswers, type ReproductionAnswer } from '../../../domain/ranking';
import { patchDigests } from './patchDigests';
import type { RegressionTests } from './regressionTests';
import { answerOf } from './reproductionTests';

/** What runs with each code patch. */
interface RepairTests {
  readonly regression: Pick<RegressionTests, 'files' | 'tests'>;
  /** Undefined where no script reproduces the issue. */
  readonly script: string | undefined;
}

/** What is known of a code patch once it ran. */
export interface TestedPatch {
  /** Equal for patches that leave the same files behind, after normalising. */
  readonly digest: string;
  /** Regression tests that do not pass with it; undefined where there are none to run. */
  readonly regressions: readonly string[] | undefined;
  /** Undefined where there is no script. */
  readonly reproduction: ReproductionAnswer | undefined;
}

/** Raised when the stages here change, so that they are made again. */
const version = 1;

/** What one run gives: tests that do not pass, or what the script says. */
const ranSchema = z.union([z.array(z.string()), z.enum(reproductionAnswers)]);
type Ran = z.infer<typeof ranSchema>;

/**
 * Runs the regression tests and the reproduction script on R with each of some code patches, several
 * at once. Patches that are the same after normalising run once.
 *
 * @param patches unified diffs that apply to R
 * @returns what is known of each patch, in their order
 */
export async function runRepairs(
  steps: Steps,
  patches: readonly string[],
  { regression, script }: RepairTests,
): Promise<TestedPatch[]> {
  const digests = await patchDigests(steps, patches);
  const first = new Map<string, string>();
  for (const [at, digest] of digests.entries()) {
    if (!first.has(digest)) first.set(digest, patches[at] ?? '');
  }
  const { files, tests } = regression;
  const stages: (readonly [string, StageOnR<Ran>])[] = [];
  for (const [digest, patch] of first) {
    if (tests.length > 0) stages.push([`tests ${digest}`, testsOf(patch, files, tests)]);
    if (script !== undefined) stages.push([`script ${digest}`, scriptOf(patch, script)]);
  }
  const outputs = await stagesOnR(
    steps,
    stages.map(([, stage]) => stage),
  );
  const found = new Map(stages.map(([name], at) => [name, outputs[at]]));
  return digests.map((digest) => {
    const regressions = found.get(`tests ${digest}`);
    const reproduction = found.get(`script ${digest}`);
    return {
      digest,
      regressions: Array.isArray(regressions) ? regressions : undefined,
      reproduction: Array.isArray(reproduction) ? undefined : reproduction,
    };
  });
}

const testsOf = (
  patch: string,
  files: readonly string[],
  tests: readonly string[],
): StageOnR<Ran> => ({
  stage: 'regression tests with a patch',
  of: [version, patch, files, tests],
  schema: ranSchema,
  supposed: () => [],
  run: async (on, options) => {
    const run = await on.runOnR(patch, { ...options, tests: files });
    const passing = new Set(
      run.tests.filter(({ outcome }) => standing(outcome) === 'passes').map(({ test }) => test),
    );
    return tests.filter((test) => !passing.has(test));
  },
});

const scriptOf = (patch: string, script: string): StageOnR<Ran> => ({
  stage: 'script with a patch',
  of: [version, patch, script],
  schema: ranSchema,
  supposed: () => 'none',
  run: async (on, options) => answerOf(await on.runScript(script, patch, options)),
});
