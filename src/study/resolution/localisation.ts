import type { KeptCode } from '../../domain/instance';
import type { CorrectLocation, EditedPlaces } from './correctLocation';

/** How far a step localises X*. */
export interface StepLocation extends Pick<KeptCode, 'step' | 'set'> {
  /** Lines of code that the step keeps. */
  readonly lines: number;
  /** Whether these are all places of X*. */
  readonly contains: CorrectLocation;
}

/** The code of a file that a step keeps, as it is compared with X*. */
export interface KeptPlaces {
  readonly path: string;
  /** 1-based lines, or all of the file. */
  readonly lines: ReadonlySet<number> | 'all';
  /** The innermost functions around these lines, as in `EditedPlaces`. */
  readonly functions: ReadonlySet<string>;
}

/**
 * Whether a step keeps all places that X* edits. A gap in which X* adds lines is kept with a line
 * beside it; a function, with a line of it. A file that X* adds is never kept.
 */
export function keepsPlaces(
  kept: readonly KeptPlaces[],
  golden: readonly EditedPlaces[],
): CorrectLocation {
  const byPath = new Map(kept.map((places) => [places.path, places]));
  const everywhere = (holds: (mine: KeptPlaces, theirs: EditedPlaces) => boolean): boolean =>
    golden.every((theirs) => {
      const mine = byPath.get(theirs.path);
      return mine !== undefined && (mine.lines === 'all' || holds(mine, theirs));
    });
  const keepsLines = ({ lines }: KeptPlaces, theirs: EditedPlaces): boolean =>
    lines === 'all' ||
    ([...theirs.lines].every((line) => lines.has(line)) &&
      [...theirs.gaps].every((gap) => lines.has(gap) || lines.has(gap + 1)));
  return {
    file: everywhere(() => true),
    function: everywhere(
      (mine, theirs) =>
        keepsLines(mine, theirs) || [...theirs.functions].every((name) => mine.functions.has(name)),
    ),
    line: everywhere(keepsLines),
  };
}
