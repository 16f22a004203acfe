import type * as vscode from 'vscode';
import type { Instance } from '../../domain/instance';
import type { Engine } from '../../engine/engine';
import { runStore } from '../../evaluation/testRun';
import { modelView, type ModelView, type ModelViewParts } from '../../method/modelView';
import type { PythonParser } from '../../python/parser';
import type { Trees } from '../../repository/trees';
import { engineSettings, storageFolder } from '../shell/settings';
import { requireTestsOfModels } from '../tools/testsOfModels';

/** What a view of the open instance is made from. */
interface InstanceViewParts {
  readonly folder: vscode.WorkspaceFolder;
  instance(): Promise<Instance>;
  trees(): Promise<Trees>;
  python(): Promise<PythonParser>;
  engine(): Promise<Engine>;
}

/**
 * What models may know of the open instance. All models have one view, so that they share its
 * sandbox of R. The view is made on demand, and made again when the engine that its tests run with
 * changes.
 */
export class InstanceView {
  private made: { readonly settings: string; readonly view: Promise<ModelView> } | undefined;
  private closing: Promise<unknown> = Promise.resolve();
  private disposed = false;

  constructor(private readonly parts: InstanceViewParts) {}

  /** @throws HumanError when the row or the trees are unavailable, or a setting is invalid */
  async get(): Promise<ModelView> {
    if (this.disposed) throw new Error('the window closes');
    const settings = JSON.stringify([engineSettings(this.parts.folder.uri), storageFolder()]);
    if (this.made?.settings !== settings) {
      this.close();
      const view = this.make();
      this.made = { settings, view };
      view.catch(() => {
        // A failure is not kept, since the dataset may be available the next time.
        if (this.made?.view === view) this.made = undefined;
      });
    }
    return this.made.view;
  }

  /**
   * A view for the user's own tests, which may run with any engine. The caller disposes of it.
   *
   * @throws HumanError as {@link get}
   */
  async ofPerson(): Promise<ModelView> {
    return this.make(() => undefined);
  }

  private async make(
    permit: ModelViewParts['permit'] = (engine) => requireTestsOfModels(this.parts.folder, engine),
  ): Promise<ModelView> {
    const { parts } = this;
    return modelView(await parts.instance(), {
      trees: await parts.trees(),
      python: await parts.python(),
      engine: () => parts.engine(),
      store: runStore(storageFolder()),
      permit,
    });
  }

  private close(): void {
    const { made } = this;
    this.made = undefined;
    if (made === undefined) return;
    this.closing = Promise.all([
      this.closing,
      made.view.then((view) => view.dispose()).catch(() => undefined),
    ]);
  }

  /** Stops the runs of the view. Resolves when its sandbox is gone. */
  async dispose(): Promise<void> {
    this.disposed = true;
    this.close();
    await this.closing;
  }
}
