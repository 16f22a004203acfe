import * as vscode from 'vscode';
import { RetryingMemo, Cancelled, HumanError, type Reporter } from '../../domain/work';
import { openDataset } from '../../dataset/dataset';
import type { Instance } from '../../domain/instance';
import type { EngineWork } from '../../engine/engine';
import type { WorkspaceMarker } from '../../repository/workspace';
import {
  sourceOf,
  parseSources,
  withBundledSource,
  type TreeSource,
} from '../../repository/source';
import { prepareTrees, type Trees } from '../../repository/trees';
import type { WorkspaceRepository } from '../../repository/workspaceRepository';
import { bundledDataset, bundledSource, storageFolder } from '../shell/settings';
import { afterAWhile } from '../shell/progress';
import { stepBeside } from '../shell/plainText';

/** The origin of an open instance: its row, and the trees made from it. Loads each once. */
export class InstanceOrigin {
  /** A failure is not kept, since the dataset may be available the next time. */
  private readonly known = new RetryingMemo(() => this.find());
  private readonly preparing = new RetryingMemo(() => this.prepare());

  /** @param repository the repository of the workspace, which contains R */
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly marker: WorkspaceMarker,
    private readonly repository: WorkspaceRepository,
    private readonly reporter: Reporter,
  ) {}

  /** @throws HumanError when the dataset or the row is gone */
  async instance(): Promise<Instance> {
    return (await this.origin()).instance;
  }

  /** The pristine trees of R and R∘X*. */
  trees(): Promise<Trees> {
    return this.preparing.get();
  }

  private origin(): Promise<Origin> {
    return this.known.get();
  }

  private async find(): Promise<Origin> {
    const { id, dataset: name } = this.marker;
    const { extensionPath, secrets } = this.context;
    const isBundled = name === 'bundled';
    const kept = isBundled ? undefined : await storedInstance(secrets, id);
    if (kept !== undefined && isRemote()) return { instance: kept.instance, kept };
    const path = isBundled ? bundledDataset(extensionPath) : name;
    try {
      const title = vscode.l10n.t('Reading {0}', id);
      const instance = await afterAWhile(title, (signal, step) =>
        this.read(path, { reporter: this.telling(title, step), signal }),
      );
      if (instance === undefined)
        throw new HumanError(vscode.l10n.t('{0} is not in {1}', id, path));
      return { instance, kept: undefined };
    } catch (error) {
      if (error instanceof Cancelled) throw error;
      if (kept !== undefined) return { instance: kept.instance, kept };
      if (!isRemote() || !(error instanceof HumanError)) throw error;
      throw new HumanError(
        vscode.l10n.t('{0} is not available in this container ({1})', id, error.what),
        vscode.l10n.t(
          'Open its folder outside the container and run “SWT-Bench: Select Python or Container Environment…” there once',
        ),
      );
    }
  }

  /** The row of the instance in a dataset; undefined where it has none. */
  private async read(path: string, work: EngineWork): Promise<Instance | undefined> {
    const dataset = await openDataset(path, { storage: storageFolder(), ...work });
    const [instance] = await dataset.read([this.marker.id]);
    return instance;
  }

  private async prepare(): Promise<Trees> {
    const origin = await this.origin();
    const title = vscode.l10n.t('Preparing R and R∘X* of {0}', this.marker.id);
    return afterAWhile(title, (signal, step) =>
      this.treesOf(origin, { reporter: this.telling(title, step), signal }),
    );
  }

  /** Logs as ever, and tells the steps to a notification. */
  private telling(title: string, step: (text: string) => void): Reporter {
    return {
      log: (line) => this.reporter.log(line),
      progress: (text) => {
        this.reporter.progress(text);
        step(stepBeside(title, text));
      },
    };
  }

  private async treesOf({ instance, kept }: Origin, work: EngineWork): Promise<Trees> {
    const storage = storageFolder();
    if (kept !== undefined) {
      // A machine without the dataset has no mirror either, so R comes from the workspace's
      // repository.
      const baseCommit = await this.repository.r();
      const own = { kind: 'commit', from: await this.repository.repository() } as const;
      const trees = await prepareTrees({ ...instance, baseCommit }, own, storage, work);
      return { ...trees, source: kept.source };
    }
    const bundled = bundledSource(this.context.extensionPath);
    const sources = parseSources(withBundledSource(this.marker.sources, bundled));
    return prepareTrees(instance, await sourceOf(instance, sources), storage, work);
  }
}

interface Origin {
  readonly instance: Instance;
  /** Set when the row is the stored one, since its dataset is unavailable. */
  readonly kept: StoredInstance | undefined;
}

/** An instance, and how its R was made. */
interface StoredInstance {
  readonly instance: Instance;
  readonly source: TreeSource;
}

/**
 * Stores an instance whose workspace gets a dev container, in the secret storage of VS Code. A
 * window in the container has neither the dataset of the outer machine nor its mirrors. Golden
 * patch and tests must not be in the workspace, which the container mounts. The secret storage is
 * encrypted, private to the extension, and reachable from both windows.
 */
export async function storeInstance(
  secrets: vscode.SecretStorage,
  instance: Instance,
  source: TreeSource,
): Promise<void> {
  const kept: StoredInstance = { instance, source };
  await secrets.store(keyOf(instance.id), JSON.stringify(kept));
}

/** The stored instance; undefined when there is none. */
async function storedInstance(
  secrets: vscode.SecretStorage,
  id: string,
): Promise<StoredInstance | undefined> {
  const text = await secrets.get(keyOf(id));
  // Only this extension writes it, so it needs no validation.
  return text === undefined ? undefined : (JSON.parse(text) as StoredInstance);
}

/** Whether the window runs on another machine than the one that shows it, such as a container. */
const isRemote = (): boolean => vscode.env.remoteName !== undefined;

const keyOf = (id: string): string => `instance.${id}`;
