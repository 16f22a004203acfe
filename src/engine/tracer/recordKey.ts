import { createHash, randomBytes, timingSafeEqual, type Hash } from 'node:crypto';

/** The key of one run, with which its processes seal their records; see ../tracer/swt_seal.py. */
export interface RecordKey {
  /** What the engine puts into the file that the first process takes. */
  readonly content: Buffer;
  /** The key of the process that runs nothing of the repository, or one derived from it. */
  sealOf(relay: number | undefined): Seal;
}

/** Whether a seal is that of a record: of its journal, its number in it, and its text. */
export type Seal = (journal: string, number: number, text: string, seal: string) => boolean;

/**
 * A key.
 *
 * @param content 32 bytes, by chance unless they are known already
 */
export function newRecordKey(content: Buffer = randomBytes(32)): RecordKey {
  const first = keyed(content);
  const derived = new Map<number | undefined, Seal>([[undefined, sealWith(first)]]);
  return {
    content,
    sealOf(relay) {
      const known = derived.get(relay);
      if (known !== undefined) return known;
      const seal = sealWith(keyed(first.copy().update(`relay ${relay}`).digest()));
      derived.set(relay, seal);
      return seal;
    },
  };
}

/** SHA-256 after a block of key and zeros, and one of zeros. */
const keyed = (key: Buffer): Hash =>
  createHash('sha256').update(Buffer.concat([key, Buffer.alloc(128 - key.length)]));

function sealWith(hash: Hash): Seal {
  return (journal, number, text, seal) => {
    const made = hash.copy().update(`${journal} ${number} ${text}`).digest().subarray(0, 16);
    const given = Buffer.from(seal, 'hex');
    return given.length === made.length && timingSafeEqual(given, made);
  };
}
