import { Cancelled } from '../../../domain/work';

/** Hands out memory to runs, so that concurrent runs together never need more than there is. */
export class MemoryGate {
  private free: number;
  private readonly waiting: { readonly bytes: number; readonly enter: () => void }[] = [];

  /** @param total bytes that all runs together may need */
  constructor(private readonly total: number) {
    this.free = total;
  }

  /**
   * Waits in turn until there is memory for a run. A run that needs more than the total runs alone.
   *
   * @returns a function that releases the memory
   * @throws Cancelled
   */
  async admit(bytes: number, signal?: AbortSignal): Promise<() => void> {
    const wanted = Math.min(bytes, this.total);
    if (this.waiting.length > 0 || wanted > this.free) {
      await new Promise<void>((resolve, reject) => {
        const turn = {
          bytes: wanted,
          enter: (): void => {
            signal?.removeEventListener('abort', leave);
            resolve();
          },
        };
        const leave = (): void => {
          this.waiting.splice(this.waiting.indexOf(turn), 1);
          reject(new Cancelled());
          this.next();
        };
        signal?.addEventListener('abort', leave, { once: true });
        this.waiting.push(turn);
      });
    } else this.free -= wanted;
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      this.free += wanted;
      this.next();
    };
  }

  private next(): void {
    for (let first = this.waiting[0]; first !== undefined; first = this.waiting[0]) {
      if (first.bytes > this.free) return;
      this.free -= first.bytes;
      this.waiting.shift();
      first.enter();
    }
  }
}
