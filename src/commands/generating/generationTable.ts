import { durationText, progressText } from '../../batch/progressText';

/** An instance in the table. */
export interface InstanceProgress {
  readonly instance: string;
  /** The current step, or the outcome of the instance. */
  readonly state: string;
  readonly seconds: number;
  /** Undefined where no price is known. */
  readonly dollars: number | undefined;
}

/** How far a run is. */
export interface GenerationState {
  readonly done: number;
  readonly failed: number;
  readonly total: number;
  /** Instances an hour, and seconds until the rest is done; undefined before the first is done. */
  readonly perHour?: number | undefined;
  readonly secondsLeft?: number | undefined;
  /** Answers in the last minute. */
  readonly perMinute: number;
  /** Tokens and dollars of the whole run; dollars are undefined where no price is known. */
  readonly tokens: number;
  readonly dollars: number | undefined;
  /** What the rest will cost if it costs as much as what is done. */
  readonly dollarsLeft?: number | undefined;
  /** Those under way, the longest first. */
  readonly running: readonly InstanceProgress[];
  /** Those that ended last, the latest first. */
  readonly ended: readonly InstanceProgress[];
}

/** How far a run is, in one line. */
export function generationLine(state: GenerationState): string {
  const { failed, perMinute, tokens, dollars, dollarsLeft } = state;
  const parts = [progressText({ ...state, paused: false } as Parameters<typeof progressText>[0])];
  if (failed > 0) parts.push(`${failed} failed`);
  parts.push(`${state.running.length} running`, `${perMinute} answers per minute`);
  parts.push(dollars === undefined ? `${tokens} tokens so far` : `$${dollars.toFixed(2)} so far`);
  if (dollarsLeft !== undefined && state.done < state.total) {
    parts.push(`about $${dollarsLeft.toFixed(2)} to go`);
  }
  return parts.join(', ');
}

/** The same where stderr is no terminal: with what the longest instance under way is doing. */
export function generationLogLine(state: GenerationState): string {
  const [longest] = state.running;
  if (longest === undefined) return generationLine(state);
  return `${generationLine(state)}; ${longest.instance}, ${durationText(longest.seconds)}: ${longest.state}`;
}

/**
 * The lines of the live table: how far the run is, the instances under way, and those that ended
 * last.
 *
 * @param columns width of the terminal in characters
 * @param rows lines that there is room for
 */
export function generationTable(
  state: GenerationState,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): string[] {
  const room = Math.max(1, rows - 2);
  const running = state.running.slice(0, room);
  const ended = state.ended.slice(0, room - running.length);
  const shown = [...running, ...ended];
  const hidden = state.running.length - running.length;
  // A longer id would push the figures out of the window.
  const width = Math.min(60, Math.max(8, ...shown.map(({ instance }) => instance.length)));
  const lines = shown.map(({ instance, state: what, seconds, dollars }) =>
    [
      cut(instance, width + 1).padEnd(width),
      durationText(Math.max(0, seconds)).padStart(10),
      (dollars === undefined ? '' : `$${dollars.toFixed(4)}`).padStart(10),
      what,
    ].join('  '),
  );
  const more = hidden > 0 ? [`… and ${hidden} more`] : [];
  return [generationLine(state), ...lines, ...more].map((line) => cut(line, columns));
}

/** A line that does not wrap: a wrapped one would be erased in part. */
const cut = (line: string, columns: number): string =>
  line.length < columns ? line : `${line.slice(0, Math.max(0, columns - 2))}…`;
