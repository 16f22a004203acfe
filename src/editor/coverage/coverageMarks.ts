import {
  lineStates,
  type CoveredLine,
  type ChangeKind,
  type LineState,
} from '../../domain/changeCoverage';
import type { ChangeBlock } from '../../patch/changeBlocks';

/** Changed lines of the other side, told beside a line of this one. */
export interface Note {
  /** 1-based. */
  readonly line: number;
  readonly lines: readonly CoveredLine[];
}

/** What is drawn in one document. */
export interface CoverageMarks {
  /** 1-based lines of the document by the state of the changed line that stands there. */
  readonly states: ReadonlyMap<LineState, readonly number[]>;
  readonly notes: readonly Note[];
}

/** @param placeOf the line of the document where a changed line stands; undefined when it is gone */
function statesOf(
  lines: readonly CoveredLine[],
  placeOf: (line: number) => number | undefined,
): ReadonlyMap<LineState, readonly number[]> {
  const states = new Map<LineState, number[]>(lineStates.map((state) => [state, []]));
  for (const line of lines) {
    const place = placeOf(line.line);
    if (place !== undefined) states.get(line.state)?.push(place);
  }
  return states;
}

/** The document is R, as the golden patch has it: each line stands where its number says. */
export function marksOfR(removed: readonly CoveredLine[]): CoverageMarks {
  return { states: statesOf(removed, (line) => line), notes: [] };
}

/**
 * The document is R∘X*. What was removed is told in the line above, where a diff shows it when it has
 * no room for two sides: there, R has no gutter.
 */
export function marksOfFixed(
  added: readonly CoveredLine[],
  removed: readonly CoveredLine[],
  blocks: readonly ChangeBlock[],
): CoverageMarks {
  return {
    states: statesOf(added, (line) => line),
    notes: notesOf(removed, blocks, 'removed', ({ newBefore }) => Math.max(newBefore, 1)),
  };
}

/**
 * The document is a file of R in the workspace, where it may have been edited. What the golden patch adds
 * is told at the end of what it replaces.
 *
 * @param placeOf where a line of R stands now; undefined when it is gone
 */
export function marksOfWorkspace(
  removed: readonly CoveredLine[],
  added: readonly CoveredLine[],
  blocks: readonly ChangeBlock[],
  placeOf: (line: number) => number | undefined,
): CoverageMarks {
  return {
    states: statesOf(removed, placeOf),
    notes: notesOf(added, blocks, 'added', ({ oldBefore, removed: replaced }) => {
      for (let line = oldBefore + replaced.length; line > 0; line--) {
        const place = placeOf(line);
        if (place !== undefined) return place;
      }
      return 1;
    }),
  };
}

function notesOf(
  lines: readonly CoveredLine[],
  blocks: readonly ChangeBlock[],
  change: ChangeKind,
  placeOf: (block: ChangeBlock) => number,
): Note[] {
  const byNumber = new Map(lines.map((line) => [line.line, line]));
  const notes = new Map<number, CoveredLine[]>();
  for (const block of blocks) {
    const told = block[change].flatMap((line) => byNumber.get(line) ?? []);
    // Where nothing could run there is nothing to look for.
    if (told.every((line) => line.state === 'not executable')) continue;
    const place = placeOf(block);
    notes.set(place, [...(notes.get(place) ?? []), ...told]);
  }
  return [...notes].map(([line, told]) => ({ line, lines: told }));
}

/** Lines of one state, as first and last of those that follow each other. */
export interface LinesOfState {
  readonly state: LineState;
  readonly runs: readonly (readonly [from: number, to: number])[];
}

/** What a short text leaves out at its end is what matters least. */
const byWeight: readonly LineState[] = ['missed', 'newly covered', 'already covered'];

/** The states of lines in few words; without those that are not executable. */
export function linesByState(lines: readonly CoveredLine[]): LinesOfState[] {
  return byWeight.flatMap((state) => {
    const runs: [number, number][] = [];
    for (const { line } of lines.filter((each) => each.state === state)) {
      const last = runs.at(-1);
      if (last !== undefined && last[1] + 1 === line) last[1] = line;
      else runs.push([line, line]);
    }
    return runs.length === 0 ? [] : [{ state, runs }];
  });
}
