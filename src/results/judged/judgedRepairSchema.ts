import { join } from 'node:path';
import { z } from 'zod';
import type { Immutable } from '../../domain/work';
import { judgedRepairSchema } from '../../study/resolution';
import { modelFolderName } from '../runFolder';

/** Raised when a key of a line of the journal, or of the document of a run, changes its meaning. */
export const judgedVersion = 1;

/** A finished code patch, as a line of `entries.jsonl` keeps it. */
export const judgedLineSchema = judgedRepairSchema.extend({
  /** Digest of all that the line depends on. */
  key: z.string(),
  /** ISO 8601. */
  finished: z.string(),
});

export type JudgedLine = Immutable<z.infer<typeof judgedLineSchema>>;

/** The folder of runs over code patches in a results folder. */
export const judgedFolderName = 'resolutions';

/** `DIR/resolutions/<run>`, with the journal, the manifest and the result of a run. */
export const judgedFolder = (out: string, runId: string): string =>
  join(out, judgedFolderName, modelFolderName(runId));
