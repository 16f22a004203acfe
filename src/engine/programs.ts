/** Programs of the system that tests of some repositories run, as recipes name them. */
export const programNames = ['latex', 'dvipng', 'gs', 'dot', 'msgfmt'] as const;
export type ProgramName = (typeof programNames)[number];

/** How a log speaks of a program, where a test is skipped or fails without it. */
const words: Readonly<Record<ProgramName, RegExp>> = {
  latex: /\b(?:la)?tex\b/i,
  dvipng: /\bdvipng\b/i,
  gs: /\bghostscript\b/i,
  dot: /\bgraphviz\b/i,
  msgfmt: /\b(?:msgfmt|gettext)\b/i,
};

/**
 * What a run remarks on programs that its environment lacks. A program counts where the log speaks of
 * it: tests that need it are skipped or fail.
 *
 * @param missing programs that are not on the path
 * @param log what the tests printed
 */
export const missingPrograms = (missing: readonly string[], log: string): string[] =>
  programNames
    .filter((name) => missing.includes(name) && words[name].test(log))
    .map((name) => `a test needs ${name}, which is not in the environment`);
