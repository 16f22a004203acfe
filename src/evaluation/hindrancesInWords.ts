interface Hindrance {
  /** Such as `the base tests`. */
  readonly subject: string;
  readonly predicate: string;
  /** What the run said; undefined where it stays hidden, or is not known. */
  readonly cause: string | undefined;
}

/**
 * Hindrances of several runs as one text: tests and sides with the same hindrance share a sentence,
 * and a cause is there once.
 *
 * @param hindrances sentences, such as `the base tests cannot be run on R (no module named cat)`
 * @param told a text that the reader has beside, whose causes need no repetition
 */
export function hindrancesInWords(hindrances: readonly string[], told = ''): string {
  const parts = hindrances.map(partsOf);
  const merged = new Map<string, { subjects: Set<string>; sides: Set<string>; of: Hindrance }>();
  for (const of of parts) {
    const { predicate, cause, subject } = of;
    const key = JSON.stringify([predicate.replace(onSide, ' on'), cause]);
    const known = merged.get(key) ?? { subjects: new Set(), sides: new Set(), of };
    known.subjects.add(subject);
    const side = onSide.exec(predicate)?.[1];
    if (side !== undefined) known.sides.add(side);
    merged.set(key, known);
  }
  const said = new Set<string>();
  return [...merged.values()]
    .map(({ subjects, sides, of: { predicate, cause } }) => {
      const where = predicate.replace(onSide, () => ` on ${[...sides].join(' and ')}`);
      const sentence = [inList([...subjects]), where].filter((each) => each !== '').join(' ');
      const isNew = cause !== undefined && !said.has(cause) && !told.includes(cause);
      if (cause !== undefined) said.add(cause);
      return isNew ? `${sentence} (${cause})` : sentence;
    })
    .join('; ');
}

const onSide = / on (R∘X\*|R)(?= |$)/;

function partsOf(sentence: string): Hindrance {
  const [, text = sentence, cause] = /^([^(]*) \(([^]*)\)$/.exec(sentence) ?? [];
  const [, subject = '', predicate = text] =
    /^(the (?:golden tests|base tests(?: beside the golden tests)?)) ([^]*)$/.exec(text) ?? [];
  return { subject, predicate, cause };
}

const inList = (subjects: readonly string[]): string =>
  [subjects.slice(0, -1).join(', '), subjects.at(-1) ?? '']
    .filter((each) => each !== '')
    .join(' and ');
