/**
 * Numbers for the different texts of a list, and where each stands: a table of hashes with open places,
 * since a `Map` of as many strings takes several times as long to fill.
 */
export class TextIndex {
  readonly numbers: Int32Array;
  /** By number: the first text of it, its hash, and how many there are. */
  private readonly firsts: Int32Array;
  private readonly hashes: Int32Array;
  private readonly counts: Int32Array;
  /** Numbers by hash, -1 where there is none. */
  private readonly table: Int32Array;
  private size = 0;
  private starts: Int32Array | undefined;
  private lines = new Int32Array(0);

  constructor(private readonly texts: readonly string[]) {
    const count = texts.length;
    this.numbers = new Int32Array(count);
    this.firsts = new Int32Array(count);
    this.hashes = new Int32Array(count);
    this.counts = new Int32Array(count);
    this.table = new Int32Array(1 << (32 - Math.clz32(2 * count + 1))).fill(-1);
    for (let i = 0; i < count; i += 1) {
      const text = texts[i] ?? '';
      const hash = hashOf(text);
      const slot = this.slotOf(text, hash);
      let number = this.table[slot] ?? -1;
      if (number < 0) {
        number = this.size;
        this.size += 1;
        this.table[slot] = number;
        this.firsts[number] = i;
        this.hashes[number] = hash;
      }
      this.numbers[i] = number;
      this.counts[number] = (this.counts[number] ?? 0) + 1;
    }
  }

  /** Where the number of a text stands in the table, or would. */
  private slotOf(text: string, hash: number): number {
    const mask = this.table.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const number = this.table[slot] ?? -1;
      if (number < 0) return slot;
      if (this.hashes[number] === hash && this.texts[this.firsts[number] ?? 0] === text) {
        return slot;
      }
    }
  }

  numberOf(text: string): number {
    return this.table[this.slotOf(text, hashOf(text))] ?? -1;
  }

  countOf(number: number): number {
    return number < 0 ? 0 : (this.counts[number] ?? 0);
  }

  /** The first text of a number, by its place in the list. */
  firstOf(number: number): number {
    return this.firsts[number] ?? -1;
  }

  linesOf(number: number): Int32Array {
    const starts = this.starts ?? this.list();
    return number < 0
      ? this.lines.subarray(0, 0)
      : this.lines.subarray(starts[number], starts[number + 1]);
  }

  /** Lists the lines by their numbers: those of `number` stand from `starts[number]` on. */
  private list(): Int32Array {
    const starts = new Int32Array(this.size + 1);
    for (let i = 0; i < this.size; i += 1) starts[i + 1] = (starts[i] ?? 0) + (this.counts[i] ?? 0);
    const next = starts.slice();
    this.lines = new Int32Array(this.numbers.length);
    for (const [line, number] of this.numbers.entries()) {
      const at = next[number] ?? 0;
      this.lines[at] = line;
      next[number] = at + 1;
    }
    return (this.starts = starts);
  }
}

/** Another one in each run, so that no text can be made that fills one place of all tables. */
const seed = Math.floor(Math.random() * 0x7fffffff);

/** FNV-1a over UTF-16 units, the bits stirred at the end (the last step of MurmurHash3). */
function hashOf(text: string): number {
  let hash = seed;
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
