import type { AgentlessAblation } from './resolution/agentlessAblation';
import { nameOfStep } from './agentlessTables';

/** A column of a spreadsheet, which has one row for each method. */
type AgentlessColumn = readonly [
  head: string,
  cell: (of: AgentlessAblation) => string | number | undefined,
];

/** The ablations of Agentless as columns: some for each step, number of samples and selection. */
export const agentlessColumns = (all: readonly AgentlessAblation[]): AgentlessColumn[] => [
  ...columnsOf(all, ({ localisation }) => localisation, nameOfStep, {
    localised_file: ({ contains }, of) => shareOf(contains.file, of),
    localised_function: ({ contains }, of) => shareOf(contains.function, of),
    localised_line: ({ contains }, of) => shareOf(contains.line, of),
    localised_lines_of_code: ({ lines }) => lines,
    localised_dollars_mean: ({ dollars }) => dollars?.mean,
  }),
  ...columnsOf(
    all,
    ({ samples }) => samples,
    ({ samples }) => `first ${samples}`,
    {
      samples_resolved: ({ resolved }, of) => shareOf(resolved, of),
      samples_strictly_resolved: ({ strictlyResolved }, of) => shareOf(strictlyResolved, of),
      samples_any_oracle: ({ any }, of) => shareOf(any, of),
    },
  ),
  ...columnsOf(
    all,
    ({ selection }) => selection,
    ({ by }) => by,
    {
      selection_resolved: ({ resolved }, of) => shareOf(resolved, of),
      selection_strictly_resolved: ({ strictlyResolved }, of) => shareOf(strictlyResolved, of),
      selection_dollars_mean: ({ dollars }) => dollars?.mean,
    },
  ),
];

type Value<Row> = (row: Row, of: AgentlessAblation) => number | undefined;

/** Columns for the rows of an ablation: the values of each row. */
function columnsOf<Row>(
  all: readonly AgentlessAblation[],
  rowsOf: (of: AgentlessAblation) => readonly Row[],
  nameOf: (row: Row) => string,
  values: Readonly<Record<string, Value<Row>>>,
): AgentlessColumn[] {
  const rows = new Set(all.flatMap(rowsOf).map(nameOf));
  return [...rows].flatMap((name) =>
    Object.entries(values).map(([head, value]): AgentlessColumn => [
      `${head}: ${name}`,
      (of) => {
        const row = rowsOf(of).find((each) => nameOf(each) === name);
        return row === undefined ? undefined : value(row, of);
      },
    ]),
  );
}

const shareOf = (count: number, { selected }: AgentlessAblation): number | undefined =>
  selected === 0 ? undefined : count / selected;
