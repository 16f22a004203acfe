import type { Side } from '../../domain/outcome';
import { sandboxesOf, type Pair, type Sandbox } from '../engine';
import { idleTimer } from '../idleTimer';
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
    void end(`it was stopped after ${idleMinutes} minutes without a run`);
  });
  const watched = (box: ContainerSandbox): Sandbox => ({
    side: box.side,
    load: (patch, signal) => idle.during(() => box.load(patch, signal)),
    run: (request) => idle.during(() => box.run(request)),
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
