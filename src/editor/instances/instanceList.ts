import * as vscode from 'vscode';
import type { InstanceEntry } from '../../domain/instance';
import { appendPlainText } from '../shell/plainText';
import { treeItemOf } from '../shell/treeItem';
import type { ListView } from './twinViews';
import type { Catalogue } from './catalogue';
import {
  entriesByRepository,
  headOfInstances,
  instanceNodes,
  instanceTreeRow,
  paragraphsOn,
  parentOfInstance,
  type ListNode,
  type ShownInstances,
} from './instanceTreeRow';

/** The instances of the chosen dataset, by repository, with status. */
export class InstanceList {
  private groups: ShownInstances['groups'] = new Map();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly view: ListView<ListNode>,
  ) {
    this.arrange();
  }

  private get shown(): ShownInstances {
    const { catalogue, groups } = this;
    return { catalogue, groups };
  }

  /** Takes over the current contents of the catalogue. Call it before the view redraws. */
  arrange(): void {
    this.groups = entriesByRepository(this.catalogue.entries());
    const { description, message } = headOfInstances(vscode.l10n, this.shown);
    this.view.description = description;
    this.view.message = message;
  }

  /** The ids of all instances from the top of the list to its end, folded ones too. */
  ids(): string[] {
    return instanceNodes(vscode.l10n, this.shown).flatMap((node) =>
      node.kind === 'repository' ? node.ids : [],
    );
  }

  getChildren(node?: ListNode): ListNode[] {
    return instanceNodes(vscode.l10n, this.shown, node);
  }

  /** VS Code needs it to reveal a row whose parent is folded. */
  getParent(node: ListNode): ListNode | undefined {
    return parentOfInstance(this.shown, node);
  }

  getTreeItem(node: ListNode): vscode.TreeItem {
    return treeItemOf(instanceTreeRow(vscode.l10n, this.shown, node));
  }

  /** Adds the tooltip, which is needed only when the pointer rests on a row. */
  resolveTreeItem(item: vscode.TreeItem, node: ListNode): vscode.TreeItem {
    const entry = node.kind === 'instance' ? this.catalogue.entry(node.id) : undefined;
    if (entry !== undefined) item.tooltip = this.tooltip(entry);
    return item;
  }

  private tooltip(entry: InstanceEntry): vscode.MarkdownString {
    const text = new vscode.MarkdownString();
    for (const paragraph of paragraphsOn(vscode.l10n, this.catalogue, entry)) {
      appendPlainText(text, paragraph).appendMarkdown('\n\n');
    }
    return text;
  }
}
