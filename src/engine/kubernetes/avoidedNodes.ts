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
