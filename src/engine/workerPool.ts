import { setMaxListeners } from 'node:events';
import { Cancelled } from '../domain/work';

/**
 * Processes pieces in their order, several at once. When one fails, the others are cancelled: they
 * would only fail for the same reason, such as results that cannot be written.
 *
 * @param workers at least 1; no more are started than there are pieces
 * @param signal cancels the work
 * @param work gets a signal that also fires when another piece has failed
 * @throws what the first piece that failed threw, and Cancelled only where nothing else was
 *   thrown
 */
export async function workerPool<Piece>(
  pieces: readonly Piece[],
  workers: number,
  signal: AbortSignal,
  work: (piece: Piece, stop: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController();
  const stop = AbortSignal.any([signal, failed.signal]);
  // Every worker listens to it, and Node reports more than ten listeners as a leak.
  setMaxListeners(0, stop);
  const left = [...pieces];
  const worker = async (): Promise<void> => {
    for (let piece = left.shift(); piece !== undefined; piece = left.shift()) {
      try {
        await work(piece, stop);
      } catch (error) {
        failed.abort();
        throw error;
      }
    }
  };
  const count = Math.max(1, Math.min(workers, left.length));
  const ends = await Promise.allSettled(Array.from({ length: count }, worker));
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as Error] : []));
  const reason = reasons.find((each) => !(each instanceof Cancelled)) ?? reasons[0];
  if (reason !== undefined) throw reason;
}
