/** Bytes that are kept of each end of a run's output: its beginning and its last part. */
const keep = 2 * 1024 * 1024;

/** Bytes of a run's output that are passed on while it runs. */
export const streamLimit = keep;

/** Bytes of output after which a run is stopped. No real suite prints nearly as much. */
export const outputLimit = 64 * 1024 * 1024;

/** Keeps the beginning and the end of a stream of bytes, in bounded memory. */
export class BoundedOutput {
  bytes = 0;
  private readonly head: Buffer[] = [];
  private headBytes = 0;
  private tail: Buffer[] = [];
  private tailBytes = 0;

  constructor(
    private readonly headLimit = keep,
    private readonly tailLimit = keep,
  ) {}

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    const room = this.headLimit - this.headBytes;
    if (room > 0) {
      const part = chunk.subarray(0, room);
      append(this.head, part);
      this.headBytes += part.length;
      chunk = chunk.subarray(part.length);
    }
    if (chunk.length === 0) return;
    append(this.tail, chunk);
    this.tailBytes += chunk.length;
    while (this.tailBytes - (this.tail[0]?.length ?? 0) >= this.tailLimit) {
      this.tailBytes -= this.tail.shift()?.length ?? 0;
    }
  }

  text(): string {
    // Pieces are dropped whole, so that the last ones may hold more than the limit.
    const tail = Buffer.concat(this.tail);
    const end = tail.subarray(Math.max(0, tail.length - this.tailLimit));
    const left = this.bytes - this.headBytes - end.length;
    const gap = left > 0 ? `\n[... ${left} bytes of output omitted ...]\n` : '';
    return Buffer.concat([...this.head, Buffer.from(gap), end]).toString('utf8');
  }
}

/**
 * Joins small pieces, so that a program that writes byte by byte cannot fill the memory with
 * buffers.
 */
function append(pieces: Buffer[], piece: Buffer): void {
  const last = pieces.at(-1);
  if (last !== undefined && last.length + piece.length <= 4096) {
    pieces[pieces.length - 1] = Buffer.concat([last, piece]);
  } else pieces.push(piece);
}
