import { plural } from '../../domain/text';
import { HumanError } from '../../domain/work';
import type { Method } from '../method';

/** The option for refinement: its default and least value, for the command line and the editor. */
export const refiningOption = { option: '--refine', default: 0, minimum: 0 } as const;

/**
 * A method whose samples go back to the model with the errors that are their own, as in Issue2Test.
 *
 * @param times times that each sample may go back, from 1
 * @throws HumanError when the method does not sample answers
 */
export function refiningMethod(method: Method, times: number): Method {
  if (method.canRefine !== true) {
    throw new HumanError(
      `--refine applies to methods that sample answers, not to ${method.title}`,
      'Omit --refine',
    );
  }
  return {
    ...method,
    name: `${method.name}+refine${times}`,
    title: `${method.title} refined up to ${plural(times, 'time')}`,
    description: `${method.description}; the model revises tests with errors of their own`,
    runs: method.runs === 'nothing' ? 'R' : method.runs,
    refined: { of: method, times },
    produce: (steps, options) => method.produce(steps, { ...options, refine: times }),
  };
}
