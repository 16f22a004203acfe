import { HumanError } from './humanError';

/**
 * Whether a text can be the id of an instance. Every such id is also a valid name of one file or
 * folder on all systems.
 */
export const isInstanceId = (text: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9_.+-]{0,199}$/.test(text);

/**
 * Checks ids from a command line, a state file or a triage file. Ids of rows are checked on import.
 *
 * @returns the id
 * @throws HumanError when the text cannot be the id of an instance
 */
export function checkedId(id: string): string {
  if (isInstanceId(id)) return id;
  throw new HumanError(
    `${JSON.stringify(id.slice(0, 80))} is not an instance id`,
    'Write it as in sympy__sympy-23117: letters, digits and _ . + -',
  );
}
