import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';

/** A file of an index. */
interface IndexEntry {
  /** Path with `/`, in Latin-1: one character for each byte. */
  readonly path: string;
  /** Octal, such as `100644`. */
  readonly mode: string;
  /** Object id of the content. */
  readonly id: string;
}

const headerBytes = 12;
/** Ten numbers of 32 bits: times, device, inode, mode, owner, group, size. */
const statBytes = 40;

/**
 * The index of a repository of ours. It is read and brought up to date here, as git would, because
 * each git process takes longer than the rest of preparing a run.
 * Format: https://git-scm.com/docs/index-format
 */
export class GitIndex {
  readonly entries: readonly IndexEntry[];
  private readonly content: Buffer;
  private readonly places = new Map<string, number>();
  private readonly hash: 'sha1' | 'sha256';
  private readonly idBytes: number;

  /** @throws when it is damaged, or not of version 2, which git writes for our repositories */
  constructor(content: Buffer) {
    this.content = Buffer.from(content);
    const found = (['sha1', 'sha256'] as const).find((hash) => isDigested(content, hash));
    if (found === undefined) throw new Error('the git index is damaged');
    this.hash = found;
    this.idBytes = idBytesOf(found);
    if (content.toString('latin1', 0, 4) !== 'DIRC' || content.readUInt32BE(4) !== 2) {
      throw new Error('the git index is not in format version 2');
    }
    this.entries = this.readEntries();
  }

  /**
   * Records the present state of a file, so that git finds it unchanged. The caller ensures that it
   * has the content of the entry.
   */
  stamp(path: string, info: BigIntStats): void {
    const at = this.places.get(path);
    if (at === undefined) return;
    const second = 1_000_000_000n;
    const mode = BigInt(this.content.readUInt32BE(at + 24));
    const { ctimeNs, mtimeNs, dev, ino, uid, gid, size } = info;
    const times = [ctimeNs / second, ctimeNs % second, mtimeNs / second, mtimeNs % second];
    for (const [nth, value] of [...times, dev, ino, mode, uid, gid, size].entries()) {
      this.content.writeUInt32BE(Number(BigInt.asUintN(32, value)), at + 4 * nth);
    }
  }

  /** The index as a file, with its digest at the end. */
  bytes(): Buffer {
    const body = this.content.subarray(0, -this.idBytes);
    return Buffer.concat([body, digestOf(body, this.hash)]);
  }

  private readEntries(): IndexEntry[] {
    const { content, idBytes, places } = this;
    const entries: IndexEntry[] = [];
    let at = headerBytes;
    for (let left = content.readUInt32BE(8); left > 0; left -= 1) {
      const id = at + statBytes;
      const name = id + idBytes + 2;
      const end = content.indexOf(0, name);
      const path = content.toString('latin1', name, end);
      entries.push({
        path,
        mode: content.readUInt32BE(at + 24).toString(8),
        id: content.toString('hex', id, id + idBytes),
      });
      places.set(path, at);
      // One to eight zeros end an entry.
      at += (end - at + 8) & ~7;
    }
    return entries;
  }
}

const idBytesOf = (hash: 'sha1' | 'sha256'): number => (hash === 'sha1' ? 20 : 32);

const digestOf = (body: Buffer, hash: 'sha1' | 'sha256'): Buffer =>
  createHash(hash).update(body).digest();

function isDigested(content: Buffer, hash: 'sha1' | 'sha256'): boolean {
  const end = content.length - idBytesOf(hash);
  if (end < headerBytes) return false;
  return digestOf(content.subarray(0, end), hash).equals(content.subarray(end));
}
