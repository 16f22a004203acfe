import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from '../../domain/outcome';
import type { RecordKey, Seal } from './recordKey';
import { parseRecord, splitLine } from './records';

/** Milliseconds between two checks. */
const pause = 100;

const limits = {
  /** Number of journals that are followed. */
  files: 100,
  /** Bytes of one journal that are read at once. */
  bytes: 1024 * 1024,
};

/**
 * Reports outcomes during a run, as soon as its journals have them. These are for display only: a
 * later phase of a test may still make its outcome worse, and those of `readTrace` are final.
 *
 * @param folder of the trace
 * @param key of the run, where it has one; then outcomes without a seal are not reported
 * @returns a function that stops it; no outcome is reported afterwards
 */
export function followTrace(
  folder: string,
  onOutcome: (test: string, outcome: Outcome) => void,
  key?: RecordKey,
): () => void {
  const followed = new Map<string, { at: number; rest: Buffer; seal: Seal | undefined }>();
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const readOn = async (name: string): Promise<void> => {
    const journal = followed.get(name) ?? { at: 0, rest: Buffer.alloc(0), seal: undefined };
    followed.set(name, journal);
    const text = Buffer.concat([journal.rest, await readFrom(join(folder, name), journal.at)]);
    journal.at += text.length - journal.rest.length;
    const end = text.lastIndexOf(0x0a) + 1;
    // A line without an end, however long, is not one of our records.
    journal.rest = text.length - end > limits.bytes ? Buffer.alloc(0) : text.subarray(end);
    for (const line of text.subarray(0, end).toString('utf8').split('\n')) {
      // The first record of a journal names the key that seals it.
      const isFirst = key !== undefined && journal.seal === undefined;
      if (!isFirst && !line.includes('"outcome"')) continue;
      const { text, seal } = splitLine(line);
      const record = parseRecord(text);
      if (isFirst) {
        const isProcess = typeof record !== 'string' && record.kind === 'process';
        journal.seal = key.sealOf(isProcess ? record.relay : undefined);
      }
      if (isOver || typeof record === 'string' || record.kind !== 'outcome') continue;
      if (journal.seal !== undefined) {
        const stem = name.slice(0, -'.jsonl'.length);
        if (seal === undefined || !journal.seal(stem, seal.number, text, seal.digits)) continue;
      }
      onOutcome(record.test, record.outcome);
    }
  };
  const look = async (): Promise<void> => {
    const names = await readdir(folder).catch(() => []);
    const journals = names.filter((name) => name.endsWith('.jsonl'));
    for (const name of journals.slice(0, limits.files)) {
      if (!isOver) await readOn(name).catch(() => undefined);
    }
    if (!isOver) timer = setTimeout(() => void look(), pause);
  };
  timer = setTimeout(() => void look(), pause);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/**
 * The content of a regular file after an offset. The code under test may replace the file by
 * anything else.
 */
async function readFrom(path: string, at: number): Promise<Buffer> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
  const file = await open(path, flags);
  try {
    const info = await file.stat();
    if (!info.isFile()) return Buffer.alloc(0);
    const content = Buffer.alloc(Math.max(0, Math.min(info.size - at, limits.bytes)));
    const { bytesRead } = await file.read(content, 0, content.length, at);
    return content.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}
