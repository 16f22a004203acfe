import { z } from 'zod';
import { selections } from './resolution/agentlessAblation';
import { granularities } from './resolution/correctLocation';
import { localisationSteps } from '../domain/instance';

const count = z.number().int().nonnegative();
const number = z.number().int().positive();
const dollars = z
  .object({ sum: z.number(), known: count, mean: z.number() })
  .describe('Of the requests, over the `known` instances')
  .exactOptional();
const resolved = {
  resolved: count.describe('Instances resolved by SWE-bench’s rules'),
  strictlyResolved: count.describe('By the recorded outcomes'),
};

/** The ablations of a run of Agentless. */
export const agentlessSchema = z.object({
  name: z.string(),
  model: z.string(),
  madeBy: z.object({ method: z.string(), model: z.string() }).exactOptional(),
  selected: count.describe('Selected instances, the denominator of every rate'),
  unfinished: z.boolean().describe('Whether patches are not judged yet'),
  localisation: z
    .array(
      z.object({
        step: z.enum(localisationSteps),
        set: number
          .exactOptional()
          .describe('Number of the set of edit locations; absent for all of them together'),
        known: count.describe('Instances whose output of the step is known'),
        contains: z
          .object(Object.fromEntries(granularities.map((each) => [each, count])))
          .describe('Instances of which the step keeps all places that X* edits'),
        lines: z.number().describe('Mean lines of code that the step keeps'),
        dollars,
      }),
    )
    .readonly()
    .describe('Table 2 of the Agentless paper'),
  samples: z
    .array(
      z.object({
        samples: number.describe('First samples of each instance that take part'),
        ...resolved,
        any: count.describe('Instances that any of the samples resolves: an oracle’s choice'),
      }),
    )
    .readonly()
    .describe('Figure 6'),
  selection: z
    .array(z.object({ by: z.enum(selections), ...resolved, dollars }))
    .readonly()
    .describe('Table 4: what decides between the patches'),
});
