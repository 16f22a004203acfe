import { HumanError } from '../../domain/work';

/**
 * From the first instant of a year, month or day (included) to its end (excluded); milliseconds
 * since 1970, UTC.
 */
interface DateSpan {
  readonly from: number;
  readonly to: number;
}

const pattern = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/;

/** Whether a text has the form `2021`, `2021-03` or `2021-03-15`. The date need not exist. */
export const looksLikeDate = (text: string): boolean => pattern.test(text);

/**
 * The span of a year, a month or a day, in UTC.
 *
 * @throws HumanError naming the text if it is not such a date between 1900 and 2999
 */
export function parseDateSpan(text: string): DateSpan {
  const match = pattern.exec(text);
  const year = Number(match?.[1]);
  const month = match?.[2] === undefined ? undefined : Number(match[2]);
  const day = match?.[3] === undefined ? undefined : Number(match[3]);
  const from = Date.UTC(year, (month ?? 1) - 1, day ?? 1);
  const to =
    day !== undefined
      ? Date.UTC(year, (month ?? 1) - 1, day + 1)
      : month !== undefined
        ? Date.UTC(year, month, 1)
        : Date.UTC(year + 1, 0, 1);
  // `Date` turns a day that does not exist, such as 2021-02-30, into another one.
  const exists =
    year >= 1900 && year <= 2999 && new Date(from).toISOString().startsWith(match?.[0] ?? '?');
  if (!exists) {
    throw new HumanError(
      `"${text}" is not a date`,
      'Use a year, a month or a day: 2021, 2021-03 or 2021-03-15',
    );
  }
  return { from, to };
}

/**
 * When an instance was created, in milliseconds since 1970; undefined if the row has no readable
 * date. A time without a zone is UTC, whatever the zone of this machine.
 */
export function createdTime(createdAt: string): number | undefined {
  const text = createdAt.trim();
  const zoned = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/.test(text)
    ? `${text.replace(' ', 'T')}Z`
    : text;
  const time = text === '' ? NaN : Date.parse(zoned);
  return Number.isNaN(time) ? undefined : time;
}
