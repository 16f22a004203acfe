/**
 * Correct location, as the Agentless paper measures it (section 4, metrics): a patch has it if the
 * places that it edits are a superset of those of X*, by line, function and file.
 */
export const granularities = ['file', 'function', 'line'] as const;
export type Granularity = (typeof granularities)[number];

export type CorrectLocation = Readonly<Record<Granularity, boolean>>;

/** The places in a file of R that a patch edits. */
export interface EditedPlaces {
  /** Path in R, or the new path of a file that the patch adds. */
  readonly path: string;
  /** 1-based lines that the patch removes or replaces. */
  readonly lines: ReadonlySet<number>;
  /**
   * Gaps in which the patch only adds lines, each by the line before it: 0 is the beginning of the
   * file.
   */
  readonly gaps: ReadonlySet<number>;
  /**
   * The innermost functions around these places. Outside of every function it is the class, or
   * empty for the module.
   */
  readonly functions: ReadonlySet<string>;
}

/**
 * Compares the places of a patch with those of X*. The paper does not say what the line of an
 * insertion is. Here X* adds lines in a gap; a patch covers it if it adds there too, or edits a line
 * beside it.
 */
export function correctLocation(
  patch: readonly EditedPlaces[],
  golden: readonly EditedPlaces[],
): CorrectLocation {
  const edited = new Map(patch.map((places) => [places.path, places]));
  const everywhere = (covers: (mine: EditedPlaces, theirs: EditedPlaces) => boolean): boolean =>
    golden.every((theirs) => {
      const mine = edited.get(theirs.path);
      return mine !== undefined && covers(mine, theirs);
    });
  return {
    file: everywhere(() => true),
    function: everywhere((mine, theirs) =>
      [...theirs.functions].every((name) => mine.functions.has(name)),
    ),
    line: everywhere(
      (mine, theirs) =>
        [...theirs.lines].every((line) => mine.lines.has(line)) &&
        [...theirs.gaps].every(
          (gap) => mine.gaps.has(gap) || mine.lines.has(gap) || mine.lines.has(gap + 1),
        ),
    ),
  };
}
