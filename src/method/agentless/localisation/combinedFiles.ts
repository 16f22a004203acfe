import { z } from 'zod';
import { stage } from '../../steps/stages';
import { stagesVersion, type StageWork } from '../stageWork';
import type { NearFile } from './nearestFiles';

/** Paths of R, the most suspicious first. */
export const combinedFilesSchema = z.array(z.string());

/** The files of both lists that continue. */
export function combinedFiles(
  { steps, settings: { topFiles } }: StageWork,
  named: readonly string[],
  near: readonly NearFile[],
): Promise<string[]> {
  const of = [stagesVersion, named, near, topFiles];
  const retrieved = near.map(({ path }) => path);
  return stage(steps, { stage: 'combined', of, schema: combinedFilesSchema }, () =>
    Promise.resolve(combineFiles(named, retrieved, topFiles)),
  );
}

/**
 * The first of two lists together: what both have, then the rest of the first list, then that of
 * the second, each in the order of its list.
 */
export function combineFiles(
  named: readonly string[],
  retrieved: readonly string[],
  most: number,
): string[] {
  const both = named.filter((path) => retrieved.includes(path));
  return [...new Set([...both, ...named, ...retrieved])].slice(0, most);
}
