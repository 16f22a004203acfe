import { sideName, type Side } from '../domain/outcome';

/** Why runs do not show all that tests would do: `the base tests cannot be run on R (no pytest)`. */
export interface Hindrance {
  /** Whose runs, such as `the base tests`; absent where it concerns no run. */
  readonly subject?: string;
  /** Such as `cannot be run`. */
  readonly what: string;
  readonly side?: Side;
  /** Follows the side, such as `with what is installed`. */
  readonly how?: string;
  /** What the run said; absent where it stays hidden, or is not known. */
  readonly cause?: string;
}

/**
 * Hindrances of several runs as one text: tests and sides with the same hindrance share a sentence,
 * and a cause is there once.
 *
 * @param told a text that the reader has beside, whose causes need no repetition
 */
export function hindrancesInWords(hindrances: readonly Hindrance[], told = ''): string {
  const alike = new Map<string, Hindrance[]>();
  for (const each of hindrances) {
    const { what, how, cause } = each;
    const key = JSON.stringify([what, how, cause]);
    alike.set(key, [...(alike.get(key) ?? []), each]);
  }
  const said = new Set<string>();
  return [...alike.values()]
    .map((group) => {
      const [{ what, how, cause } = { what: '' }] = group;
      const subjects = new Set(group.flatMap(({ subject = [] }) => subject));
      const on = new Set(group.flatMap(({ side }) => (side === undefined ? [] : sideName[side])));
      const isNew = cause !== undefined && !said.has(cause) && !told.includes(cause);
      if (isNew) said.add(cause);
      return [
        inList.format(subjects),
        what,
        ...(on.size === 0 ? [] : ['on', inList.format(on)]),
        how ?? '',
        isNew ? `(${cause})` : '',
      ]
        .filter((part) => part !== '')
        .join(' ');
    })
    .join('; ');
}

/** `a, b and c`, as British English has it, without a comma before `and`. */
const inList = new Intl.ListFormat('en-GB');
