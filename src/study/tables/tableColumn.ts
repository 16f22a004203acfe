import type { DeltaMean, Share, Total } from '../studyReportSchema';
import { inPercent, pValue } from '../numbers';
import type { Interval } from '../measures/resampling';

/** A cell on a page, where a pointer and a second line say more than fits into a terminal. */
interface PageCell {
  readonly text: string;
  /** In a line of its own; undefined where it is not computed yet. */
  readonly interval?: Interval | undefined;
  /** Below the text. */
  readonly small?: string | undefined;
  /** What the pointer shows. */
  readonly hover?: string | undefined;
}

type Raw = number | string | null | undefined;

/** How the values of a column read. */
export interface Format<Value> {
  /** In a terminal and in Markdown. */
  readonly text: (value: Value) => string;
  /** The text alone by default. */
  readonly page?: (value: Value) => PageCell;
  /** What a spreadsheet has of a value, by head; `*` in a head stands for the id of the column. */
  readonly raw: Readonly<Record<string, (value: Value) => Raw>>;
}

/** What a cell says whose value is not known. */
const unknown = '–';

/**
 * A column of a table, written once: terminal, Markdown, CSV, pages and documentation are drawn from
 * it.
 */
export interface TableColumn<Row> {
  /** Unique in its list. */
  readonly id: string;
  readonly head: string;
  /** What the figure means, for the pointer, the signs below the tables of a page, and the docs. */
  readonly help: string;
  /** Whether tables for people have it; a spreadsheet has every column. */
  readonly isShown: (rows: readonly Row[]) => boolean;
  readonly text: (row: Row) => string;
  readonly page: (row: Row) => PageCell;
  /** Heads in a spreadsheet. */
  readonly rawHeads: readonly string[];
  readonly raw: (row: Row) => readonly Raw[];
}

/** Makes a column from a value of each row, and its format. */
export function column<Row, Value>(of: {
  readonly id: string;
  readonly head: string;
  readonly help: string;
  readonly format: Format<Value>;
  /** Undefined where it is not known. */
  readonly value: (row: Row) => Value | undefined;
  readonly isShown?: (rows: readonly Row[]) => boolean;
}): TableColumn<Row> {
  const { id, head, help, format, value, isShown = () => true } = of;
  const raw = Object.entries(format.raw);
  const said = <Said>(row: Row, say: (known: Value) => Said, otherwise: Said): Said => {
    const known = value(row);
    return known === undefined ? otherwise : say(known);
  };
  const pageOf = (known: Value): PageCell => format.page?.(known) ?? { text: format.text(known) };
  return {
    ...{ id, head, help, isShown },
    text: (row) => said(row, (known) => format.text(known), unknown),
    page: (row) => said(row, pageOf, { text: unknown }),
    rawHeads: raw.map(([name]) => name.replace('*', id)),
    raw: (row) => raw.map(([, figure]) => said(row, figure, undefined)),
  };
}

/** A table before it is drawn. */
export interface StudyTable<Row> {
  readonly title: string;
  readonly columns: readonly TableColumn<Row>[];
  readonly rows: readonly Row[];
  readonly notes: readonly string[];
}

/** A table as texts; the first row is the head. */
export interface TextTable {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

/** A table with the texts of the columns that are shown. */
export function asTexts<Row>({ title, columns, rows, notes }: StudyTable<Row>): TextTable {
  const shown = columns.filter(({ isShown }) => isShown(rows));
  return {
    title,
    rows: [
      shown.map(({ head }) => head),
      ...rows.map((row) => shown.map((each) => each.text(row))),
    ],
    notes,
  };
}

/** A table that nothing else draws, from the text of each cell by the head of its column. */
export const textTable = <Row>(
  title: string,
  columns: Readonly<Record<string, (row: Row) => string>>,
  rows: readonly Row[],
  notes: readonly string[] = [],
): TextTable => ({
  title,
  rows: [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((cell) => cell(row))),
  ],
  notes,
});

function withInterval(value: number, interval: Interval | undefined): string {
  if (interval === undefined) return inPercent(value);
  const [low, high] = interval;
  return `${inPercent(value)} [${inPercent(low)}${low < 0 ? ' to ' : '–'}${inPercent(high)}]`;
}

/** A share from 0 to 1, measured or published. */
interface ShareFigure extends Partial<Share> {
  /** Undefined for a share of nothing. */
  readonly share: number | undefined;
}

export const shareFigure = (of: Share): ShareFigure => ({
  ...of,
  share: of.of === 0 ? undefined : of.count / of.of,
});

/** A difference from the baseline; `adjusted` is p for all comparisons together. */
type Difference =
  | 'baseline'
  | 'computing'
  | {
      readonly difference?: number | undefined;
      readonly interval?: Interval;
      readonly p?: number | undefined;
      readonly adjusted: number | undefined;
    };

const signed = (difference: number): string =>
  `${difference > 0 ? '+' : difference < 0 ? '−' : '±'}${inPercent(Math.abs(difference))}`;

const share: Format<ShareFigure> = {
  text: ({ share: value, interval }) =>
    value === undefined ? unknown : withInterval(value, interval),
  page: ({ share: value, interval, count, of }) => ({
    text: inPercent(value),
    ...(count !== undefined && { interval, hover: `${count} of ${of}` }),
  }),
  raw: {
    '*_count': ({ count }) => count,
    '*': ({ share: value }) => value,
    '*_low': ({ interval }) => interval?.[0],
    '*_high': ({ interval }) => interval?.[1],
  },
};

const shareAlone: Format<Share> = {
  text: ({ count, of }) => (of === 0 ? unknown : inPercent(count / of)),
  raw: { '*': ({ count, of }) => (of === 0 ? undefined : count / of) },
};

const shareAndCount: Format<Share> = {
  text: (value) => (value.of === 0 ? unknown : `${shareAlone.text(value)} (${value.count})`),
  raw: { '*_count': ({ count }) => count, ...shareAlone.raw },
};

const meanShare: Format<Omit<DeltaMean, 'of'> & { readonly of?: number }> = {
  text({ mean, of, interval }) {
    if (mean === undefined) return unknown;
    return withInterval(mean, interval) + (of === undefined ? '' : ` (${of})`);
  },
  page: ({ mean, of, interval }) => ({
    text: inPercent(mean),
    ...(of !== undefined && { interval, hover: `over ${of} instances` }),
  }),
  raw: {
    '*': ({ mean }) => mean,
    '*_of': ({ of }) => of,
    '*_low': ({ interval }) => interval?.[0],
    '*_high': ({ interval }) => interval?.[1],
  },
};

const differenceText = (of: Difference): string => {
  if (of === 'baseline') return of;
  if (of === 'computing') return '…';
  if (of.difference === undefined) return unknown;
  const { p, adjusted, interval } = of;
  const range = interval === undefined ? '' : ` [${interval.map(signed).join(' to ')}]`;
  const chance = p === undefined ? '' : `, ${pText(p)}`;
  const all = adjusted === undefined ? '' : ` (Holm ${pValue(adjusted)})`;
  return `${signed(of.difference)}${range}${chance}${all}`;
};

const difference = (what: 'success' | 'delta'): Format<Difference> => ({
  text: differenceText,
  page: (of) =>
    typeof of === 'string' || of.difference === undefined
      ? { text: differenceText(of) }
      : {
          text: signed(of.difference),
          small: of.adjusted === undefined ? undefined : pText(of.adjusted),
          hover: differenceText(of),
        },
  raw: {
    [`${what}_difference`]: (of) => (typeof of === 'string' ? undefined : of.difference),
    [`${what}_p`]: (of) => (typeof of === 'string' ? undefined : of.p),
    [`${what}_p_holm`]: (of) => (typeof of === 'string' ? undefined : of.adjusted),
  },
});

const pText = (p: number): string => (p < 0.001 ? `p ${pValue(p)}` : `p = ${pValue(p)}`);

/** A value that reads as it is. */
const plain = <Value extends string | number>(
  said: (value: Value) => string = String,
): Format<Value> => ({ text: said, raw: { '*': (value) => value } });

/** Formats of columns; numbers in them are of so many decimals. */
export const formats = {
  text: plain<string>(),
  count: plain<number>(),
  number: (digits: number) => plain<number>((value) => value.toFixed(digits)),
  /** A chance: `< 0.001`, `0.012`, `0.80`. */
  p: plain<number>(pValue),
  /** `48.6 [40.1–52.0]`, as the paper prints shares. */
  share,
  /** `33.3 (1)`: a share in percent, and its number. */
  shareAndCount,
  /** A share in percent alone. */
  shareAlone,
  /** A mean of shares; in parentheses over how many instances, where it was measured. */
  meanShare,
  difference,
  /** The sum over the candidates that state it. */
  sum: (digits: number): Format<Pick<Total, 'sum'>> => ({
    text: (total) => total.sum.toFixed(digits),
    raw: { '*': (total) => total.sum },
  }),
  /** The mean over the candidates that state it. */
  mean: (digits: number): Format<Pick<Total, 'mean'>> => ({
    text: (total) => total.mean.toFixed(digits),
    raw: { '*': (total) => total.mean },
  }),
};
