import { z } from 'zod';
import type { CellName } from '../../dashboard/protocol';

/** A cell of the dashboard as its page, which is untrusted, names it. */
export const cellNameSchema = z.object({
  run: z.string(),
  model: z.string(),
  sample: z.number().int().positive(),
  instance: z.string(),
}) satisfies z.ZodType<CellName>;
