import * as vscode from 'vscode';
import { spokenOf, type TreeRow } from './treeRow';
import { appendPlainText } from './plainText';

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

/** Appends a part of a hover to Markdown. */
export function appendPart(markdown: vscode.MarkdownString, part: HoverPart): void {
  if ('plain' in part) appendPlainText(markdown, part.plain);
  else if ('code' in part) markdown.appendCodeblock(part.code, 'text');
  else markdown.appendMarkdown(part.between === 'sections' ? '\n\n---\n\n' : '\n\n');
}

/** Draws a hover. */
export function hoverMarkdown(parts: readonly HoverPart[]): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  for (const part of parts) appendPart(markdown, part);
  return markdown;
}

/** A part of a hover as plain data, in the order in which `hoverMarkdown` draws them. */
export type HoverPart =
  /** Text in which nothing is markup. */
  | { readonly plain: string }
  /** A block of code, where markup has no meaning. */
  | { readonly code: string }
  | { readonly between: 'paragraphs' | 'sections' };

/**
 * The entry of a quick pick with the icon that its label begins with, such as `$(note) Show`, beside
 * the label. A screen reader would say the id of an icon that is in the label.
 */
export function iconBeside<Item extends { readonly label: string }>(
  item: Item,
): Item & { readonly iconPath?: vscode.ThemeIcon } {
  const [, id, label] = /^\$\(([\w-]+)\) (.+)$/s.exec(item.label) ?? [];
  if (id === undefined || label === undefined) return item;
  return { ...item, label, iconPath: new vscode.ThemeIcon(id) };
}
