import { HumanError } from './humanError';

/** Whether a text can be the id of an instance. It is then a name of one file or folder on every system. */
export const isInstanceId = (text: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9_.+-]{0,199}$/.test(text);

/**
 * Rows are checked when they enter; ids of a command line, a state file or a triage file are checked here.
 *
 * @returns the id
 * @throws HumanError when it cannot be the id of an instance
 */
export function checkedId(id: string): string {
  if (isInstanceId(id)) return id;
  throw new HumanError(
    `${JSON.stringify(id.slice(0, 80))} is not an instance id`,
    'Write it as in sympy__sympy-23117: letters, digits and _ . + -',
  );
}
