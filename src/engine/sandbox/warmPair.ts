import type { Side } from '../../domain/outcome';
import { sandboxesOf, type Pair, type Sandbox } from '../engine';
import type { ContainerSandbox } from './containerSandbox';

/**
 * A pair of sandboxes that stops them after they have been idle for the set time.
 *
 * @param idleMinutes 0 for never
 * @param removeAll removes their containers; called when the pair stops or is disposed of
 * @param onDispose called when the pair is disposed of
 */
export function warmPair(
  boxes: readonly ContainerSandbox[],
  idleMinutes: number,
  removeAll: () => Promise<void>,
  onDispose: (pair: Pair) => void,
): Pair {
  const end = async (why: string): Promise<void> => {
    for (const box of boxes) box.close(why);
    await removeAll();
  };
  const idle = idleTimer(idleMinutes, () => {
    void end(`it was stopped after ${idleMinutes} idle minutes`);
  });
  const watched = (box: ContainerSandbox): Sandbox => ({
    side: box.side,
    load: (patch, signal) => idle.during(() => box.load(patch, signal)),
    run: (request) => idle.during(() => box.run(request)),
    ...(box.isAwaited && { expect: (request) => idle.during(() => box.expect(request)) }),
  });
  const pair: Pair = {
    ...sandboxesOf<Side>(boxes.map(watched)),
    dispose: async () => {
      idle.end();
      onDispose(pair);
      await end('it was removed');
    },
  };
  return pair;
}

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
