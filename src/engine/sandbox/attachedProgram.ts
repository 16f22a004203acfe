/** A program that runs in a sandbox, with its standard input and output. */
export interface AttachedProgram {
  /** Its standard output. */
  readonly output: AsyncIterable<Buffer>;
  write(data: Buffer, done: () => void): void;
  /** The last of what it wrote to standard error. */
  complaint(): string;
  close(): void;
}
