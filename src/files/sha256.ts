import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/**
 * The SHA-256 digest as 64 hexadecimal digits.
 *
 * @param parts digested as one sequence of bytes; text as UTF-8
 */
export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/**
 * The {@link sha256} of a value as JSON. Values with different JSON have different digests, also
 * when only the order of keys differs.
 */
export const sha256OfJson = (value: unknown): string => sha256(JSON.stringify(value));

/**
 * The {@link sha256} of a file, which is never in memory as a whole.
 *
 * @throws what the system says, such as ENOENT
 */
export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}
