import { isFailure } from '../../domain/outcome';
import type { ShownFailure } from '../prompts';
import type { StepOf } from '../trace';

/** Number of failures that a prompt shows. */
export const mostShownFailures = 5;

/**
 * Failing tests as prompts show them, the first few. Their texts are neutral and bounded, since they
 * come from a run step.
 */
export const shownFailures = (tests: StepOf<'run'>['tests']): ShownFailure[] =>
  tests
    .filter(isFailure)
    .slice(0, mostShownFailures)
    .map(({ test, exception, message, details }) => ({
      test,
      text: details ?? [exception, message].filter((each) => each !== undefined).join(': '),
    }));
