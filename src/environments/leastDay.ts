import { Cancelled, HumanError } from '../domain/work';

/** The resolver found no versions that fit together. */
export class NoSolution extends HumanError {}

/** Whether the output of uv says that no set of versions fits. */
export const saysNoSolution = (output: string): boolean => /\bNo solution found\b/.test(output);

/** The day as of which packages were taken, where it is later than that of the instance. */
export interface MovedDay {
  /** Day of the instance, `YYYY-MM-DD`. */
  readonly wanted: string;
  /** The earliest later day that was found to have a solution. */
  readonly taken: string;
}

/** A sentence for readers of results; undefined where the day is that of the instance. */
export const remarkOnDay = (moved: MovedDay | undefined): string | undefined =>
  moved === undefined
    ? undefined
    : `packages are as of ${moved.taken} instead of ${moved.wanted}: before, none fit what R requires`;

/** Days that are tried after the instance's, until one has a solution. */
const steps = [7, 30, 90, 180, 365, 730, 1461, 2922];

/**
 * Resolves requirements as of a day. R may ask for packages that are newer: a release that stands
 * for a commit, or a commit that was ahead of its requirements. The day then moves to the earliest
 * one that has a solution, as far as bisection finds it.
 *
 * @param day `YYYY-MM-DD`; undefined for now
 * @param today no day after it is tried
 * @param resolve throws {@link NoSolution} when no versions as of the day fit
 * @throws the error of the instance's own day when no later day has a solution; Cancelled
 */
export async function asOfLeastDay<Answer>(
  day: string | undefined,
  today: string,
  resolve: (day: string | undefined) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly moved: MovedDay | undefined }> {
  let first: unknown;
  try {
    return { answer: await resolve(day), moved: undefined };
  } catch (error) {
    if (day === undefined || day >= today || !(error instanceof NoSolution)) throw error;
    first = error;
  }
  const wanted = numberOf(day);
  let [without, found] = [wanted, undefined as { at: number; answer: Answer } | undefined];
  const tryAt = async (at: number): Promise<boolean> => {
    const answer = await answerOrNone(() => resolve(dayAt(at)));
    if (answer === undefined) without = at;
    else found = { at, ...answer };
    return answer !== undefined;
  };
  const later = steps.map((step) => wanted + step).filter((at) => at < numberOf(today));
  for (const at of [...later, numberOf(today)]) if (await tryAt(at)) break;
  if (found === undefined) throw first;
  while (found.at - without > 1) await tryAt(Math.floor((found.at + without) / 2));
  return { answer: found.answer, moved: { wanted: day, taken: dayAt(found.at) } };
}

/** A later day may also fail in another way, such as a package that cannot be built. */
async function answerOrNone<Answer>(
  resolve: () => Promise<Answer>,
): Promise<{ readonly answer: Answer } | undefined> {
  try {
    return { answer: await resolve() };
  } catch (error) {
    if (error instanceof Cancelled || !(error instanceof HumanError)) throw error;
    return undefined;
  }
}

const millisecondsOfDay = 86_400_000;

const numberOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / millisecondsOfDay;

const dayAt = (number: number): string =>
  new Date(number * millisecondsOfDay).toISOString().slice(0, 10);
