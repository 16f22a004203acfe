import * as vscode from 'vscode';
import { spokenOf, type TreeRow } from './treeRow';

/** Makes the item of VS Code that shows a row. */
export function treeItemOf(row: TreeRow): vscode.TreeItem {
  const item = new vscode.TreeItem(row.label, foldingOf(row));
  const { id, description, tooltip, icon, contextValue, command } = row;
  if (id !== undefined) item.id = id;
  if (description !== undefined) item.description = description;
  if (tooltip !== undefined) item.tooltip = tooltip;
  if (icon !== undefined) {
    const { colour } = icon;
    item.iconPath =
      colour === undefined
        ? new vscode.ThemeIcon(icon.id)
        : new vscode.ThemeIcon(icon.id, new vscode.ThemeColor(colour));
  }
  if (contextValue !== undefined) item.contextValue = contextValue;
  if (command !== undefined) {
    const { arguments: given, ...rest } = command;
    item.command = given === undefined ? rest : { ...rest, arguments: [...given] };
  }
  const spoken = spokenOf(row);
  if (spoken !== undefined) item.accessibilityInformation = { label: spoken };
  return item;
}

function foldingOf({ children }: TreeRow): vscode.TreeItemCollapsibleState {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  if (children === undefined) return None;
  return children === 'folded' ? Collapsed : Expanded;
}
