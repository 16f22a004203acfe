import type { RunRecord } from '../../engine/engine';
import type { FileLine } from './candidateLines';

/** Python files to the numbers of lines in them, in ascending order. */
type LinesByFile = ReadonlyMap<string, readonly number[]>;

/**
 * Lines grouped by file, both sorted. Only Python files are included, since no other lines are
 * counted.
 */
export function linesByFile(lines: readonly FileLine[]): LinesByFile {
  const files = new Map<string, Set<number>>();
  for (const { path, line } of lines) {
    if (!path.endsWith('.py')) continue;
    files.set(path, (files.get(path) ?? new Set()).add(line));
  }
  return new Map(
    [...files]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([path, numbers]) => [path, [...numbers].sort((one, other) => one - other)]),
  );
}

/**
 * A run with the counts of its own side's lines only. Each run counts the lines of both sides:
 * tests can read which lines are counted, and could otherwise tell their side.
 */
export function ofOwnLines(record: RunRecord, lines: LinesByFile): RunRecord {
  const { trace } = record;
  return {
    ...record,
    trace: {
      ...trace,
      counts: trace.counts.filter(({ path, line }) => lines.get(path)?.includes(line) === true),
      files: trace.files.filter(({ path }) => lines.has(path)),
      elsewhere: trace.elsewhere.filter(({ path }) => lines.has(path)),
    },
  };
}
