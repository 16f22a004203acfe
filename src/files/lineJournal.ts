import { open, truncate, type FileHandle } from 'node:fs/promises';

/** A file of lines that only grows. Each line is on the disk completely or not at all. */
export interface LineJournal {
  /**
   * Adds a line after all earlier ones. Resolves when it is on the disk.
   *
   * @param line without its end
   * @throws what the system says, such as ENOSPC; an incomplete line is removed
   */
  append(line: string): Promise<void>;
  /** Waits for pending lines, and closes the file. */
  close(): Promise<void>;
}

/**
 * Opens a journal for more lines, and creates it if it is missing. The torn last line of a killed
 * process is cut off. No other process may write to it meanwhile.
 *
 * @throws what the system says, such as EACCES; the folder has to exist
 */
export async function openLineJournal(path: string): Promise<LineJournal> {
  // Opened for reading too, because the end is read.
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
 * The lines of a journal's text, with their numbers from 1. Blank lines are left out, and so is a
 * last line without an end, which is torn.
 */
export function wholeLines(text: string): { readonly number: number; readonly line: string }[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .map((line, index) => ({ number: index + 1, line }))
    .filter(({ line }) => line.trim() !== '');
}

/** Bytes that are read at once, from the end backwards. */
const blockSize = 64 * 1024;

/** Number of bytes up to and including the last line end. */
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
