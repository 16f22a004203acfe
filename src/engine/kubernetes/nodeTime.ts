/** What the pods of one engine used. */
export interface NodeTime {
  /** Seconds that containers ran, by node. */
  readonly seconds: Readonly<Record<string, number>>;
}

/** Adds up how long the pods of an engine ran on each node. */
export class NodeClock {
  private readonly ended = new Map<string, number>();
  private readonly running = new Map<object, { readonly node: string; readonly since: number }>();

  /** A pod runs. The result says that it was removed. */
  start(node: string, since: number): () => void {
    const key = {};
    this.running.set(key, { node, since });
    return () => {
      if (!this.running.delete(key)) return;
      this.add(this.ended, node, since);
    };
  }

  /** Seconds so far, pods that still run included. */
  get time(): NodeTime {
    const all = new Map(this.ended);
    for (const { node, since } of this.running.values()) this.add(all, node, since);
    return { seconds: Object.fromEntries([...all].sort(([a], [b]) => a.localeCompare(b))) };
  }

  private add(to: Map<string, number>, node: string, since: number): void {
    to.set(node, (to.get(node) ?? 0) + (performance.now() - since) / 1000);
  }
}
