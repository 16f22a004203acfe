import { z } from 'zod';
import { fidelityCauses, rowLists } from './fidelityCauses';

/** One line of the journal: what became of one row. */
export const fidelityRowSchema = z.object({
  /** Digest of what the result depends on. */
  key: z.string(),
  id: z.string(),
  repo: z.string(),
  version: z.string(),
  /** ISO 8601. */
  date: z.string(),
  engine: z.string(),
  environment: z.string().optional(),
  /** Interpreter of the environment, which other rows of the version share. */
  interpreter: z.string().optional(),
  source: z.object({
    kind: z.enum(['commit', 'release']),
    release: z.string().optional(),
    /** Patches of the row that the release had, and that were taken out. */
    takenOut: z.array(z.string()).optional(),
  }),
  /** The day as of which packages are, where it is later than the instance's. */
  packageDay: z.object({ wanted: z.string(), taken: z.string() }).optional(),
  /** Why the row did not run; absent where it did. */
  notRun: z.string().optional(),
  /** By harness grading. */
  resolved: z.boolean().optional(),
  strictSuccess: z.boolean().optional(),
  differing: z
    .array(
      z.object({
        test: z.string(),
        listed: z.enum([...rowLists, 'none']),
        here: z.string(),
        cause: z.enum(fidelityCauses),
        detail: z.string(),
      }),
    )
    .optional(),
  /** Runs that were made to find causes. */
  tried: z.array(z.string()).optional(),
  /** Wall clock of everything about this row. */
  seconds: z.number(),
  /** Bytes of its trees and kept runs. */
  bytes: z.number(),
  /** Bytes of the environment of `interpreter`, where the local engine made it. */
  environmentBytes: z.number().optional(),
});
export type FidelityRow = z.infer<typeof fidelityRowSchema>;

/** Causes found by hand, by row and test; `*` stands for all tests that are left. */
export const causesByHandSchema = z.record(
  z.string(),
  z.record(z.string(), z.object({ cause: z.enum(fidelityCauses), detail: z.string() })),
);
