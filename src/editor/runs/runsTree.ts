import { basename } from 'node:path';
import * as vscode from 'vscode';
import { percent } from '../../dashboard/numbers';
import type { RunData } from '../../domain/study/entry';
import { methodsOf, type Method } from '../../domain/study/methods';
import { summarise } from '../../domain/study/summary';
import { durationText } from '../../batch/progressText';
import { runCommandIds } from '../shell/names';
import type { RunLibrary } from './library';
import type { RepairList } from './repairList';

/** A row of the Runs view. */
export type RunNode =
  | { readonly kind: 'run'; readonly label: string }
  | { readonly kind: 'method'; readonly run: string; readonly id: string }
  | { readonly kind: 'repairs'; readonly path: string }
  | { readonly kind: 'problems' }
  | { readonly kind: 'problem'; readonly text: string };

/** Saved and running evaluations, with their rates. */
export class RunsTree {
  /** Rates of a run are those of its entries: equal entries, equal rates. */
  private readonly methods = new WeakMap<RunData, readonly Method[]>();

  constructor(
    private readonly library: RunLibrary,
    private readonly repairs: RepairList,
  ) {}

  getChildren(node?: RunNode): RunNode[] {
    const { runs, problems } = this.library;
    if (node === undefined) {
      return [
        ...runs.map(({ label }): RunNode => ({ kind: 'run', label })),
        ...this.repairs.listed.map(({ path }): RunNode => ({ kind: 'repairs', path })),
        ...(problems.length > 0 ? [{ kind: 'problems' } as const] : []),
      ];
    }
    if (node.kind === 'problems') {
      return problems.slice(0, 200).map((text) => ({ kind: 'problem', text }));
    }
    const run = node.kind === 'run' ? this.library.run(node.label) : undefined;
    if (run === undefined) return [];
    const methods = this.methodsOf(run);
    return methods.length < 2
      ? []
      : methods.map(({ id }) => ({ kind: 'method', run: run.label, id }));
  }

  getTreeItem(node: RunNode): vscode.TreeItem {
    switch (node.kind) {
      case 'run':
        return this.runItem(node.label);
      case 'method':
        return this.methodItem(node.run, node.id);
      case 'repairs':
        return this.repairsItem(node.path);
      case 'problems': {
        const count = this.library.problems.length;
        const item = new vscode.TreeItem(
          count === 1
            ? vscode.l10n.t('1 thing cannot be read')
            : vscode.l10n.t('{0} things cannot be read', count),
          vscode.TreeItemCollapsibleState.Collapsed,
        );
        item.iconPath = new vscode.ThemeIcon('warning');
        return item;
      }
      case 'problem': {
        const item = new vscode.TreeItem(node.text);
        item.tooltip = node.text;
        return item;
      }
    }
  }

  private repairsItem(path: string): vscode.TreeItem {
    const listed = this.repairs.listed.find((each) => each.path === path);
    const results = listed?.results;
    const name = results?.name ?? basename(path);
    const item = new vscode.TreeItem(name);
    item.id = `repairs ${path}`;
    item.contextValue = 'repairs';
    item.iconPath = new vscode.ThemeIcon(results === undefined ? 'warning' : 'tools');
    const count = results?.resolved.length ?? 0;
    item.description =
      results === undefined
        ? vscode.l10n.t('cannot be read')
        : results.attempted === undefined
          ? vscode.l10n.t('code repair · {0} resolved', count)
          : vscode.l10n.t('code repair · {0} of {1} resolved', count, results.attempted.length);
    item.tooltip = [path, listed?.problem ?? ''].filter((each) => each !== '').join('\n');
    item.accessibilityInformation = { label: `${name}, ${item.description}` };
    return item;
  }

  private methodsOf(run: RunData): readonly Method[] {
    const known = this.methods.get(run);
    if (known !== undefined) return known;
    const made = methodsOf([run]);
    this.methods.set(run, made);
    return made;
  }

  private runItem(label: string): vscode.TreeItem {
    const run = this.library.run(label);
    const item = new vscode.TreeItem(label);
    item.id = `run ${label}`;
    if (run === undefined) return item;
    const methods = this.methodsOf(run);
    const [only] = methods;
    item.collapsibleState =
      methods.length > 1
        ? vscode.TreeItemCollapsibleState.Collapsed
        : vscode.TreeItemCollapsibleState.None;
    const state = this.stateOf(run);
    item.iconPath = new vscode.ThemeIcon(state.icon);
    item.contextValue = state.context;
    const rates =
      methods.length > 1
        ? vscode.l10n.t('{0} methods', methods.length)
        : only === undefined
          ? ''
          : `${only.model} · ${ratesInWords(only)}`;
    item.description = [state.words, rates].filter((each) => each !== '').join(' · ');
    const facts = [
      label,
      state.words,
      ...methods.map((method) => `${method.model}: ${ratesInWords(method)}`),
      vscode.l10n.t('{0} instances', run.instances.length),
      run.dataset ?? '',
      run.created?.slice(0, 16).replace('T', ' ') ?? '',
      run.place ?? run.folder ?? '',
    ];
    item.tooltip = facts.filter((each) => each !== '').join('\n');
    item.accessibilityInformation = { label: `${label}, ${item.description}` };
    item.command = {
      command: runCommandIds.openDashboard,
      title: vscode.l10n.t('Open Dashboard'),
      arguments: [{ kind: 'run', label } satisfies RunNode],
    };
    return item;
  }

  private stateOf(run: RunData): {
    readonly icon: string;
    readonly words: string;
    readonly context: string;
  } {
    const progress = this.library.progressOf(run);
    if (progress === undefined) {
      return run.unfinished === true
        ? { icon: 'debug-disconnect', words: vscode.l10n.t('not finished'), context: 'run' }
        : { icon: 'graph', words: '', context: 'run' };
    }
    const { done, total, perHour, secondsLeft, controlled } = progress;
    const far = vscode.l10n.t('{0} of {1}', done, total);
    if (progress.interrupted) {
      return {
        icon: 'debug-disconnect',
        words: `${far} · ${vscode.l10n.t('interrupted')}`,
        context: 'run',
      };
    }
    const mine = controlled ? '.mine' : '';
    if (progress.paused) {
      return {
        icon: 'debug-pause',
        words: `${far} · ${vscode.l10n.t('paused')}`,
        context: `run.paused${mine}`,
      };
    }
    const speed = perHour === undefined ? '' : vscode.l10n.t('{0} per hour', Math.round(perHour));
    const left =
      secondsLeft === undefined ? '' : vscode.l10n.t('{0} left', durationText(secondsLeft));
    return {
      icon: 'sync~spin',
      words: [far, speed, left].filter((each) => each !== '').join(' · '),
      context: `run.running${mine}`,
    };
  }

  private methodItem(label: string, id: string): vscode.TreeItem {
    const run = this.library.run(label);
    const method = run && this.methodsOf(run).find((each) => each.id === id);
    const item = new vscode.TreeItem(method?.model ?? '');
    item.id = `method ${id}`;
    item.iconPath = new vscode.ThemeIcon('symbol-method');
    if (method !== undefined) item.description = ratesInWords(method);
    return item;
  }
}

/** `S 14.1 % (39 of 276) · ΔC 23.8 %`. */
export function ratesInWords(method: Method): string {
  const { success, deltaAll, grading, findings } = summarise(method);
  const share = success.of === 0 ? undefined : success.count / success.of;
  const told = [
    `S ${percent(share)} (${vscode.l10n.t('{0} of {1}', success.count, success.of)})`,
    deltaAll.mean === undefined ? '' : `ΔC ${percent(deltaAll.mean)}`,
    findings.any === 0
      ? ''
      : vscode.l10n.t('⚠ findings in {0} of {1} with F→P', findings.any, findings.of),
    grading === 'harness' ? vscode.l10n.t('harness grading') : '',
  ];
  return told.filter((each) => each !== '').join(' · ');
}
