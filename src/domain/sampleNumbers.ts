/** A row of a predictions file, as far as it tells which sample it is. */
export interface NumberedRow {
  readonly instance: string;
  readonly model: string;
  /** The whole row. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** What a row says of its candidate among others. */
export interface SampleNumbers {
  /** Which of several candidates of one model for one instance, from 1 on; absent where nothing is said. */
  readonly sample?: number;
  /** Which of its own answers a method chose, from 1 on. */
  readonly chosenSample?: number;
}

/** Methods that chose among several answers when `generate` still wrote the choice as `sample`. */
const choosing: readonly unknown[] = ['pass-at-5', 'libro'];

/**
 * Tells apart the two meanings that `sample` has had. It is the number of a sample, except in rows of
 * `generate` from before `chosen_sample` was a key: there it is the answer that the method chose. Such a row
 * has the keys of `generate`, and its file has one row for each instance and model. Where each of several
 * files has one number throughout, and each file another, somebody has numbered the samples.
 *
 * @param files rows of each file, also of instances that nobody selected
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

/** Whether a row has the keys of one that `generate` wrote with its choice as `sample`. */
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
