import { z } from 'zod';
import type { Immutable } from '../../domain/work';
import { reproductionAnswers } from '../../domain/ranking';
import { notEvaluatedReasons } from '../../domain/verdict';
import { type Granularity, granularities } from './correctLocation';
import { costSchema, localisationSteps } from '../../domain/instance';
import { resolutionStatuses } from './resolutionStatus';
import { strictReasons } from './strictResolution';

const count = z.number().int().nonnegative();
const number = z.number().int().positive();
const places = z.object(
  Object.fromEntries(granularities.map((each) => [each, z.boolean()])) as Record<
    Granularity,
    z.ZodBoolean
  >,
);
const group = z.object({ success: count, failure: count });

/** A judged code patch, as in journals and documents. */
export const judgedRepairSchema = z.object({
  instance: z.string(),
  model: z.string(),
  sample: z.number().int().positive(),
  status: z
    .enum(['resolved', 'unresolved', 'empty patch', 'error'])
    .describe('The SWE-bench list of IDs that contains it'),
  resolution: z.enum(resolutionStatuses).exactOptional().describe('By the rules of SWE-bench 5'),
  tests: z
    .object({ FAIL_TO_PASS: group, PASS_TO_PASS: group })
    .exactOptional()
    .describe('Numbers of listed tests that had, and did not have, the required result'),
  lists: z
    .enum(['dataset', 'golden runs'])
    .exactOptional()
    .describe('Where FAIL_TO_PASS and PASS_TO_PASS come from'),
  failure: z.string().exactOptional().describe('Why there is no grade'),
  hindrance: z
    .enum(notEvaluatedReasons)
    .exactOptional()
    .describe('True if the patch is not to blame'),
  infra: z
    .object({ reason: z.string(), tier: z.enum(['environment', 'ambiguous']) })
    .exactOptional()
    .describe('Sign of an environment problem in the log; does not change the grade'),
  strict: z
    .object({
      resolved: z.boolean().nullable().describe('Null if the golden tests cannot decide'),
      reason: z.enum(strictReasons),
      explanation: z.string(),
    })
    .exactOptional()
    .describe('By recorded outcomes: true if every test that passes on R∘X* passes'),
  difference: z.string().exactOptional().describe('Why the two judgements differ'),
  location: places
    .exactOptional()
    .describe('Whether it changes a superset of the locations that X* changes'),
  appliedWith: z
    .string()
    .exactOptional()
    .describe('Command that SWE-bench needs to apply it, if not `git apply`'),
  notes: z.array(z.string()).readonly().exactOptional(),
  cost: costSchema.exactOptional(),
  ranked: z
    .object({
      sample: number.describe('Number of the sample'),
      draw: z
        .object({ set: number, sets: number, round: number, rounds: number })
        .describe('Its set of edit locations, and its number among the samples of that set'),
      group: number.describe('The earliest sample with the same patch after normalising'),
      regressions: count.exactOptional().describe('Regression tests that fail with the patch'),
      reproduction: z.enum(reproductionAnswers).exactOptional(),
    })
    .exactOptional()
    .describe('Ranking criteria, if a method ranked its patches'),
  stages: z
    .object({
      located: z.array(
        z.object({
          step: z.enum(localisationSteps),
          set: number
            .exactOptional()
            .describe('Number of the set of edit locations; absent for all of them together'),
          lines: count.describe('Lines of code that the step selects'),
          contains: places.describe('Whether these are all places of X*'),
        }),
      ),
      dollars: z
        .record(z.string(), z.number())
        .exactOptional()
        .describe('Of the requests of each stage'),
    })
    .exactOptional()
    .describe('The stages of localisation of the instance, with its first patch'),
  madeBy: z.object({ method: z.string(), model: z.string() }).exactOptional(),
  oracle: z.literal(true).exactOptional().describe('The patch was created with the answer'),
  seconds: z.number().nonnegative().describe('Wall clock of judging it'),
});

/** One code patch on one instance, judged as SWE-bench does and by the recorded outcomes. */
export type JudgedRepair = Immutable<z.infer<typeof judgedRepairSchema>>;
