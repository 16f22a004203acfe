import assert from 'node:assert/strict';

/** What a call costs, once its result is known. */
type Cost = (result: unknown) => number;

/** Whether a regular expression is tried at one place only. */
const isAnchored = ({ sticky, multiline, source }: RegExp): boolean =>
  sticky || (!multiline && source.startsWith('^'));

function costOfExec(expression: RegExp, [text]: readonly unknown[]): Cost {
  const from = expression.global || expression.sticky ? expression.lastIndex : 0;
  return (result) => {
    if (result === null) return isAnchored(expression) ? 1 : String(text).length - from;
    const { index, 0: whole } = result as RegExpExecArray;
    return index + whole.length - from;
  };
}

/** The cost of a search that finds a place, counted from where it starts. */
const costOfSearch =
  (text: string, [part, from = 0]: readonly unknown[]): Cost =>
  (at) =>
    at === -1 ? text.length - Number(from) : Number(at) + String(part).length - Number(from);

const strings: Readonly<Record<string, (text: string, given: readonly unknown[]) => Cost>> = {
  indexOf: costOfSearch,
  includes: (text, given) => () => costOfSearch(text, given)(text.search(escaped(given[0]))),
  lastIndexOf:
    (text, [, from = text.length]) =>
    (at) =>
      Number(from) - Number(at),
  // Of the parts of a text each character is seen once, whatever separates them.
  split: (text) => () => text.length,
  replaceAll: (text) => () => text.length,
  startsWith:
    (_, [part]) =>
    () =>
      String(part).length,
  endsWith:
    (_, [part]) =>
    () =>
      String(part).length,
  charAt: () => () => 1,
};

const escaped = (part: unknown): RegExp =>
  new RegExp(String(part).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));

/**
 * Counts the characters that searches in texts look at while `work` runs: those of regular
 * expressions and those of `indexOf` and its like. Steps within a match of a regular expression are
 * not counted, so only what code repeats is seen.
 */
export function scannedCharacters(work: () => void): number {
  let count = 0;
  let isCounting = true;
  const originals: (() => void)[] = [];
  const watch = (
    owner: object,
    name: string,
    costOf: (self: never, given: readonly unknown[]) => Cost,
  ): void => {
    const original = Reflect.get(owner, name) as (...given: unknown[]) => unknown;
    originals.push(() => Reflect.set(owner, name, original));
    Reflect.set(owner, name, function (this: unknown, ...given: unknown[]) {
      if (!isCounting) return original.apply(this, given);
      const cost = costOf(this as never, given);
      const result = original.apply(this, given);
      isCounting = false;
      count += cost(result);
      isCounting = true;
      return result;
    });
  };
  watch(RegExp.prototype, 'exec', costOfExec);
  for (const [name, costOf] of Object.entries(strings)) watch(String.prototype, name, costOf);
  try {
    work();
  } finally {
    for (const restore of originals) restore();
  }
  return count;
}

/** Fails where twice as much of a text makes searches look at more than twice as many characters. */
export function assertLinear(text: string, read: (text: string) => unknown, times = 500): void {
  const scanned = (count: number): number => scannedCharacters(() => void read(text.repeat(count)));
  const [once, twice] = [scanned(times), scanned(2 * times)];
  // Numbers of lines and the like get a digit more.
  assert.ok(twice <= 2.1 * once + 100, `${JSON.stringify(text)}: ${once}, then ${twice}`);
}
