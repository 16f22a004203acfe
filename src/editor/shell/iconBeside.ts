import * as vscode from 'vscode';

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
