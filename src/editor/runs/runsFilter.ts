import * as vscode from 'vscode';
import { localFilter } from '../../dashboard/localFilter';
import { HumanError } from '../../domain/problem';
import type { RunData } from '../../domain/study/entry';
import type { Instances } from '../instances/instances';
import type { SharedFilter } from './dashboardPanel';

/** The filter that dashboards share with the Instances view. */
export class RunsFilter implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[] = [this.changed];
  private listening = false;

  constructor(private readonly instances: () => Promise<Instances>) {}

  /** The filter of the Instances view, where the runs are of its dataset. */
  async of(runs: readonly RunData[]): Promise<SharedFilter> {
    const { catalogue } = await this.shared();
    if (!catalogue.isFiltered || !covers(catalogue, runs)) return { text: '', ids: null };
    return { text: catalogue.filter, ids: catalogue.entries().map(({ id }) => id) };
  }

  /** Sets it, or for runs of another dataset one of their own. */
  async set(text: string, runs: readonly RunData[]): Promise<SharedFilter> {
    const { catalogue } = await this.shared();
    if (covers(catalogue, runs)) {
      try {
        catalogue.setFilter(text);
      } catch (error) {
        if (!(error instanceof HumanError)) throw error;
        return { text, ids: null, problem: error.message };
      }
      return this.of(runs);
    }
    // Of other instances the view knows nothing: what the runs say of them is all there is.
    const filter = localFilter(text);
    if ('problem' in filter) return { text, ids: null, problem: filter.problem };
    const all = runs.flatMap(({ instances }) => instances);
    return {
      text,
      ids: text.trim() === '' ? null : [...new Set(all.filter(filter.keeps).map(({ id }) => id))],
    };
  }

  private async shared(): Promise<Instances> {
    const instances = await this.instances();
    if (!this.listening) {
      this.listening = true;
      if (instances.catalogue.datasetName !== '') await instances.dataset().catch(() => undefined);
      let before = '';
      this.subscriptions.push(
        instances.catalogue.onDidChange(() => {
          const { filter, filterList, datasetName } = instances.catalogue;
          const now = JSON.stringify([filter, filterList, datasetName]);
          if (now !== before) this.changed.fire();
          before = now;
        }),
      );
    }
    return instances;
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

/** Whether the instances of some runs are those of the dataset of the Instances view. */
function covers(catalogue: Instances['catalogue'], runs: readonly RunData[]): boolean {
  const ids = new Set(runs.flatMap(({ instances }) => instances.map(({ id }) => id)));
  const known = [...ids].filter((id) => catalogue.entry(id) !== undefined);
  return known.length > 0 && 2 * known.length >= ids.size;
}
