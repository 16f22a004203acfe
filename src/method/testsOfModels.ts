import { HumanError } from '../domain/humanError';
import { runsInContainers, type EngineName } from '../engine/engine';

/**
 * Tests of a model cannot be run where they are to run: the cause is for the person, and what a model is
 * told does not depend on it.
 */
export class TestsCannotRun extends HumanError {}

/** What running them with the local engine means, for a person who is to decide. */
export const meaningOfLocal =
  'code that a model has written runs as you, on your files: it can read the dataset with the answer, and your keys';

/** Methods and tools that run tests, as far as the gate knows them. */
export interface LocalTests {
  readonly engine: EngineName;
  /** The person allows it, knowing what it means. */
  readonly runTestsLocally?: boolean | undefined;
}

/** Whether tests that a model has written may run. In containers they always may. */
export const mayRunTestsOfModels = ({ engine, runTestsLocally }: LocalTests): boolean =>
  runsInContainers(engine) || runTestsLocally === true;

/**
 * Why they do not run, on a command line.
 *
 * @param who what would run them, such as `LIBRO`
 * @param instead what works without them, if anything
 */
export const refusedLocally = (who: string, instead?: string): HumanError =>
  new TestsCannotRun(
    `${who} runs tests that the model writes, and with the local engine ${meaningOfLocal}`,
    `Add --engine docker, or --run-tests-locally if you accept that${instead === undefined ? '' : `, or ${instead}`}`,
  );
