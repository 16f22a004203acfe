import type * as vscode from 'vscode';
import { type Outcome, type Side, transition } from '../../../domain/outcome';
import type { ListedTest } from '../candidateTests';
import { testItemState } from '../testItemLook';
import { lettersSoFar } from './testUnderWay';

/**
 * States of tests while they run on both sides. A parametrised test has no state before all its
 * cases are known. The final result of the run replaces these states.
 */
export class LiveStates {
  private readonly seen: Record<Side, Map<string, Outcome>> = { base: new Map(), fixed: new Map() };
  private readonly rows: ReadonlyMap<string, vscode.TestItem>;

  constructor(
    private readonly run: vscode.TestRun,
    items: readonly vscode.TestItem[],
    private readonly listed: (item: vscode.TestItem) => ListedTest | undefined,
  ) {
    this.rows = new Map(items.map((item) => [item.id, item]));
  }

  saw(side: Side, test: string, outcome: Outcome): void {
    const item = this.rows.get(test);
    const known = item === undefined ? undefined : this.listed(item);
    if (item === undefined || known === undefined) return;
    // A second run of the test, as when a whole file follows its own tests. The other side's
    // outcome belongs to the first run.
    if (this.seen[side].has(test)) this.seen[side === 'base' ? 'fixed' : 'base'].delete(test);
    this.seen[side].set(test, outcome);
    const base = this.seen.base.get(test);
    const fixed = this.seen.fixed.get(test);
    const seen = {
      ...(base !== undefined && { base }),
      ...(fixed !== undefined && { fixed }),
    };
    item.label = `${lettersSoFar({ seen }) ?? ''}  ${known.name}`;
    if (base === undefined || fixed === undefined) return;
    const state = testItemState(known.status, { test, transition: transition(base, fixed) });
    // Reports no failure yet, since VS Code would not replace it by a better state.
    if (state === 'passed') this.run.passed(item);
  }
}
