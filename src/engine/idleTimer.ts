/** Calls `stop` after so many minutes without activity; 0 for never. */
export function idleTimer(minutes: number, stop: () => void) {
  let timer: NodeJS.Timeout | undefined;
  let under = 0;
  const start = (): void => {
    clearTimeout(timer);
    if (minutes <= 0 || under > 0) return;
    timer = setTimeout(stop, minutes * 60_000);
    // The timer must not keep a command alive that has nothing else to do.
    timer.unref();
  };
  start();
  return {
    async during<T>(work: () => Promise<T>): Promise<T> {
      under += 1;
      clearTimeout(timer);
      try {
        return await work();
      } finally {
        under -= 1;
        start();
      }
    },
    end: (): void => {
      clearTimeout(timer);
      minutes = 0;
    },
  };
}
