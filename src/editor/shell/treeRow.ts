/**
 * A row of a tree view as plain data. Functions that run without VS Code compute what a view shows;
 * `treeItemOf` draws it. Such functions take `vscode.l10n` as their first parameter `l10n` and
 * import `vscode` as a type only. `npm run l10n` finds calls of `l10n.t` in no other files.
 */
export interface TreeRow {
  readonly label: string;
  /** The id under which VS Code remembers a row, such as whether it is folded. */
  readonly id?: string;
  readonly description?: string;
  /** Plain text. */
  readonly tooltip?: string;
  /** Id of an icon of VS Code, and a colour of the theme. */
  readonly icon?: { readonly id: string; readonly colour?: string };
  /** Whether the rows below it begin folded; undefined when it has none. */
  readonly children?: 'folded' | 'unfolded';
  /** Menus test it in their `when` clauses. */
  readonly contextValue?: string;
  readonly command?: {
    readonly command: string;
    readonly title: string;
    readonly arguments?: readonly unknown[];
  };
  /** A screen reader says this in place of label and description, since it cannot read an icon. */
  readonly spoken?: string;
}
