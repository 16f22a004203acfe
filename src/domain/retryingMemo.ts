/**
 * The result of work that is done when it is first asked for, and then kept. Whoever asks meanwhile waits
 * for the same work. A failure is not kept: whoever asks next begins anew.
 */
export class RetryingMemo<T, Given extends readonly unknown[] = []> {
  #kept: Promise<T> | undefined;
  readonly #make: (...given: Given) => Promise<T>;

  constructor(make: (...given: Given) => Promise<T>) {
    this.#make = make;
  }

  /**
   * What is kept or under way, or else what the work gives now.
   *
   * @param given to the work, where it begins now
   * @throws what the work throws
   */
  get(...given: Given): Promise<T> {
    if (this.#kept !== undefined) return this.#kept;
    const making = this.#make(...given);
    this.#kept = making;
    making.catch(() => {
      // Work that was forgotten takes nothing from what has begun since.
      if (this.#kept === making) this.#kept = undefined;
    });
    return making;
  }

  /** What is kept, after what is under way; undefined where there is nothing, or it failed. Never rejects. */
  async made(): Promise<T | undefined> {
    return this.#kept?.catch(() => undefined);
  }

  /** Lets go of what is kept or under way: whoever asks next begins anew. */
  forget(): void {
    this.#kept = undefined;
  }
}

/**
 * As {@link RetryingMemo}, of one key of a map among many.
 *
 * @throws what `make` throws
 */
export function retryingMemoOf<Key, T>(
  kept: Pick<Map<Key, Promise<T>>, 'get' | 'delete'> & { set(key: Key, made: Promise<T>): unknown },
  key: Key,
  make: () => Promise<T>,
): Promise<T> {
  const known = kept.get(key);
  if (known !== undefined) return known;
  const making = make();
  kept.set(key, making);
  making.catch(() => {
    if (kept.get(key) === making) kept.delete(key);
  });
  return making;
}
