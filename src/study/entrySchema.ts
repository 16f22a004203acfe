import { findingKinds, findingSeverities, trajectoryFindingKinds } from '../domain/finding';
import { costSchema } from '../domain/instance';
import { entryReasons } from '../domain/verdict';
import { survivorSchema } from '../mutation/mutantSchema';
import type { Immutable } from '../domain/work';
import { z } from 'zod';

const count = z.number().int().nonnegative();

export const findingSchema = z.object({
  kind: z.enum(findingKinds),
  evidence: z.array(z.string()).describe('What was seen, and where, a sentence each'),
});

export const trajectoryFindingSchema = z.object({
  kind: z.enum(trajectoryFindingKinds),
  severity: z
    .enum(findingSeverities)
    .describe('`warning`: could have given the answer away; `note`: usual work'),
  step: count.describe('Number of the step from 1 on; 0 for the submission'),
  text: z.string().describe('What was found, on one line'),
  why: z.string().exactOptional(),
});

/** Counts of changed lines: ΔC is `covered / executable`, undefined if nothing is executable. */
const fraction = z.object({ covered: z.number(), executable: z.number() });
export type DeltaFraction = Immutable<z.infer<typeof fraction>>;

/**
 * One candidate on one instance as runs keep it. Every table, plot and list of many instances is
 * computed from these entries. Numbers of tests are those of the strict verdict.
 */
export const entrySchema = z.object({
  instance: z.string(),
  model: z.string(),
  /** The number of this candidate among several of one model for this instance, from 1 on. */
  sample: z.number().int().positive(),
  reason: z.enum(entryReasons),
  /** One or two sentences for the user, at most 500 characters. Untrusted: may quote tests. */
  explanation: z.string(),
  /** False if the candidate was not evaluated; every figure below is zero or absent then. */
  evaluated: z.boolean(),
  /** W. */
  wellFormed: z.boolean(),
  /** S, strict grading. */
  success: z.boolean(),
  failToPass: count,
  failToFail: count,
  passToPass: count,
  passToFail: count,
  /** F→×. */
  failToAny: count,
  /** ×→F. */
  anyToFail: count,
  /** ΔC of the candidate; absent if unknown. */
  delta: fraction.exactOptional(),
  /** ΔC of T* itself. */
  goldenDelta: fraction.exactOptional(),
  /** Mutants of X* that it kills; absent if it was not tried on any. */
  mutants: z.object({ killed: count, all: count }).exactOptional(),
  /** Some of the mutants that it does not kill, with code of X*; absent if it kills all. */
  survivors: z.array(survivorSchema).exactOptional(),
  /** Result of harness grading; absent if not available. */
  harness: z
    .object({
      resolved: z.boolean(),
      addedFailToPass: count,
      /** Coverage of the candidate's runs, without subtracting the base. */
      coverage: z.number().nullable().exactOptional(),
      coverageDelta: z.number().nullable(),
    })
    .exactOptional(),
  /** The rule that makes the two gradings differ; absent if they agree. */
  difference: z.string().exactOptional(),
  /** With the first sentences of their evidence; absent if the candidate was not examined. */
  findings: z.array(findingSchema).exactOptional(),
  /** The first findings of each kind in its trajectory; absent if none is known. */
  trajectoryFindings: z.array(trajectoryFindingSchema).exactOptional(),
  /** Wall clock of its evaluation; nearly 0 if all of its runs were reused. */
  seconds: z.number().nonnegative(),
  cost: costSchema.exactOptional(),
  /** Set where making the candidate used the answer; its prediction says so. */
  oracle: z.literal(true).exactOptional(),
  /** Path of its `report.json` below the results folder, with slashes; absent if there is none. */
  report: z.string().exactOptional(),
});
export type RunEntry = Immutable<z.infer<typeof entrySchema>>;

/** What the rates of a run are shares of, as the user who began it chose. */
export const denominatorSchema = z.object({
  of: z.enum(['predicted', 'filtered', 'predicted and filtered', 'dataset']),
  /** Number of instances of the whole dataset, from which it was chosen. */
  dataset: count,
});
export type Denominator = Readonly<z.infer<typeof denominatorSchema>>;

/** What studies keep of an instance: the row without its patches. */
export const instanceFactsSchema = z.object({
  id: z.string(),
  /** `owner/name`. */
  repo: z.string(),
  /** ISO 8601, or empty. */
  created: z.string(),
  /** Characters of the issue text. */
  issueLength: z.number().int().nonnegative(),
});
export type InstanceFacts = Immutable<z.infer<typeof instanceFactsSchema>>;
