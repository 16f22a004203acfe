/**
 * Runs work on the first request and keeps its result. Requests that arrive meanwhile share the
 * same promise. A failure is not kept, so the next request starts the work again.
 */
export class RetryingMemo<T, Given extends readonly unknown[] = []> {
  #kept: Promise<T> | undefined;
  readonly #make: (...given: Given) => Promise<T>;

  constructor(make: (...given: Given) => Promise<T>) {
    this.#make = make;
  }

  /**
   * Returns the kept or pending result, or starts the work.
   *
   * @param given arguments of the work, if this call starts it
   * @throws what the work throws
   */
  get(...given: Given): Promise<T> {
    if (this.#kept !== undefined) return this.#kept;
    const making = this.#make(...given);
    this.#kept = making;
    making.catch(() => {
      // A failure of forgotten work must not discard the work that started since.
      if (this.#kept === making) this.#kept = undefined;
    });
    return making;
  }

  /**
   * The kept result, once pending work has ended; undefined if there is none or the work failed.
   * Never rejects.
   */
  async made(): Promise<T | undefined> {
    return this.#kept?.catch(() => undefined);
  }

  /** Discards the kept or pending result, so that the next request starts the work again. */
  forget(): void {
    this.#kept = undefined;
  }
}

/**
 * Like {@link RetryingMemo}, for one key of a map.
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
