import { isAbsolute } from 'node:path';
import { z } from 'zod';
import type { CellName } from '../../dashboard/protocol';
import type { Trajectory } from '../../trajectory/trajectory';

/** A cell of the dashboard as its page, which is untrusted, names it. */
export const cellNameSchema = z.object({
  run: z.string(),
  model: z.string(),
  sample: z.number().int().positive(),
  instance: z.string(),
}) satisfies z.ZodType<CellName>;

const path = z
  .string()
  .max(32_768)
  .refine((each) => isAbsolute(each) && !each.includes('\0'));

/** A file or folder of trajectories, with the verdicts of one run, or of all that are listed. */
const ofRuns = z.object({
  view: z.literal('runs'),
  path,
  /** Label of the run whose row led there; absent where the user chose the file. */
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

/**
 * A trajectory without what an oracle says of R∘X*: its verdicts, and why a choice fell on them. The
 * numbers of steps do not change.
 *
 * @param hidden the text that replaces what is left out
 */
export function withoutOracle(trajectory: Trajectory, hidden: string): Trajectory {
  if (!trajectory.steps.some(({ kind }) => kind === 'verdict')) return trajectory;
  const { ending, ...rest } = trajectory;
  return {
    ...rest,
    ...(ending !== undefined && { ending: hidden }),
    steps: trajectory.steps.map((step) => {
      if (step.kind === 'choice') return { ...step, text: hidden };
      if (step.kind !== 'verdict') return step;
      const { label: _, ...others } = step;
      return { ...others, text: hidden };
    }),
  };
}
