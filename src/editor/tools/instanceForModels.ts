import type * as vscode from 'vscode';
import type { ModelView } from '../../method/modelView';

/**
 * The open instance as chat and tools may know it, which is what a model may know. Nothing here
 * leads to X*, to T* or to an outcome on R∘X*.
 */
export interface InstanceForModels {
  readonly folder: vscode.WorkspaceFolder;
  readonly marker: { readonly id: string };
  /**
   * The one view of R for all models of the window; callers do not dispose of it. @throws
   * HumanError
   */
  modelView(): Promise<ModelView>;
  /** The saved edits of the workspace, as a patch on R. */
  candidatePatch(signal?: AbortSignal): Promise<string>;
  /** A file of R with its exact bytes (see patch/bytes.ts); undefined when R has none. */
  textOfR(path: string): Promise<string | undefined>;
}
