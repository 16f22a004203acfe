import type { PlanCounts } from './plan';
import type { BatchProgress } from './runBatch';
import { plural } from '../domain/text';

/**
 * The sentence that the user sees before a batch begins.
 *
 * @param means the workers and the engine, such as `2 workers, local engine, CPython 3.11.7`
 */
export function planText(counts: PlanCounts, means: string): string {
  const { candidates, instances, environments, runs } = counts;
  return (
    `${plural(candidates, 'candidate')} on ${plural(instances, 'instance')} in ` +
    `${plural(environments, 'environment')}: at most ${plural(runs, 'run')} ` +
    `(base and golden runs are shared); ${means}`
  );
}

/** `12 of 400 done, 85 per hour, 4 h 33 min left`. */
export function progressText(
  progress: Pick<BatchProgress, 'done' | 'total' | 'paused' | 'perHour' | 'secondsLeft'>,
): string {
  const { done, total, paused, perHour, secondsLeft } = progress;
  const parts = [`${done} of ${total} done`];
  if (paused) parts.push('paused');
  if (perHour !== undefined)
    parts.push(`${perHour < 10 ? perHour.toFixed(1) : Math.round(perHour)} per hour`);
  if (secondsLeft !== undefined && done < total) parts.push(`${durationText(secondsLeft)} left`);
  return parts.join(', ');
}

/** `45 s`, `12 min`, `4 h 33 min`, `2 d 3 h`. */
export function durationText(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
