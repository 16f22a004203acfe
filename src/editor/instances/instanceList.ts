import * as vscode from 'vscode';
import type { InstanceEntry } from '../../domain/instance';
import { treeItemOf } from '../shell/treeItem';
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
    private readonly view: vscode.TreeView<ListNode>,
  ) {
    this.arrange();
  }

  private get shown(): ShownInstances {
    const { catalogue, groups } = this;
    return { catalogue, groups };
  }

  /** Takes over what the catalogue holds now; to be called before the view is drawn anew. */
  arrange(): void {
    this.groups = entriesByRepository(this.catalogue.entries());
    const { description, message } = headOfInstances(vscode.l10n, this.shown);
    this.view.description = description;
    // The typing does not know that undefined takes a message away.
    this.view.message = message;
  }

  getChildren(node?: ListNode): ListNode[] {
    return instanceNodes(vscode.l10n, this.shown, node);
  }

  /** Needed to show a row that is folded away. */
  getParent(node: ListNode): ListNode | undefined {
    return parentOfInstance(this.shown, node);
  }

  getTreeItem(node: ListNode): vscode.TreeItem {
    return treeItemOf(instanceTreeRow(vscode.l10n, this.shown, node));
  }

  /** Adds what is only seen when the pointer rests on a row. */
  resolveTreeItem(item: vscode.TreeItem, node: ListNode): vscode.TreeItem {
    const entry = node.kind === 'instance' ? this.catalogue.entry(node.id) : undefined;
    if (entry !== undefined) item.tooltip = this.tooltip(entry);
    return item;
  }

  private tooltip(entry: InstanceEntry): vscode.MarkdownString {
    const text = new vscode.MarkdownString();
    for (const paragraph of paragraphsOn(vscode.l10n, this.catalogue, entry)) {
      text.appendText(paragraph).appendMarkdown('\n\n');
    }
    return text;
  }
}
