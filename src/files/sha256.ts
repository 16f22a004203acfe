import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/**
 * The SHA-256 digest in hexadecimal digits, 64 of them.
 *
 * @param parts digested as if they were one; text as UTF-8
 */
export function sha256(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}

/** The {@link sha256} of a value as JSON: two values differ when their JSON does, the order of keys included. */
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
