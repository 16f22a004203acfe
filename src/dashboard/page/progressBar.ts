import { button, element, show } from './elements';
import { number, seconds } from '../../study/numbers';
import type { Progress } from '../protocol';

type Action = 'pause' | 'resume' | 'cancel';

/** Seconds between two announcements to a screen reader. */
const spokenEvery = 30;

/** The progress of running batches, one line each; empty where none runs. */
export class ProgressBars {
  readonly root = element('section', {
    'aria-label': 'Running batches',
    class: 'batches',
    hidden: '',
  });
  private readonly lines = element('div');
  /** The visible text changes twice a second; a screen reader gets fewer updates. */
  private readonly spoken = element('div', { class: 'spoken', 'aria-live': 'polite' });
  private readonly batches = new Map<string, Progress>();
  private lastSpoken = -Infinity;

  /** @param act sends an action to the host; undefined without a host */
  constructor(private readonly act: ((action: Action, run: string) => void) | undefined) {
    this.root.append(this.lines, this.spoken);
  }

  show(run: string, progress: Progress | undefined): void {
    const before = this.batches.get(run);
    if (progress === undefined) this.batches.delete(run);
    else this.batches.set(run, progress);
    this.root.hidden = this.batches.size === 0 && before === undefined;
    this.draw();
    const ended = progress === undefined && before !== undefined;
    const turned = before?.paused !== progress?.paused;
    const now = performance.now() / 1000;
    if (!ended && !turned && now - this.lastSpoken < spokenEvery) return;
    this.lastSpoken = now;
    this.spoken.textContent = ended
      ? `${run}: batch finished`
      : progress === undefined
        ? ''
        : `${run}: ${inWords(progress)}`;
  }

  /**
   * Redraws the lines but keeps the focus: a batch keeps its buttons while only its numbers change.
   */
  private draw(): void {
    const known = new Map(
      [...this.lines.children].map((line) => [line.getAttribute('data-run') ?? '', line]),
    );
    for (const [run, progress] of this.batches) {
      let line = known.get(run);
      known.delete(run);
      const kind = `${progress.controlled} ${progress.paused} ${progress.interrupted}`;
      if (line === undefined || line.getAttribute('data-kind') !== kind) {
        const made = element(
          'div',
          { class: 'batch', 'data-run': run, 'data-kind': kind },
          element('strong', {}, run),
          element('progress', { 'aria-label': run }),
          element('span', { class: 'batch-words' }),
          ...this.buttons(run, progress),
        );
        const focused = line?.contains(document.activeElement) === true;
        if (line === undefined) this.lines.append(made);
        else line.replaceWith(made);
        if (focused) made.querySelector('button')?.focus();
        line = made;
      }
      const bar = line.querySelector('progress');
      if (bar !== null) {
        bar.max = Math.max(1, progress.total);
        bar.value = progress.done;
      }
      const words = line.querySelector('.batch-words');
      if (words !== null) show(words, inWords(progress));
    }
    for (const line of known.values()) line.remove();
  }

  private buttons(run: string, progress: Progress): HTMLButtonElement[] {
    const { act } = this;
    if (act === undefined || !progress.controlled) return [];
    return [
      progress.paused
        ? button('Resume', () => act('resume', run))
        : button('Pause', () => act('pause', run)),
      button('Cancel', () => act('cancel', run)),
    ];
  }
}

function inWords(progress: Progress): string {
  const { done, total, running, perHour, secondsLeft } = progress;
  return [
    `${number(done)} of ${number(total)}`,
    progress.interrupted
      ? 'interrupted: the process no longer exists'
      : progress.paused
        ? 'paused'
        : '',
    perHour === undefined ? '' : `${number(perHour)} per hour`,
    secondsLeft === undefined || progress.paused ? '' : `${seconds(secondsLeft)} left`,
    running.length === 0 || progress.interrupted
      ? ''
      : `running ${running.slice(0, 3).join(', ')}${running.length > 3 ? ', …' : ''}`,
  ]
    .filter((each) => each !== '')
    .join(' · ');
}
