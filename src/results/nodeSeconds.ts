import { systemCode, messageOf, type Reporter } from '../domain/work';
import type { Engine } from '../engine/engine';
import { type LineJournal, openLineJournal, wholeLines } from '../files/lineJournal';
import { readPlainText } from '../files/plainFile';
import { writeWholeFile } from '../files/wholeFile';
import type { MadeOnNodes, NodeSeconds } from '../study/entry';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';

/** What one command used so far. */
const usedLine = z.object({
  /** ISO 8601. */
  ended: z.string(),
  /** Says which lines are of one command, of which the last one counts. */
  command: z.string(),
  nodes: z.record(z.string(), z.number().nonnegative()),
});

/** Path of the record of making a predictions file, beside it. */
export const nodesOfPredictions = (file: string): string => `${file}.nodes.jsonl`;

/** Path of the record of a run, whose folder this is. */
export const nodesOfRun = (folder: string): string => join(folder, 'nodes.jsonl');

/** Milliseconds between two records; a killed command loses what its sandboxes used since. */
const defaultInterval = 10_000;

/**
 * Records what the sandboxes of one command use, until `end`.
 *
 * @param path of the record; nothing is written until its folder exists
 * @param nodeSeconds what they used so far
 */
export class NodeSecondsJournal {
  private readonly command = randomBytes(8).toString('hex');
  private readonly timer: NodeJS.Timeout;
  private journal: LineJournal | undefined;
  private last = '{}';
  private writing: Promise<void> = Promise.resolve();
  private isWriting = false;

  constructor(
    private readonly path: string,
    private readonly nodeSeconds: () => NodeSeconds,
    interval = defaultInterval,
  ) {
    // A disk that is full now may have room later, and the end says what is wrong.
    this.timer = setInterval(() => {
      if (!this.isWriting) void this.write().catch(() => undefined);
    }, interval);
    this.timer.unref();
  }

  /**
   * Records what was used in the end.
   *
   * @throws what the system says
   */
  async end(): Promise<void> {
    clearInterval(this.timer);
    try {
      await this.write();
    } finally {
      await this.journal?.close();
    }
  }

  private write(): Promise<void> {
    this.isWriting = true;
    const turn = this.writing.then(() => this.writeNow()).finally(() => (this.isWriting = false));
    this.writing = turn.catch(() => undefined);
    return turn;
  }

  private async writeNow(): Promise<void> {
    const nodes = JSON.stringify(this.nodeSeconds());
    if (nodes === this.last) return;
    this.journal ??= await openLineJournal(this.path);
    const line = { ended: new Date().toISOString(), command: this.command };
    await this.journal.append(JSON.stringify({ ...line, nodes: JSON.parse(nodes) as unknown }));
    this.last = nodes;
  }
}

/**
 * What all commands used together that recorded it in a file; undefined where none used nodes.
 * Damaged lines are left out.
 *
 * @throws what the system says
 */
export async function readNodeSeconds(path: string): Promise<NodeSeconds | undefined> {
  const commands = new Map<string, NodeSeconds>();
  for (const line of await linesIn(path)) {
    const used = usedOf(line);
    if (used !== undefined) commands.set(used.command, used.nodes);
  }
  const all: Record<string, number> = {};
  for (const nodes of commands.values()) {
    for (const [node, seconds] of Object.entries(nodes)) all[node] = (all[node] ?? 0) + seconds;
  }
  return Object.keys(all).length === 0 ? undefined : all;
}

/**
 * What the making of predictions used of nodes, as far as records are beside their files. A run of
 * another machine may name anything, so a record that cannot be read is none.
 *
 * @param predictions files as they were named for a run
 */
export async function readMadeOnNodes(
  predictions: readonly { readonly from: string }[],
): Promise<{ made?: readonly MadeOnNodes[] }> {
  const made: MadeOnNodes[] = [];
  for (const { from } of predictions) {
    const seconds = await readNodeSeconds(nodesOfPredictions(from)).catch(() => undefined);
    if (seconds !== undefined) made.push({ from, seconds });
  }
  return made.length === 0 ? {} : { made };
}

/**
 * Puts the records of shards together. A shard that is given twice counts once.
 *
 * @throws what the system says
 */
export async function mergeNodeSeconds(shards: readonly string[], path: string): Promise<void> {
  // The lines of one command stay in their order.
  const lines = new Set((await Promise.all([path, ...shards].map(linesIn))).flat());
  if (lines.size === 0) return;
  await writeWholeFile(path, [...lines].map((line) => `${line}\n`).join(''));
}

async function linesIn(path: string): Promise<string[]> {
  try {
    const text = await readPlainText(path);
    return wholeLines(text).map(({ line }) => line);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Undefined for a damaged line. */
function usedOf(line: string): z.infer<typeof usedLine> | undefined {
  try {
    return usedLine.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

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
      reporter.log(`node ${node}: ${Math.round(seconds)} sandbox seconds`);
    }
    await journal?.end().catch((error: unknown) => {
      // What the work came to is kept nevertheless.
      reporter.log(`could not save the sandbox seconds of the nodes: ${messageOf(error)}`);
    });
  }
}
