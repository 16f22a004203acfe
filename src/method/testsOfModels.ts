import { HumanError } from '../domain/work';
import { runsInContainers } from '../engine/engines';

/**
 * Tests of a model cannot run on the chosen engine. The reason is for the user; what a model sees
 * does not depend on it.
 */
export class TestsCannotRun extends HumanError {}

/** The consequence of running them with the local engine, for the user to decide. */
export const meaningOfLocal =
  'model-written code runs with your permissions: it can read your files and keys, and the dataset with the answer';

/** The settings that decide whether tests of models may run. */
interface LocalTests {
  readonly engine: string;
  /** The user allows it and knows the consequence. */
  readonly runTestsLocally?: boolean | undefined;
}

/** Whether tests that a model has written may run. In containers they always may. */
export const mayRunTestsOfModels = ({ engine, runTestsLocally }: LocalTests): boolean =>
  runsInContainers(engine) || runTestsLocally === true;

/**
 * The refusal to run them, on a command line.
 *
 * @param who what would run them, such as `LIBRO`
 * @param instead what works without them, if anything
 * @param what the model's text that would run
 */
export const refusedLocally = (
  who: string,
  instead?: string,
  what: 'tests' | 'code' = 'tests',
): HumanError =>
  new TestsCannotRun(
    `${who} runs ${what} that the model writes. With the local engine, ${meaningOfLocal}`,
    `Add --engine docker, or --run-tests-locally if you accept this${instead === undefined ? '' : `, or ${instead}`}`,
  );
