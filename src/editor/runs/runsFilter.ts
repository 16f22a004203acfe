import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import type { AskedFilter } from '../../study/document';
import type { RunData } from '../../study/entry';
import type { Instances } from '../instances/instances';
import type { SharedFilter } from './dashboardPanel';
import { coversRuns, filterOfPage, filterOfRuns, ownFilterOfRuns } from './filterOfRuns';

/** The filter that dashboards share with the Instances view. */
export class RunsFilter implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private readonly subscriptions: vscode.Disposable[] = [this.changed];
  private listening = false;
  /** Filter of runs of another dataset than the view has. */
  private ownText = '';

  constructor(private readonly instances: () => Promise<Instances>) {}

  /** The filter of the Instances view, for runs of its dataset. */
  async of(runs: readonly RunData[]): Promise<SharedFilter> {
    const { catalogue } = await this.shared();
    return coversRuns(catalogue, runs)
      ? filterOfRuns(catalogue, runs)
      : ownFilterOfRuns(this.ownText, runs);
  }

  /** The filter that an exported page of runs begins with; undefined for none. */
  async ofPage(runs: readonly RunData[]): Promise<AskedFilter | undefined> {
    const { catalogue } = await this.shared();
    const list = coversRuns(catalogue, runs) ? catalogue.filterList : undefined;
    return filterOfPage(await this.of(runs), list, runs);
  }

  /** Sets that filter; runs of another dataset get a filter of their own. */
  async set(text: string, runs: readonly RunData[]): Promise<SharedFilter> {
    const { catalogue } = await this.shared();
    if (coversRuns(catalogue, runs)) {
      try {
        catalogue.setFilter(text);
      } catch (error) {
        if (!(error instanceof HumanError)) throw error;
        return { text, ids: null, problem: error.message };
      }
      return this.of(runs);
    }
    const own = ownFilterOfRuns(text, runs);
    if (own.problem === undefined) this.ownText = text;
    return own;
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
