import {
  lineStates,
  type CoveredLine,
  type ChangeKind,
  type LineState,
} from '../../domain/changeCoverage';
import type { ChangeBlock } from '../../patch/changedLines';

/** A note beside a line, about changed lines of the other side. */
export interface Note {
  /** 1-based. */
  readonly line: number;
  readonly lines: readonly CoveredLine[];
}

/** What is drawn in one document. */
export interface CoverageMarks {
  /** 1-based lines of the document, by the state of the changed line there. */
  readonly states: ReadonlyMap<LineState, readonly number[]>;
  readonly notes: readonly Note[];
}

/** @param placeOf maps a changed line to its line in the document; undefined when it is gone */
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

/** Marks of R as in the golden patch: each line is at its own number. */
export function marksOfR(removed: readonly CoveredLine[]): CoverageMarks {
  return { states: statesOf(removed, (line) => line), notes: [] };
}

/**
 * Marks of R∘X*. The note about removed lines is at the line above. A diff shows it there when it
 * has no room for two sides and so no gutter of R.
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
 * Marks of a file of R in the workspace, which may be edited. The note about added lines is at the
 * end of the lines that they replace.
 *
 * @param placeOf maps a line of R to its line in the document; undefined when it is gone
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
    // Lines that no test can run need no note.
    if (told.every((line) => line.state === 'not executable')) continue;
    const place = placeOf(block);
    notes.set(place, [...(notes.get(place) ?? []), ...told]);
  }
  return [...notes].map(([line, told]) => ({ line, lines: told }));
}

/** Consecutive lines of one state, as first and last line. */
interface LinesOfState {
  readonly state: LineState;
  readonly runs: readonly (readonly [from: number, to: number])[];
}

const places: Readonly<Record<LineState, number>> = {
  missed: 0,
  'newly covered': 1,
  'already covered': 2,
  'not executable': 3,
};

/** What is still to do comes first: a view begins with it, and a short text drops its end. */
export const statesByWeight: readonly LineState[] = [...lineStates].sort(
  (one, other) => places[one] - places[other],
);

/** The states of lines in few words, without those that are not executable. */
export function linesByState(lines: readonly CoveredLine[]): LinesOfState[] {
  return statesByWeight.flatMap((state) => {
    if (state === 'not executable') return [];
    const runs: [number, number][] = [];
    for (const { line } of lines.filter((each) => each.state === state)) {
      const last = runs.at(-1);
      if (last !== undefined && last[1] + 1 === line) last[1] = line;
      else runs.push([line, line]);
    }
    return runs.length === 0 ? [] : [{ state, runs }];
  });
}
