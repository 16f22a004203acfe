import { HumanError } from '../../domain/work';
import type { FixStep, Steps } from '../steps';

/** How many fixes the model is asked for at most, as in the paper. */
export const mostFixes = 5;

/**
 * A code patch that applies to R and does not resolve the issue: the first such answer of the model
 * when it is asked for a fix. The first answer has temperature 0 and the further ones 0.7, so that
 * they differ.
 *
 * @param temperature null leaves it to the server; a number is for candidates and does not count here
 * @throws HumanError when every answer resolves the issue or cannot be used
 */
export async function wrongPatch(
  steps: Pick<Steps, 'fix'>,
  temperature: number | null | undefined,
): Promise<string> {
  const fixes: FixStep[] = [];
  while (fixes.length < mostFixes) {
    const fix = await steps.fix(askedFix(fixes.length + 1, temperature));
    if (isWrong(fix)) return fix.patch;
    fixes.push(fix);
  }
  const right = fixes.filter(({ resolved }) => resolved === true).length;
  const unusable = fixes.filter(({ problem }) => problem !== undefined).length;
  const unknown = fixes.length - right - unusable;
  throw new HumanError(
    `The model wrote no wrong patch in ${mostFixes} fixes: ` +
      [
        `${right} resolve the issue`,
        `${unusable} cannot be used`,
        ...(unknown > 0 ? [`${unknown} could not be judged`] : []),
      ].join(', '),
    'The paper leaves such instances out; select the others with --ids',
  );
}

/** How a fix is asked for. @param sample its number, from 1 */
export const askedFix = (
  sample: number,
  temperature: number | null | undefined,
): Parameters<Steps['fix']>[0] => {
  const usual = sample === 1 ? 0 : 0.7;
  return { sample, temperature: temperature === null ? undefined : usual };
};

/** Whether a fix is a code patch on R that does not resolve the issue. */
export const isWrong = ({ problem, resolved }: FixStep): boolean =>
  problem === undefined && resolved === false;
