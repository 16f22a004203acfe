import { z } from 'zod';
import { stagesVersion, type StageWork } from '../stageWork';
import { combineFiles } from './combineFiles';
import type { NearFile } from './nearestFiles';

/** Paths of R, the most suspicious first. */
export const combinedFilesSchema = z.array(z.string());

/** The files of both lists that go on. */
export function combinedFiles(
  { steps, settings: { topFiles } }: StageWork,
  named: readonly string[],
  near: readonly NearFile[],
): Promise<string[]> {
  const of = [stagesVersion, named, near, topFiles];
  return steps.stage({ stage: 'combined', of, schema: combinedFilesSchema }, () =>
    Promise.resolve(
      combineFiles(
        named,
        near.map(({ path }) => path),
        topFiles,
      ),
    ),
  );
}
