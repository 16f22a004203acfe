import { messageOf, type Reporter } from '../domain/work';
import type { Engine } from '../engine/engine';
import { NodeSecondsJournal } from './nodeSeconds';

/**
 * Does work with an engine. Records meanwhile how long sandboxes ran on each node of a cluster,
 * since nodes are paid by time, for `report`. Says it in the end.
 *
 * @param path of the record; undefined where no results are kept
 */
export async function keepingNodeSeconds<T>(
  engine: Pick<Engine, 'nodeSeconds'>,
  path: string | undefined,
  { work, reporter }: { readonly work: () => Promise<T>; readonly reporter: Pick<Reporter, 'log'> },
): Promise<T> {
  const nodeSeconds = (): Readonly<Record<string, number>> => engine.nodeSeconds?.() ?? {};
  const journal = path === undefined ? undefined : new NodeSecondsJournal(path, nodeSeconds);
  try {
    return await work();
  } finally {
    for (const [node, seconds] of Object.entries(nodeSeconds())) {
      reporter.log(`node ${node}: ${Math.round(seconds)} seconds of sandboxes`);
    }
    await journal?.end().catch((error: unknown) => {
      // What the work came to is kept nevertheless.
      reporter.log(`the seconds of the nodes could not be kept: ${messageOf(error)}`);
    });
  }
}
