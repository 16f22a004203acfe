import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { cellNameSchema } from '../runs/cellNameSchema';

const path = z
  .string()
  .max(32_768)
  .refine((each) => isAbsolute(each) && !each.includes('\0'));

/** A file or folder of trajectories, with the verdicts of one run, or of all that are listed. */
const ofRuns = z.object({
  view: z.literal('runs'),
  path,
  /** Label of the run whose row led there; absent where a person chose the file. */
  run: z.string().optional(),
});

/** The trajectory of a cell of the dashboard, with the verdict of that cell. */
const ofCell = z.object({ view: z.literal('dashboard'), path, cell: cellNameSchema });

/** The trace of the open instance, with the verdict of a candidate where that is shown. */
const ofCandidate = z.object({
  view: z.literal('candidates'),
  /** Id of the run of a method. */
  generation: z.string(),
  sample: z.number().int().positive(),
});

const origin = z.discriminatedUnion('view', [ofRuns, ofCell, ofCandidate]);

/** Where the trajectories of a panel are from. Its page keeps this, for the next window. */
export type TrajectoryOrigin = z.infer<typeof origin>;
export type OriginOfRuns = Extract<TrajectoryOrigin, { view: 'runs' | 'dashboard' }>;
export type OriginOfCandidate = Extract<TrajectoryOrigin, { view: 'candidates' }>;

const state = z.object({ origin });

/**
 * The origin in what a page has stored, which is untrusted.
 *
 * @returns undefined when there is none
 */
export const savedOrigin = (saved: unknown): TrajectoryOrigin | undefined =>
  state.safeParse(saved).data?.origin;
