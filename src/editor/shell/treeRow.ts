/**
 * A row of a tree view as plain data. What a view shows is computed by functions that run without VS Code;
 * `treeItemOf` draws it. Such functions take what translates, `vscode.l10n`, as their first parameter
 * `l10n`, and import `vscode` as a type only: `npm run l10n` finds calls of `l10n.t` in no other files.
 */
export interface TreeRow {
  readonly label: string;
  /** What VS Code remembers of a row, such as whether it is folded, it remembers by this. */
  readonly id?: string;
  readonly description?: string;
  /** Plain text. */
  readonly tooltip?: string;
  /** An icon of VS Code by its id, and a colour of the theme. */
  readonly icon?: { readonly id: string; readonly colour?: string };
  /** How rows below it begin; undefined where there are none. */
  readonly children?: 'folded' | 'unfolded';
  /** What menus look at. */
  readonly contextValue?: string;
  readonly command?: {
    readonly command: string;
    readonly title: string;
    readonly arguments?: readonly unknown[];
  };
  /** Read out in place of label and description: an icon says nothing to who does not see it. */
  readonly spoken?: string;
}
