import type { Memento } from 'vscode';
import type { Reporter } from '../../domain/work';

const key = 'environment.lastNote';

/**
 * What is being done about the environment of the open instance, and the last outcome.
 * Notifications go away, so a row of the view and the log keep it. The workspace remembers it.
 */
export class EnvironmentNotes {
  private running: { readonly step: string; readonly done: Promise<void> } | undefined;

  /**
   * @param changed called when anything here changes
   * @param language in which times are written, such as `en`
   */
  constructor(
    private readonly memento: Pick<Memento, 'get' | 'update'>,
    private readonly reporter: Reporter,
    private readonly changed: () => void,
    private readonly language: string,
  ) {}

  /** The last result, with its time; undefined before the first. */
  get last(): string | undefined {
    const kept: unknown = this.memento.get(key);
    return typeof kept === 'string' ? kept : undefined;
  }

  /** What is done now; undefined when nothing is under way. */
  get step(): string | undefined {
    return this.running?.step;
  }

  /** Resolves when what is under way has ended, however it ends. */
  async settled(): Promise<void> {
    await this.running?.done;
  }

  /**
   * Does work whose steps views show meanwhile. One at a time: ask `step` first.
   *
   * @throws what the work throws
   */
  async during<T>(title: string, work: (tell: (step: string) => void) => Promise<T>): Promise<T> {
    let release = (): void => {};
    const done = new Promise<void>((resolve) => (release = resolve));
    const tell = (step: string): void => {
      this.running = { step, done };
      this.changed();
    };
    tell(title);
    try {
      return await work(tell);
    } finally {
      this.running = undefined;
      release();
      this.changed();
    }
  }

  /**
   * Keeps a result for the user.
   *
   * @param textAt one sentence, with the time that it is given
   */
  async keep(textAt: (time: string) => string): Promise<void> {
    const style = { dateStyle: 'short', timeStyle: 'short' } as const;
    const text = textAt(new Date().toLocaleString(this.language, style));
    this.reporter.log(text);
    await this.memento.update(key, text);
    this.changed();
  }
}
