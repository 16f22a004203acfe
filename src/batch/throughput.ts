/** The speed of a batch. */
interface Throughput {
  /** Counts a candidate that was evaluated now, not reused. */
  finished(): void;
  pause(): void;
  resume(): void;
  /**
   * Candidates per hour, and seconds until `left` more are done; both absent until one is done. Time in
   * which the batch was paused does not count.
   */
  estimate(left: number): { readonly perHour?: number; readonly secondsLeft?: number };
}

/**
 * Number of recent candidates that the mean covers: the first candidate of an instance takes
 * longer.
 */
const window = 200;

/** @param now milliseconds of a monotonic clock */
export function throughput(now: () => number = () => performance.now()): Throughput {
  let pausedAt: number | undefined;
  let paused = 0;
  const active = (): number => (pausedAt ?? now()) - paused;
  const marks = [active()];
  return {
    finished() {
      marks.push(active());
      if (marks.length > window + 1) marks.shift();
    },
    pause() {
      pausedAt ??= now();
    },
    resume() {
      if (pausedAt === undefined) return;
      paused += now() - pausedAt;
      pausedAt = undefined;
    },
    estimate(left) {
      const [first = 0] = marks;
      const count = marks.length - 1;
      const elapsed = active() - first;
      if (count === 0 || elapsed <= 0) return {};
      return {
        perHour: (count / elapsed) * 3_600_000,
        secondsLeft: Math.ceil((left * elapsed) / count / 1000),
      };
    },
  };
}
