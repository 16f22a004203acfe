import type { Reporter } from '../../domain/work';
import { planText, progressText } from '../../batch/progressText';
import type { BatchHooks, BatchProgress } from '../../batch/runBatch';
import type { CommandContext } from '../context';

/** The hooks that show a batch to the user. */
type ProgressHooks = Required<Pick<BatchHooks, 'onPlan'>> & {
  readonly onProgress: (
    progress: Pick<BatchProgress, 'done' | 'total' | 'paused' | 'perHour' | 'secondsLeft'>,
  ) => void;
  readonly reporter: Reporter;
};

/**
 * Seconds between lines of progress where stderr is a file, so that the log of a night stays short.
 */
const quietSeconds = 60;

/** Progress on the terminal: how far the batch is, followed by the current work. */
export function batchProgressHooks(
  context: CommandContext,
  reporter: Reporter,
  means: string,
): ProgressHooks {
  let far = '';
  let step = '';
  let told = performance.now();
  const show = (): void => reporter.progress([far, step].filter((each) => each !== '').join(' | '));
  return {
    reporter: {
      log: (line) => reporter.log(line),
      progress: (next) => {
        step = next;
        show();
      },
    },
    onPlan: (counts) => reporter.log(planText(counts, means)),
    onProgress: (progress) => {
      far = progressText(progress);
      show();
      if (!context.interactive && performance.now() - told > quietSeconds * 1000) {
        told = performance.now();
        reporter.log(far);
      }
    },
  };
}
