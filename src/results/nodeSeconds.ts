import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { openLineJournal, wholeLines } from '../files/lineJournal';
import { writeWholeFile } from '../files/wholeFile';
import { systemCode } from '../domain/humanError';

/** Seconds that sandboxes ran, by node. */
export type NodeSeconds = Readonly<Record<string, number>>;

/** What one command used; the time makes lines of two commands differ. */
const usedLine = z.object({
  /** ISO 8601. */
  ended: z.string(),
  nodes: z.record(z.string(), z.number().nonnegative()),
});

const usedPath = (folder: string): string => join(folder, 'nodes.jsonl');

/**
 * Records what the sandboxes of one command used, beside the journal of its run.
 *
 * @param folder of the run, `DIR/runs/<run>`
 * @throws what the system says
 */
export async function addNodeSeconds(folder: string, nodes: NodeSeconds): Promise<void> {
  if (Object.keys(nodes).length === 0) return;
  const journal = await openLineJournal(usedPath(folder));
  try {
    await journal.append(JSON.stringify({ ended: new Date().toISOString(), nodes }));
  } finally {
    await journal.close();
  }
}

/**
 * What all commands of a run used together; undefined where none used nodes. Damaged lines are left
 * out.
 *
 * @throws what the system says
 */
export async function readNodeSeconds(folder: string): Promise<NodeSeconds | undefined> {
  const all: Record<string, number> = {};
  for (const line of await linesIn(folder)) {
    for (const [node, seconds] of Object.entries(usedOf(line))) {
      all[node] = (all[node] ?? 0) + seconds;
    }
  }
  return Object.keys(all).length === 0 ? undefined : all;
}

/**
 * Puts together what shards used. A shard that is given twice counts once.
 *
 * @throws what the system says
 */
export async function mergeNodeSeconds(shards: readonly string[], folder: string): Promise<void> {
  const lines = new Set((await Promise.all([folder, ...shards].map(linesIn))).flat());
  if (lines.size === 0) return;
  await writeWholeFile(usedPath(folder), [...lines].map((line) => `${line}\n`).join(''));
}

async function linesIn(folder: string): Promise<string[]> {
  try {
    const text = await readFile(usedPath(folder), 'utf8');
    return wholeLines(text).map(({ line }) => line);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function usedOf(line: string): NodeSeconds {
  try {
    return usedLine.parse(JSON.parse(line)).nodes;
  } catch {
    return {};
  }
}
