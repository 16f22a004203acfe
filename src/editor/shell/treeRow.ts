/**
 * A row of a tree view as plain data. Functions that run without VS Code compute what a view shows;
 * `treeItemOf` draws it. Such functions take their texts from `@vscode/l10n`, which answers in
 * English until `configureTexts` has told it the language of the window.
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

/**
 * What a screen reader says of a row. VS Code on its own reads a tooltip in place of the label, so that
 * rows would lose their names.
 *
 * @returns undefined where VS Code's own choice, label and description, is right
 */
export function spokenOf({ spoken, label, description, tooltip }: TreeRow): string | undefined {
  if (spoken !== undefined || tooltip === undefined) return spoken;
  const named = [label, description ?? ''].filter((part) => part !== '');
  const more = tooltip
    .split('\n')
    .filter((line) => line.trim() !== '' && !named.some((part) => part.includes(line)));
  return [...named, ...more].map((part) => part.replace(/\.$/, '')).join('. ');
}
