import * as vscode from 'vscode';

/** What the parts behind a view use of it. */
export interface ListView<T> extends Pick<vscode.TreeView<T>, 'selection' | 'reveal'> {
  /** The text beside the title; undefined for none. */
  description: string | undefined;
  /** The text above the rows; undefined for none. */
  message: string | undefined;
  /** Unfolds the view and gives it the focus. */
  focus(): Promise<void>;
}

/**
 * One list in two views, of which VS Code shows one: alone while no instance is open, and folded
 * below the views of an open instance. A view declares once and for all whether it begins folded,
 * and no command folds one.
 */
export class TwinViews<T> implements ListView<T>, vscode.Disposable {
  private readonly alone: vscode.TreeView<T>;
  private readonly beside: vscode.TreeView<T>;

  /** @param isBeside whether the view beside an open instance is the one that shows */
  constructor(
    private readonly ids: { readonly alone: string; readonly beside: string },
    options: vscode.TreeViewOptions<T>,
    private readonly isBeside: () => boolean,
  ) {
    this.alone = vscode.window.createTreeView(ids.alone, options);
    this.beside = vscode.window.createTreeView(ids.beside, options);
  }

  private get shown(): vscode.TreeView<T> {
    return this.isBeside() ? this.beside : this.alone;
  }

  get selection(): readonly T[] {
    return this.shown.selection;
  }

  get description(): string | undefined {
    return this.shown.description;
  }

  set description(text: string | undefined) {
    for (const view of [this.alone, this.beside]) view.description = text ?? '';
  }

  get message(): string | undefined {
    return this.shown.message;
  }

  set message(text: string | undefined) {
    for (const view of [this.alone, this.beside]) view.message = text ?? '';
  }

  reveal(...[element, options]: Parameters<vscode.TreeView<T>['reveal']>): Thenable<void> {
    return this.shown.reveal(element, options);
  }

  async focus(): Promise<void> {
    const id = this.isBeside() ? this.ids.beside : this.ids.alone;
    await vscode.commands.executeCommand(`${id}.focus`);
  }

  dispose(): void {
    this.alone.dispose();
    this.beside.dispose();
  }
}

/** Does work with progress in both views of a list. */
export function withProgressInViews<T>(
  ids: { readonly alone: string; readonly beside: string },
  work: () => Promise<T>,
): Promise<T> {
  const working = work();
  for (const viewId of [ids.alone, ids.beside]) {
    // A failure is told by who waits for the work.
    void vscode.window.withProgress({ location: { viewId } }, () => working.catch(() => undefined));
  }
  return working;
}
