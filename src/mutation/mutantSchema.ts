import { z } from 'zod';
import type { Immutable } from '../domain/work';

/** A small fault in a line that the golden patch adds. */
export const mutantSchema = z.object({
  /** Path in R∘X*. */
  path: z.string(),
  line: z.number().int().describe('From 1 on, of R∘X*'),
  column: z.number().int().describe('From 1 on, in UTF-16 units'),
  /** Name of the mutation operator. */
  operator: z.string(),
  before: z.string().describe('Code of X*'),
  after: z.string().describe('What the mutant has instead'),
});
export type Mutant = Readonly<z.infer<typeof mutantSchema>>;

/**
 * What a candidate does with a mutant. Its own tests that pass on R∘X* decide, whatever they do on R.
 *
 * - killed: one of these tests fails on R∘X* with the mutant.
 * - timed out: the tests do not end. This counts as killed.
 * - survived: a test runs the line, and none fails.
 * - not covered: no test runs the line.
 */
export const mutantStatuses = ['killed', 'timed out', 'survived', 'not covered'] as const;

/** One mutant under one candidate. */
const testedMutantSchema = mutantSchema.extend({
  status: z.enum(mutantStatuses),
  /** Tests that fail on it; those that ran where it timed out. */
  killedBy: z.array(z.string()),
});
export type TestedMutant = Immutable<z.infer<typeof testedMutantSchema>>;

/** All mutants of an instance that one candidate was tried on. */
export const mutantResultsSchema = z.object({
  /** Mutants of the instance; more than `tested` has where a limit drew a sample. */
  made: z.number(),
  /** In the order of files and lines. */
  tested: z.array(testedMutantSchema),
});
export type MutantResults = Immutable<z.infer<typeof mutantResultsSchema>>;

/** A mutant that no test of a candidate kills. */
export const survivorSchema = z.object({
  path: z.string(),
  line: z.number().int(),
  operator: z.string(),
  before: z.string(),
  after: z.string(),
  status: z.enum(['survived', 'not covered']),
});
export type Survivor = Readonly<z.infer<typeof survivorSchema>>;
