import { z } from 'zod';
import { granularities } from './resolution/correctLocation';

const count = z.number().int().nonnegative();
const total = z
  .object({ sum: z.number(), known: count, mean: z.number() })
  .describe('Over the `known` instances whose predictions state it')
  .exactOptional();

/** A row of table 1 of the Agentless paper. */
export const repairRatesSchema = z.object({
  name: z.string(),
  model: z.string(),
  madeBy: z.object({ method: z.string(), model: z.string() }).exactOptional(),
  oracle: z
    .boolean()
    .describe('Made with the answer, or the best of several samples; `name` is marked then'),
  samples: count.describe('1, or the number of samples of which the row is the best'),
  selected: count.describe('Selected instances, the denominator of every rate'),
  tried: z.array(z.string()).readonly().describe('Instances with a patch that could be judged'),
  resolved: z.array(z.string()).readonly().describe('Instances resolved by SWE-bench’s rules'),
  strictlyResolved: z.array(z.string()).readonly().describe('By the recorded outcomes'),
  differing: count.describe('Instances on which the two judgements differ'),
  emptyPatches: count,
  errors: count,
  correctLocation: z
    .object(Object.fromEntries(granularities.map((each) => [each, count])))
    .describe('Instances whose patch edits a superset of the places of X*'),
  dollars: total,
  inputTokens: total,
  outputTokens: total,
});
