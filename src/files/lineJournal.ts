import { open, truncate, type FileHandle } from 'node:fs/promises';

/** A file of lines that only grows. A line is whole on the disk, or not there. */
export interface LineJournal {
  /**
   * Adds a line, after those that were added before. Resolves when it is on the disk.
   *
   * @param line without its end
   * @throws what the system says, such as ENOSPC; a line that could not be written whole is taken back
   */
  append(line: string): Promise<void>;
  /** Waits for what is being added. */
  close(): Promise<void>;
}

/**
 * Opens a journal for more lines, and makes it where it is missing. The torn last line of a killed process
 * is cut off. Nobody else may write to it meanwhile.
 *
 * @throws what the system says, such as EACCES; the folder has to be there
 */
export async function openLineJournal(path: string): Promise<LineJournal> {
  // Not for appending only: the end is read.
  const file = await open(path, 'a+');
  try {
    const { size } = await file.stat();
    const end = await endOfWholeLines(file, size);
    if (end < size) await file.truncate(end);
  } catch (error) {
    await file.close();
    throw error;
  }
  const write = async (line: string): Promise<void> => {
    const { size } = await file.stat();
    try {
      await file.appendFile(`${line}\n`);
      await file.sync();
    } catch (error) {
      await truncate(path, size).catch(() => undefined);
      throw error;
    }
  };
  let queue: Promise<unknown> = Promise.resolve();
  return {
    append(line) {
      const turn = queue.then(() => write(line));
      queue = turn.catch(() => undefined);
      return turn;
    },
    async close() {
      await queue;
      await file.close();
    },
  };
}

/**
 * The lines of a journal that was read, with their numbers from 1. A last line without an end is torn, and
 * left out; so are blank ones.
 */
export function wholeLines(text: string): { readonly number: number; readonly line: string }[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .map((line, index) => ({ number: index + 1, line }))
    .filter(({ line }) => line.trim() !== '');
}

/** Bytes that are read at once, from the end on. */
const blockSize = 64 * 1024;

/** Bytes up to the last line end, and with it. */
async function endOfWholeLines(file: FileHandle, size: number): Promise<number> {
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - blockSize);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    const at = buffer.subarray(0, bytesRead).lastIndexOf(0x0a);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}
