import {
  type MeasuredMethod,
  type MethodRow,
  coverageColumns,
  rateColumns,
  type TableColumn,
} from '../../study/tables';
import { number } from '../../study/numbers';
import type { AdjustedComparison, PublishedRow, Summary } from '../../study/studyReportSchema';

export interface SummaryRows {
  /** All methods, including hidden ones, in the order of the table. */
  readonly methods: readonly { readonly id: string; readonly name: string }[];
  /** Summaries of the methods that are not hidden. */
  readonly summaries: readonly Summary[];
  /** Id of the method with which the others are compared. */
  readonly baseline: string | undefined;
  readonly comparisons: readonly AdjustedComparison[];
  readonly published: readonly PublishedRow[];
  /** How many instances the filter keeps; undefined without a filter. */
  readonly kept: number | undefined;
}

export type MethodColumn = TableColumn<MethodRow>;

/** The rows of the measured methods, and the columns after their names. */
export function summaryOf({ summaries, baseline, comparisons }: SummaryRows): {
  readonly columns: readonly MethodColumn[];
  readonly rows: ReadonlyMap<string, MethodRow>;
} {
  const compares = baseline !== undefined && summaries.length > 1;
  const byId = new Map(comparisons.map((each) => [each.first, each]));
  const comparisonOf = ({ method, selected }: Summary): MeasuredMethod['comparison'] => {
    if (!compares) return undefined;
    if (method === baseline) return 'baseline';
    return selected === 0 ? undefined : (byId.get(method) ?? 'computing');
  };
  const rows = new Map<string, MethodRow>(
    summaries.map((summary) => [summary.method, { summary, comparison: comparisonOf(summary) }]),
  );
  const all = [...rows.values()];
  return {
    columns: [...rateColumns, ...coverageColumns].filter(({ isShown }) => isShown(all)),
    rows,
  };
}

/**
 * The signs of the summary in the order of its columns, and what they stand for. On paper, and for a
 * reader who is sent the page, nothing else explains them.
 */
export const signsOf = (
  columns: readonly MethodColumn[],
): readonly (readonly [sign: string, meaning: string])[] => [
  ['R', 'the repository before the fix'],
  [
    'F, P, ×',
    'a test fails (F), passes (P), or either (×); on R before the arrow, with the fix after it',
  ],
  ...columns.map(({ head, help }) => [head, help] as const),
];

/**
 * What the figures of the summary are shares of.
 *
 * @param kept how many instances the filter keeps; undefined without a filter
 */
export function summaryCaption(kept: number | undefined): string {
  if (kept === 0) return 'No instances match the filter';
  const of =
    kept === undefined
      ? 'all selected instances'
      : kept === 1
        ? 'the 1 instance that matches the filter'
        : `the ${number(kept)} instances that match the filter`;
  return `In percent of ${of}, with 95 % bootstrap intervals over the instances`;
}
