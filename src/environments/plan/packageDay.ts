import { Cancelled, HumanError } from '../../domain/work';
import type { MovedDay } from '../../engine/engine';

/**
 * The day as of which setuptools and wheel are taken when the instance's day is earlier: setuptools
 * 65 (59 for Python 3.6). Earlier versions do not run with a later Python. Before 62, they write
 * versions that uv refuses where a project sets `tag_date`. Before 64, they cannot install in
 * editable mode without setup.py.
 */
const builders = '2022-09-01';

/**
 * Options that make uv leave out releases later than a day. They do not apply to setuptools and
 * wheel of {@link builders}, nor to requirements that pin one version.
 */
export function asOf(day: string | undefined, requirements: readonly string[] = []): string[] {
  if (day === undefined) return [];
  const pinned = requirements.flatMap((line) => /^\s*([\w.-]+)\s*==/.exec(line)?.[1] ?? []);
  return [
    ...['--exclude-newer', day],
    ...(day < builders
      ? ['setuptools', 'wheel'].flatMap((name) => [
          '--exclude-newer-package',
          `${name}=${builders}`,
        ])
      : []),
    ...[...new Set(pinned)].flatMap((name) => ['--exclude-newer-package', `${name}=2099-01-01`]),
  ];
}

/** The resolver found no versions that fit together. */
export class NoSolution extends HumanError {}

/** Whether the output of uv says that no set of versions fits. */
export const saysNoSolution = (output: string): boolean => /\bNo solution found\b/.test(output);

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
  for (const later of laterDays(day, today)) if (await tryAt(numberOf(later))) break;
  if (found === undefined) throw first;
  while (found.at - without > 1) await tryAt(Math.floor((found.at + without) / 2));
  return { answer: found.answer, moved: { wanted: day, taken: dayAt(found.at) } };
}

/** The days that are tried after one that has no solution, the last of them today. */
export const laterDays = (day: string, today: string): string[] => [
  ...steps.map((step) => dayAt(numberOf(day) + step)).filter((later) => later < today),
  today,
];

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

/** What setuptools lost, as errors say it, and the first version without it. */
const lost: readonly { readonly says: RegExp; readonly version: number }[] = [
  { says: /cannot import name '?Feature'?/, version: 46 },
  { says: /use_2to3 is invalid|invalid command '?use_2to3/, version: 58 },
];

/**
 * A constraint on setuptools for building packages that are older than what setuptools lost: as of
 * their own day, setuptools does not run with a later Python, so that a later one was taken.
 *
 * @param output of a build that failed
 * @returns undefined where another setuptools would not help
 */
export const olderSetuptools = (output: string): string | undefined => {
  const versions = lost.flatMap(({ says, version }) => (says.test(output) ? [version] : []));
  return versions.length === 0 ? undefined : `setuptools<${Math.min(...versions)}`;
};
