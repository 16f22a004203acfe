import type { Generation } from './generations';

/** A row of a view that is about a whole run. */
interface GenerationRow {
  readonly kind: 'generation';
  readonly generation: Generation;
}

/**
 * The run of the first row that is about one, else the last run.
 *
 * @param rows anything: also arguments of commands that are no rows
 */
export const generationOfRow = (
  rows: readonly unknown[],
  [last]: readonly Generation[],
): Generation | undefined => rows.find(isGenerationRow)?.generation ?? last;

const isGenerationRow = (value: unknown): value is GenerationRow =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'generation';
