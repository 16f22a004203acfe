import { HumanError } from '../../domain/work';
import { unknownText } from '../estimate/unknownText';
import type { Steps } from '../steps/steps';
import { askForFix } from '../steps/filledPrompts';
import { keyOf, type StepOf } from '../trace';

type FixStep = StepOf<'fix'>;

/** How many fixes the model is asked for at most, as in the paper. */
const mostFixes = 5;

/**
 * A code patch that applies to R and does not resolve the issue: the first such answer of the model
 * when it is asked for a fix. The first answer has temperature 0 and the further ones 0.7, so that
 * they differ.
 *
 * @param temperature null leaves it to the server; a number is for candidates and does not count here
 * @throws HumanError when every answer resolves the issue or cannot be used
 */
export async function wrongPatch(
  steps: Steps,
  temperature: number | null | undefined,
): Promise<string> {
  const fixes: FixStep[] = [];
  while (fixes.length < mostFixes) {
    const fix = await judgedFix(steps, fixes.length + 1, temperature);
    if (fix.problem === undefined && fix.resolved === false) return fix.patch;
    fixes.push(fix);
  }
  const unjudged = fixes.find(({ patch }) => steps.supposes(patch));
  if (unjudged !== undefined) return unjudged.patch;
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
    'The paper excludes such instances; select the others with --ids',
  );
}

/**
 * Asks for a fix of the code as ZeroShotPlus asks for tests, and asks the oracle whether it resolves
 * the issue.
 *
 * @param sample its number, from 1
 */
async function judgedFix(
  steps: Steps,
  sample: number,
  temperature: number | null | undefined,
): Promise<FixStep> {
  const ofSample = sample === 1 ? 0 : 0.7;
  const { text } = await askForFix(steps, {
    ...{ format: 'custom', sample },
    temperature: temperature === null ? undefined : ofSample,
  });
  const { golden, engine, timeoutSeconds, walk } = steps.parts;
  const key = keyOf('fix', await steps.tree(), text, golden?.digest, engine, timeoutSeconds);
  const fix = await steps.recall(
    'fix',
    key,
    async ({ oracle }) => {
      steps.progress('running the golden tests on R with a fix');
      return (await oracle()).judgeFix(text);
    },
    {
      isGood: ({ problem, resolved }) => problem !== undefined || resolved !== undefined,
      supposed: { patch: unknownText(`fix${sample}`, steps.parts.maxOutputTokens) },
    },
  );
  if (steps.supposes(fix.patch)) walk?.suppose();
  return fix;
}
