/** Milliseconds during which no pod is sent to a node that lost a sandbox. */
const avoidance = 120_000;

/**
 * Nodes that lately lost a sandbox. The cluster takes up to a minute to notice that a node is gone.
 */
export class AvoidedNodes {
  /** `performance.now()` until which a node is avoided. */
  private readonly until = new Map<string, number>();

  constructor(private readonly now: () => number = () => performance.now()) {}

  add(node: string): void {
    this.until.set(node, this.now() + avoidance);
  }

  /** @returns the nodes, and when the first of them is not avoided any more */
  get present(): { readonly nodes: readonly string[]; readonly until: number } {
    for (const [node, until] of this.until) if (until <= this.now()) this.until.delete(node);
    return { nodes: [...this.until.keys()], until: Math.min(...this.until.values()) };
  }
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
  get seconds(): Readonly<Record<string, number>> {
    const all = new Map(this.ended);
    for (const { node, since } of this.running.values()) this.add(all, node, since);
    return Object.fromEntries([...all].sort(([a], [b]) => a.localeCompare(b)));
  }

  private add(to: Map<string, number>, node: string, since: number): void {
    to.set(node, (to.get(node) ?? 0) + (performance.now() - since) / 1000);
  }
}
