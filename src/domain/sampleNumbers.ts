/** A row of a predictions file, with the fields that say which sample it is. */
export interface NumberedRow {
  readonly instance: string;
  readonly model: string;
  /** The whole row. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** The place of a row's candidate among several. */
export interface SampleNumbers {
  /**
   * The number of this candidate among several of one model for one instance, from 1 on; absent if
   * the row has none.
   */
  readonly sample?: number;
  /** The number of the answer that a method chose among its own, from 1 on. */
  readonly chosenSample?: number;
}

/**
 * Methods that choose among several answers. Older versions of `generate` wrote their choice as
 * `sample`.
 */
const choosing: readonly unknown[] = ['pass-at-5', 'libro'];

/**
 * Distinguishes two meanings of `sample`. It is the number of a sample, except in rows that
 * `generate` wrote before it had the key `chosen_sample`. In these it is the answer that the method
 * chose. Such a row has the keys of `generate`, and its file has one row for each instance and
 * model. If each of several files has its own single number throughout, these numbers are samples
 * all the same.
 *
 * @param files rows of each file, also of instances outside the selection
 * @returns the numbers of each row, in the same order
 */
export function sampleNumbers(
  files: readonly (readonly NumberedRow[])[],
): readonly (readonly SampleNumbers[])[] {
  const models = new Set(files.flatMap((rows) => rows.map((each) => each.model)));
  const chosen = new Set(
    [...models].flatMap((model) =>
      rowsWithChoice(files.map((rows) => rows.filter((each) => each.model === model))),
    ),
  );
  return files.map((rows) =>
    rows.map((each) => {
      const sample = numberOf(each.row['sample']);
      const chosenSample = chosen.has(each) ? sample : numberOf(each.row['chosen_sample']);
      return {
        ...(sample !== undefined && !chosen.has(each) && { sample }),
        ...(chosenSample !== undefined && { chosenSample }),
      };
    }),
  );
}

/** Rows of one model whose `sample` is the choice of its method. */
function rowsWithChoice(files: readonly (readonly NumberedRow[])[]): NumberedRow[] {
  const found = files
    .filter((rows) => new Set(rows.map((each) => each.instance)).size === rows.length)
    .map((rows) => rows.filter(({ row }) => holdsChoice(row)))
    .filter((rows) => rows.length > 0);
  const numbers = found.map((rows) => new Set(rows.map(({ row }) => row['sample'])));
  const areNumbered =
    found.length > 1 &&
    numbers.every((of) => of.size === 1) &&
    new Set(numbers.flatMap((of) => [...of])).size === found.length;
  return areNumbered ? [] : found.flat();
}

/** Whether a row has the keys of an old row of `generate`, whose `sample` is the choice. */
function holdsChoice(row: NumberedRow['row']): boolean {
  const sample = numberOf(row['sample']);
  return (
    sample !== undefined &&
    row['chosen_sample'] === undefined &&
    typeof row['method'] === 'string' &&
    (sample === 1 || choosing.includes(row['method'])) &&
    typeof row['model'] === 'string' &&
    typeof row['applies'] === 'boolean' &&
    typeof row['why'] === 'string' &&
    typeof row['requests'] === 'number'
  );
}

const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
