import { functionOf } from '../domain/outcome';
import { parseUnified } from '../patch/unified';
import type { TreeOfR } from './treeOfR';

/** What a run may not tell, wherever the tests of a candidate got it from. */
export interface Withheld {
  /**
   * A value with every line left out, of all texts in it, that holds a line or a test of the answer
   * which neither R nor `known` has.
   *
   * @param known what the model has written or been shown, so that it is none of our secrets
   */
  without<T>(value: T, known: readonly string[]): Promise<T>;
}

/** What stands in the place of a line. */
export const withheldLine = '[a line is withheld here]';

/** Shorter lines are in many a program. */
const leastLength = 21;

/**
 * A second line of defence: tests run where there is no R∘X*, but with the local engine they can read
 * whatever the user can, such as the dataset. What they print of it goes no further.
 *
 * @param patches X* and T*, unified diffs
 * @param tests ids of FAIL_TO_PASS and PASS_TO_PASS, as far as the row has them
 */
export function withheld(
  patches: readonly string[],
  tests: readonly string[],
  tree: TreeOfR,
): Withheld {
  const added = patches.flatMap((patch) =>
    parseUnified(patch).files.flatMap((file) =>
      file.hunks.flatMap((hunk) =>
        hunk.lines.flatMap((line) => (line.kind === 'added' ? [line.text.trim()] : [])),
      ),
    ),
  );
  const names = [
    ...added.flatMap((line) => /^(?:async\s+)?def\s+(test\w*)/.exec(line)?.[1] ?? []),
    ...tests.map((test) => functionOf(test).split('::').at(-1) ?? ''),
  ];
  const secrets = [
    ...new Set([
      ...added.filter((line) => line.length >= leastLength),
      ...names.filter((name) => /^test\w{4,}$/.test(name)),
    ]),
  ];
  const inR = new Map<string, Promise<boolean>>();
  const isInR = (secret: string): Promise<boolean> => {
    const known =
      inR.get(secret) ?? tree.search({ pattern: secret }).then((found) => found.length > 0);
    inR.set(secret, known);
    return known;
  };

  const withoutIn = async (text: string, known: readonly string[]): Promise<string> => {
    const hits: string[] = [];
    for (const secret of secrets) {
      if (!text.includes(secret) || known.some((each) => each.includes(secret))) continue;
      if (!(await isInR(secret))) hits.push(secret);
    }
    if (hits.length === 0) return text;
    return text
      .split('\n')
      .map((line) => (hits.some((hit) => line.includes(hit)) ? withheldLine : line))
      .join('\n');
  };
  const visit = async (value: unknown, known: readonly string[]): Promise<unknown> => {
    if (typeof value === 'string') return withoutIn(value, known);
    if (Array.isArray(value)) return Promise.all(value.map((each) => visit(each, known)));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value).map(async ([key, each]) => [
      key,
      await visit(each, known),
    ]);
    return Object.fromEntries(await Promise.all(entries)) as unknown;
  };
  return {
    without: async <T>(value: T, known: readonly string[]) => (await visit(value, known)) as T,
  };
}
