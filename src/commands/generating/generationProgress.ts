import { throughput } from '../../batch/throughput';
import type { Reporter } from '../../domain/work';
import type { GenerationEntry } from '../../method/generation';
import type { GenerationHooks } from '../../method/generating';
import type { Budget, Spent } from '../../method/models';
import type { CommandContext } from '../context';
import {
  generationLogLine,
  generationTable,
  type GenerationState,
  type InstanceProgress,
} from './generationTable';

/** Seconds between lines of progress where stderr is no terminal, as in the other batches. */
const quietSeconds = 60;
/** Ended instances that the table can show. */
const mostEnded = 5;

interface Running {
  readonly since: number;
  readonly spent: () => Spent;
  step: string;
}

/**
 * Shows a run of `generate`: a live table on a terminal, else a line now and then. Dispose of it at
 * the end of the run.
 */
export class GenerationProgress {
  private readonly lines: LiveLines;
  private readonly speed = throughput();
  private readonly timer: NodeJS.Timeout;
  private readonly running = new Map<string, Running>();
  private ended: InstanceProgress[] = [];
  private answers: number[] = [];
  private done = 0;
  private failed = 0;
  private paid = 0;
  private told = performance.now();

  /** @param parts.isPriced whether dollars are known */
  constructor(
    private readonly context: Pick<CommandContext, 'stderr' | 'interactive'>,
    private readonly parts: {
      readonly total: number;
      readonly budget: Pick<Budget, 'spent'>;
      readonly isPriced: boolean;
    },
  ) {
    this.lines = new LiveLines(context);
    this.timer = setInterval(() => this.show(), 500);
    this.timer.unref();
  }

  readonly reporter: Reporter = {
    log: (line) => this.lines.log(line),
    // Steps come with their instance, through `hooks`.
    progress: () => undefined,
  };

  readonly hooks: GenerationHooks = {
    onBegin: (instance, spent) => {
      this.running.set(instance, { since: performance.now(), spent, step: 'waiting' });
    },
    onStep: (instance, step) => {
      const running = this.running.get(instance);
      if (running !== undefined) running.step = step;
    },
    onAnswered: () => {
      this.answers.push(performance.now());
    },
  };

  /** Notes the outcome of an instance. */
  add(entry: GenerationEntry): void {
    const { instance } = entry;
    const running = this.running.get(instance);
    this.running.delete(instance);
    this.speed.finished();
    const isFailed = 'failure' in entry;
    if (isFailed) this.failed += 1;
    else {
      this.done += 1;
      this.paid += entry.cost.dollars ?? 0;
    }
    const state = isFailed ? `failed: ${entry.failure}` : entry.choice.why;
    const ended =
      running === undefined ? { instance, seconds: 0 } : this.stateOf(instance, running);
    const dollars = isFailed || !this.parts.isPriced ? undefined : entry.cost.dollars;
    this.ended = [{ ...ended, state, dollars }, ...this.ended].slice(0, mostEnded);
  }

  /** Removes the table, and ends the updates. */
  dispose(): void {
    clearInterval(this.timer);
    this.lines.draw([]);
  }

  private show(): void {
    const state = this.state();
    if (this.context.interactive) {
      // oxlint-disable-next-line no-restricted-properties -- its size, nothing is printed
      const { columns = 100, rows = 24 } = process.stderr;
      this.lines.draw(generationTable(state, { columns, rows: rows - 2 }));
    } else if (performance.now() - this.told > quietSeconds * 1000) {
      this.told = performance.now();
      this.lines.log(generationLogLine(state));
    }
  }

  private state(): GenerationState {
    const { total, budget, isPriced } = this.parts;
    const now = performance.now();
    this.answers = this.answers.filter((at) => now - at < 60_000);
    const left = total - this.done - this.failed;
    const running = [...this.running].map(([instance, each]) => this.stateOf(instance, each));
    return {
      ...{ done: this.done, failed: this.failed, total },
      ...this.speed.estimate(left),
      perMinute: this.answers.length,
      tokens: budget.spent.tokens,
      dollars: isPriced ? budget.spent.dollars : undefined,
      ...(isPriced && this.done > 0 && { dollarsLeft: (this.paid / this.done) * left }),
      running: running.sort((one, other) => other.seconds - one.seconds),
      ended: this.ended,
    };
  }

  private stateOf(instance: string, { since, spent, step }: Running): InstanceProgress {
    return {
      instance,
      state: step,
      seconds: (performance.now() - since) / 1000,
      dollars: this.parts.isPriced ? spent().dollars : undefined,
    };
  }
}

/** Lines at the end of a terminal that are drawn again, below a log that scrolls. */
export class LiveLines {
  private drawn: readonly string[] = [];

  constructor(private readonly context: Pick<CommandContext, 'stderr' | 'interactive'>) {}

  /** Writes a line of the log above the drawn ones. */
  log(line: string): void {
    const { drawn } = this;
    this.context.stderr(`${this.erase()}${line}\n`);
    this.write(drawn);
  }

  /** Replaces the drawn lines; does nothing where stderr is not a terminal. */
  draw(lines: readonly string[]): void {
    if (!this.context.interactive) return;
    const erase = this.erase();
    if (erase !== '') this.context.stderr(erase);
    this.write(lines);
  }

  private erase(): string {
    const count = this.drawn.length;
    this.drawn = [];
    // Up to the first of them, and everything from there is cleared (ECMA-48: CUU, ED).
    return count === 0 ? '' : `\u001b[${count}A\r\u001b[0J`;
  }

  private write(lines: readonly string[]): void {
    if (lines.length > 0) this.context.stderr(lines.map((line) => `${line}\n`).join(''));
    this.drawn = lines;
  }
}
