/** A gate that workers pass before each candidate. */
interface PauseGate {
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  /** Resolves when the gate is not paused, or when the signal fires. */
  open(signal: AbortSignal): Promise<void>;
}

export function pauseGate(): PauseGate {
  let held: { readonly until: Promise<void>; readonly release: () => void } | undefined;
  return {
    get paused() {
      return held !== undefined;
    },
    pause() {
      if (held !== undefined) return;
      let release = (): void => undefined;
      const until = new Promise<void>((resolve) => (release = resolve));
      held = { until, release };
    },
    resume() {
      held?.release();
      held = undefined;
    },
    async open(signal) {
      while (held !== undefined && !signal.aborted) {
        const { until } = held;
        await new Promise<void>((resolve) => {
          const done = (): void => {
            signal.removeEventListener('abort', done);
            resolve();
          };
          signal.addEventListener('abort', done);
          void until.then(done);
        });
      }
    },
  };
}
