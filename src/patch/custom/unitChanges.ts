import { diffArrays } from 'diff';
import type { CustomFile } from './customFile';

/** Lines of one text that become lines of another; 0-based, `to` and `newTo` excluded. */
export interface LineChange {
  readonly from: number;
  readonly to: number;
  readonly newFrom: number;
  readonly newTo: number;
}

/** A change at most as long as one function, with other ways to cut the same change. */
interface UnitChange extends LineChange {
  /** Whether the change is one function that both texts have. */
  readonly isFunction: boolean;
  /**
   * The same insertion starting at other lines. Such lines exist if it begins with the lines that
   * follow it.
   */
  readonly slides: readonly LineChange[];
}

/** A line, or all lines of a function or method. */
interface Unit {
  readonly token: string;
  readonly isFunction: boolean;
  readonly from: number;
  readonly to: number;
}

/**
 * The most steps of a diff. Beyond that, everything between the first and the last difference is
 * one change.
 */
const maxEditLength = 1500;

/** The changes between two versions of a Python file. Functions are matched by their names. */
export function unitChanges(before: CustomFile, after: CustomFile): UnitChange[] {
  const [a, b] = [unitsOf(before), unitsOf(after)];
  const changes: UnitChange[] = [];
  let [i, j] = [0, 0];
  const line = (units: readonly Unit[], at: number): number =>
    units[at]?.from ?? units.at(-1)?.to ?? 0;
  const differ = ({ from, to }: Unit, other: Unit): boolean =>
    to - from !== other.to - other.from ||
    before.raw.slice(from, to).some((text, k) => text !== after.raw[other.from + k]);
  /** Compares the units that match each other, up to one of the first version. */
  const compareUntil = (end: number): void => {
    for (; i < end; i += 1, j += 1) {
      const [old, now] = [a[i], b[j]];
      if (old === undefined || now === undefined || !differ(old, now)) continue;
      changes.push({
        ...{ from: old.from, to: old.to, newFrom: now.from, newTo: now.to },
        isFunction: true,
        slides: [],
      });
    }
  };
  for (const run of tokenRuns(
    a.map((unit) => unit.token),
    b.map((unit) => unit.token),
  )) {
    compareUntil(run.from);
    [i, j] = [run.to, run.newTo];
    const cut = (shift: number): LineChange => ({
      from: line(a, run.from + shift),
      to: line(a, run.to + shift),
      newFrom: line(b, run.newFrom + shift),
      newTo: line(b, run.newTo + shift),
    });
    const slides = run.from === run.to ? slidesOf(a, b, run, differ).map(cut) : [];
    changes.push({ ...cut(0), isFunction: false, slides });
  }
  compareUntil(a.length);
  return changes;
}

/** By how many units an insertion can move up or down with the same result, without 0. */
function slidesOf(
  a: readonly Unit[],
  b: readonly Unit[],
  run: LineChange,
  differ: (old: Unit, now: Unit) => boolean,
): number[] {
  const same = (x: Unit | undefined, y: Unit | undefined): boolean =>
    x !== undefined && y !== undefined && x.token === y.token && !x.isFunction && !y.isFunction;
  const found: number[] = [];
  for (let k = 0; k < 4; k += 1) {
    const passed = a[run.from + k];
    if (!same(b[run.newFrom + k], b[run.newTo + k]) || passed === undefined) break;
    if (differ(passed, b[run.newTo + k] ?? passed)) break;
    found.push(k + 1);
  }
  for (let k = 1; k <= 4; k += 1) {
    if (!same(b[run.newFrom - k], b[run.newTo - k]) || run.from - k < 0) break;
    found.push(-k);
  }
  return found;
}

function unitsOf(file: CustomFile): Unit[] {
  const units: Unit[] = [];
  const seen = new Map<string, number>();
  let done = 0;
  const addLines = (to: number): void => {
    for (; done < to; done += 1) {
      units.push({ token: file.raw[done] ?? '', isFunction: false, from: done, to: done + 1 });
    }
  };
  for (const { kind, local, qualifiedName, range } of file.module.definitions) {
    if (kind === 'class' || local || range.startLine - 1 < done) continue;
    addLines(range.startLine - 1);
    const count = seen.get(qualifiedName) ?? 0;
    seen.set(qualifiedName, count + 1);
    // No line of a text contains a line end before its last letter, so the token equals none.
    const token = `\n${qualifiedName}\n${count}`;
    units.push({ token, isFunction: true, from: done, to: range.endLine });
    done = range.endLine;
  }
  addLines(file.raw.length);
  return units;
}

/** The changes between two versions of a text by lines. Neighbouring changes are joined. */
export function lineChanges(before: readonly string[], after: readonly string[]): LineChange[] {
  const joined: LineChange[] = [];
  for (const run of tokenRuns(before, after)) {
    const last = joined.at(-1);
    if (last !== undefined && run.from - last.to <= 2) {
      joined[joined.length - 1] = { ...last, to: run.to, newTo: run.newTo };
    } else joined.push(run);
  }
  return joined;
}

function tokenRuns(a: readonly string[], b: readonly string[]): LineChange[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  const most = Math.min(a.length, b.length) - head;
  while (tail < most && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  const [from, newFrom] = [head, head];
  const [to, newTo] = [a.length - tail, b.length - tail];
  if (from === to && newFrom === newTo) return [];
  if (from === to || newFrom === newTo) return [{ from, to, newFrom, newTo }];
  const found = diffArrays(a.slice(from, to), b.slice(newFrom, newTo), { maxEditLength });
  if (found === undefined) return [{ from, to, newFrom, newTo }];
  const runs: LineChange[] = [];
  let [i, j] = [from, newFrom];
  for (const { added, removed, value } of found) {
    const count = value.length;
    const last = runs.at(-1);
    if (!added && !removed) {
      i += count;
      j += count;
      continue;
    }
    const run = { from: i, to: removed ? i + count : i, newFrom: j, newTo: added ? j + count : j };
    [i, j] = [run.to, run.newTo];
    if (last !== undefined && last.to === run.from && last.newTo === run.newFrom) {
      runs[runs.length - 1] = { ...last, to: run.to, newTo: run.newTo };
    } else runs.push(run);
  }
  return runs;
}
