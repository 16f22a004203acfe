import * as vscode from 'vscode';
import { describeProblem } from '../../dataset/dataset';
import type { InstanceEntry } from '../../domain/instance';
import { asLabel } from '../../domain/label';
import type { InstanceStatus } from '../../domain/status';
import { commandIds, listCommandIds } from '../shell/names';
import type { Catalogue } from './catalogue';

/** A row of the Instances view. */
export type ListNode =
  | { readonly kind: 'repository'; readonly repo: string; readonly ids: readonly string[] }
  | { readonly kind: 'instance'; readonly id: string }
  | { readonly kind: 'problems' }
  | { readonly kind: 'problem'; readonly text: string }
  /** What a person can do where there is nothing to list. */
  | {
      readonly kind: 'action';
      readonly label: string;
      readonly icon: string;
      readonly command: string;
    };

/** As many as can be looked over without folding. */
const fewRows = 60;

/** The instances of the chosen dataset, by repository, with status. */
export class InstanceList {
  private rendered: readonly InstanceEntry[] = [];
  private byRepository = new Map<string, InstanceEntry[]>();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly view: vscode.TreeView<ListNode>,
  ) {
    this.arrange();
  }

  /** Takes over what the catalogue holds now; to be called before the view is drawn anew. */
  arrange(): void {
    this.rendered = this.catalogue.entries();
    this.byRepository = new Map();
    for (const entry of this.rendered) {
      const group = this.byRepository.get(entry.repo);
      if (group === undefined) this.byRepository.set(entry.repo, [entry]);
      else group.push(entry);
    }
    this.describeView();
  }

  private describeView(): void {
    const { state, filter, filterList, datasetName } = this.catalogue;
    this.view.description = state.kind === 'none' ? '' : shortName(datasetName);
    if (state.kind === 'failed') {
      this.view.message = state.why;
    } else if (state.kind === 'loaded' && this.catalogue.isFiltered) {
      const all = state.dataset.entries.length;
      const by = [filterList, filter]
        .filter((each) => each !== undefined && each !== '')
        .join(' · ');
      this.view.message = vscode.l10n.t('{0} of {1}: {2}', this.rendered.length, all, by);
    } else {
      // The typing does not know that undefined takes a message away.
      this.view.message = '';
    }
  }

  getChildren(node?: ListNode): ListNode[] {
    if (node === undefined) {
      if (this.rendered.length === 0) return this.actions();
      const repositories = [...this.byRepository.keys()].sort((a, b) => a.localeCompare(b));
      const problems = this.catalogue.dataset?.problems.length ?? 0;
      return [
        ...repositories.map((repo): ListNode => {
          const ids = (this.byRepository.get(repo) ?? []).map((entry) => entry.id);
          return { kind: 'repository', repo, ids };
        }),
        ...(problems > 0 ? [{ kind: 'problems' } as const] : []),
      ];
    }
    if (node.kind === 'repository') return node.ids.map((id) => ({ kind: 'instance', id }));
    if (node.kind === 'problems') {
      return (this.catalogue.dataset?.problems ?? [])
        .slice(0, 200)
        .map((problem) => ({ kind: 'problem', text: describeProblem(problem) }));
    }
    return [];
  }

  /** Beside the message above the rows, which would hide welcome content and its buttons. */
  private actions(): ListNode[] {
    const action = (label: string, icon: string, command: string): ListNode => ({
      kind: 'action',
      label,
      icon,
      command,
    });
    const { state } = this.catalogue;
    if (state.kind === 'failed') {
      return [
        action(vscode.l10n.t('Try Again'), 'refresh', listCommandIds.refresh),
        action(vscode.l10n.t('Choose Another Dataset…'), 'database', listCommandIds.chooseDataset),
      ];
    }
    if (state.kind === 'loaded' && this.catalogue.isFiltered) {
      return [
        action(vscode.l10n.t('Change Filter…'), 'filter', listCommandIds.filter),
        action(vscode.l10n.t('Clear Filter'), 'clear-all', listCommandIds.clearFilter),
      ];
    }
    return [];
  }

  /** Needed to show a row that is folded away. */
  getParent(node: ListNode): ListNode | undefined {
    if (node.kind === 'problem') return { kind: 'problems' };
    if (node.kind !== 'instance') return undefined;
    const repo = this.catalogue.entry(node.id)?.repo;
    if (repo === undefined) return undefined;
    const ids = (this.byRepository.get(repo) ?? []).map((entry) => entry.id);
    return { kind: 'repository', repo, ids };
  }

  getTreeItem(node: ListNode): vscode.TreeItem {
    switch (node.kind) {
      case 'repository':
        return this.repositoryItem(node.repo, node.ids);
      case 'instance':
        return this.instanceItem(node.id);
      case 'problems': {
        const count = this.catalogue.dataset?.problems.length ?? 0;
        const item = new vscode.TreeItem(
          count === 1
            ? vscode.l10n.t('1 row cannot be used')
            : vscode.l10n.t('{0} rows cannot be used', count),
          vscode.TreeItemCollapsibleState.Collapsed,
        );
        item.iconPath = new vscode.ThemeIcon('warning');
        return item;
      }
      case 'action': {
        const item = new vscode.TreeItem(node.label);
        item.iconPath = new vscode.ThemeIcon(node.icon);
        item.command = { command: node.command, title: node.label };
        return item;
      }
      case 'problem': {
        const item = new vscode.TreeItem(node.text);
        item.tooltip = node.text;
        return item;
      }
    }
  }

  private repositoryItem(repo: string, ids: readonly string[]): vscode.TreeItem {
    // What a filter leaves is to be seen at once; an id of its own keeps what was folded before apart.
    const unfolded = this.catalogue.isFiltered && this.rendered.length <= fewRows;
    const item = new vscode.TreeItem(
      repo,
      unfolded || this.byRepository.size === 1
        ? vscode.TreeItemCollapsibleState.Expanded
        : vscode.TreeItemCollapsibleState.Collapsed,
    );
    item.id = `${unfolded ? 'found' : 'repository'} ${repo}`;
    item.iconPath = new vscode.ThemeIcon('repo');
    item.contextValue = 'repository';
    const counts = new Map<string, number>();
    for (const id of ids) {
      const word = countedWord(this.catalogue.statusOf(id));
      if (word !== undefined) counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const told = [...counts].map(([word, count]) => `${count} ${word}`);
    item.description = [String(ids.length), ...told].join(' · ');
    return item;
  }

  private instanceItem(id: string): vscode.TreeItem {
    const entry = this.catalogue.entry(id);
    const item = new vscode.TreeItem(id);
    item.id = `instance ${id}`;
    item.contextValue = 'instance';
    if (entry === undefined) return item;
    const status = this.catalogue.statusOf(id);
    const triage = this.catalogue.triageOf(id);
    // Below its repository, the owner is said already: `sympy__sympy-24152` is `sympy-24152`.
    item.label = id.slice(id.indexOf('__') < 0 ? 0 : id.indexOf('__') + 2);
    const words = statusInWords(status);
    const tags = (triage?.tags ?? []).map((tag) => `#${tag}`);
    item.description = [words, ...tags, titleOf(entry)].filter((each) => each !== '').join(' · ');
    item.iconPath = statusIcon(status);
    item.command = {
      command: commandIds.showIssue,
      title: vscode.l10n.t('Show Issue'),
      arguments: [{ kind: 'instance', id } satisfies ListNode],
    };
    item.accessibilityInformation = {
      label: `${id}, ${statusInWords(status, true)}, ${titleOf(entry)}`,
    };
    return item;
  }

  /** Adds what is only seen when the pointer rests on a row. */
  resolveTreeItem(item: vscode.TreeItem, node: ListNode): vscode.TreeItem {
    const entry = node.kind === 'instance' ? this.catalogue.entry(node.id) : undefined;
    if (entry !== undefined) item.tooltip = this.tooltip(entry);
    return item;
  }

  private tooltip(entry: InstanceEntry): vscode.MarkdownString {
    const { patch, tests } = entry;
    const validation = this.catalogue.validationOf(entry.id);
    const triage = this.catalogue.triageOf(entry.id);
    const files = (count: number): string => (count === 1 ? '1 file' : `${count} files`);
    const lines = [
      entry.id,
      titleOf(entry),
      [
        entry.version === '' ? '' : `version ${entry.version}`,
        entry.createdAt.slice(0, 10),
        entry.baseCommit.slice(0, 12),
      ]
        .filter((each) => each !== '')
        .join(' · '),
      `X*: ${patch.lines} lines in ${files(patch.files.length)} · ` +
        `T*: ${tests.lines} lines in ${files(tests.files.length)} · ` +
        `issue: ${entry.issue.length} characters`,
      `Status: ${statusInWords(this.catalogue.statusOf(entry.id), true)}`,
      ...(validation === undefined
        ? []
        : [
            `Validated ${validation.date.slice(0, 10)}, ${validation.repetitions} times, ` +
              `${validation.engine}, ${validation.environment}`,
            ...validation.reasons.map((reason) => `${reason.kind}: ${reason.explanation}`),
          ]),
      ...(triage === undefined || triage.tags.length === 0
        ? []
        : [`Tags: ${triage.tags.join(', ')}`]),
      ...(triage === undefined || triage.note === '' ? [] : [`Note: ${triage.note}`]),
    ];
    const text = new vscode.MarkdownString();
    for (const line of lines) text.appendText(line).appendMarkdown('\n\n');
    return text;
  }
}

/** The first line of the issue with words in it. Untrusted: for plain text only. */
export function titleOf(entry: Pick<InstanceEntry, 'issue'>): string {
  const line = entry.issue
    .split('\n')
    .map((each) => each.replace(/^[#\s>*-]+/, '').trim())
    .find((each) => each !== '');
  return asLabel(line ?? '');
}

/** The status for the end of a row; `all` also names what goes without saying there. */
export function statusInWords(status: InstanceStatus, all = false): string {
  switch (status.kind) {
    case 'not opened':
      return all ? vscode.l10n.t('not opened') : '';
    case 'environment ready':
      return all ? vscode.l10n.t('environment ready') : '';
    case 'golden valid':
      return vscode.l10n.t('golden valid');
    case 'golden invalid':
      return vscode.l10n.t('golden invalid: {0}', status.reason);
    case 'candidate':
      return status.success
        ? vscode.l10n.t('candidate: success')
        : vscode.l10n.t('candidate: {0}', status.reason);
  }
}

const countedWord = (status: InstanceStatus): string | undefined => {
  switch (status.kind) {
    case 'not opened':
      return undefined;
    case 'environment ready':
      return 'ready';
    case 'golden valid':
      return 'valid';
    case 'golden invalid':
      return 'invalid';
    case 'candidate':
      return status.success ? 'success' : 'no success';
  }
};

function statusIcon(status: InstanceStatus): vscode.ThemeIcon {
  const coloured = (icon: string, color: string): vscode.ThemeIcon =>
    new vscode.ThemeIcon(icon, new vscode.ThemeColor(color));
  switch (status.kind) {
    case 'not opened':
      return new vscode.ThemeIcon('circle-outline');
    case 'environment ready':
      return new vscode.ThemeIcon('circle-filled');
    case 'golden valid':
      return coloured('verified', 'testing.iconPassed');
    case 'golden invalid':
      return coloured('warning', 'list.warningForeground');
    case 'candidate':
      return status.success
        ? coloured('pass-filled', 'testing.iconPassed')
        : coloured('error', 'testing.iconFailed');
  }
}

/** The last part of a path or address, which is what people call a dataset. */
export function shortName(dataset: string): string {
  const parts = dataset.split(/[\\/]/).filter((part) => part !== '');
  return /^(https?:\/\/|~?[\\/]|[A-Za-z]:)/.test(dataset) ? (parts.at(-1) ?? dataset) : dataset;
}
