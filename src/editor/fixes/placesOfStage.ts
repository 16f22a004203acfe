import { z } from 'zod';

/** A file of R that a stage has found, and what it is about there. */
export interface FoundPlace {
  readonly path: string;
  /** First and last line, from 1; absent for a whole file. */
  readonly lines?: readonly [number, number];
  /** A class, function or variable. */
  readonly name?: string;
}

const line = z.int().min(1);
const placeSchema = z.union([
  z.string().transform((path): FoundPlace[] => [{ path }]),
  z
    .object({ path: z.string(), intervals: z.array(z.tuple([line, line])) })
    .transform(({ path, intervals }): FoundPlace[] => intervals.map((lines) => ({ path, lines }))),
  z
    .object({ path: z.string(), name: z.string().exactOptional() })
    .transform(({ path, name }): FoundPlace[] => [{ path, ...(name !== undefined && { name }) }]),
]);

/** Most places that a stage shows. */
const mostPlaces = 200;

/**
 * The files and lines in the output of a stage, as far as it lists any, each once. An output comes
 * from a model, so a path need not exist.
 */
export function placesOfStage(output: unknown): readonly FoundPlace[] {
  if (!Array.isArray(output)) return [];
  const found = output.flatMap((each: unknown): readonly FoundPlace[] => {
    if (Array.isArray(each)) return placesOfStage(each);
    return placeSchema.safeParse(each).data ?? [];
  });
  const different = new Map(found.map((place) => [JSON.stringify(place), place]));
  return [...different.values()].slice(0, mostPlaces);
}
