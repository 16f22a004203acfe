import { createHash, randomBytes, timingSafeEqual, type Hash } from 'node:crypto';

/** The key of one run, with which its processes seal their records; see ../tracer/swt_seal.py. */
export interface RecordKey {
  /** Content of the key file, which the engine writes and the first process takes. */
  readonly content: Buffer;
  /**
   * Returns the check for seals made with the key itself, or with the derived key of this number.
   */
  sealOf(relay: number | undefined): Seal;
}

/** Whether a seal is correct for a record: for its journal, its number there, and its text. */
export type Seal = (journal: string, number: number, text: string, seal: string) => boolean;

/**
 * Makes a key.
 *
 * @param content 32 bytes; random by default
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

/** SHA-256, after a block of the key padded with zeros and a block of zeros. */
const keyed = (key: Buffer): Hash =>
  createHash('sha256').update(Buffer.concat([key, Buffer.alloc(128 - key.length)]));

function sealWith(hash: Hash): Seal {
  return (journal, number, text, seal) => {
    const made = hash.copy().update(`${journal} ${number} ${text}`).digest().subarray(0, 16);
    const given = Buffer.from(seal, 'hex');
    return given.length === made.length && timingSafeEqual(given, made);
  };
}
