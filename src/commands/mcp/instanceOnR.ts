import { join } from 'node:path';
import type { Instance } from '../../domain/instance';
import { HumanError, type Reporter, RetryingMemo } from '../../domain/work';
import { openEngine } from '../../engine/sandbox';
import { runStore } from '../../evaluation/testRun';
import { modelView, type ModelView, type ModelViewParts } from '../../method/modelView';
import { createPythonParser } from '../../python/parser';
import { sourceOf, parseSources } from '../../repository/source';
import { prepareTrees } from '../../repository/trees';
import type { ProgramContext } from '../registerCommand';
import { openDatasetOption, sourcesFor } from '../options/openDatasetOption';
import { engineRequest, type EngineOptions } from '../options/engineOptions';

/** The options of a command that works on R of one instance. */
export interface InstanceOnROptions extends EngineOptions {
  dataset: string;
  id: string;
  source: string[];
  storage: string;
}

/** One instance with R as a model may know it. */
interface InstanceOnR {
  readonly instance: Instance;
  /** Opens the view on first use; after a failure, such as a network outage, again. */
  readonly view: (work: { readonly reporter: Reporter }) => Promise<ModelView>;
  readonly dispose: () => Promise<void>;
}

/**
 * Finds the instance that the options name. Its trees and the engine open on first use.
 *
 * @param work `permit` as in `ModelViewParts`
 * @throws HumanError when options or the dataset cannot be used; Cancelled
 */
export async function instanceOnR(
  options: InstanceOnROptions,
  context: ProgramContext,
  { permit, signal }: Pick<ModelViewParts, 'permit'> & { readonly signal: AbortSignal },
): Promise<InstanceOnR> {
  const asked = engineRequest(options, context);
  const sources = parseSources(sourcesFor(options, context));
  const dataset = await openDatasetOption(options, context);
  const [instance] = await dataset.read([options.id]);
  if (instance === undefined) {
    throw new HumanError(
      `${options.id} is not in the dataset ${dataset.path}`,
      'Run `swt-bench instances` to list all instances',
    );
  }
  const { storage } = options;
  const engine = new RetryingMemo(() => openEngine(asked));
  const view = new RetryingMemo(async (work: { readonly reporter: Reporter }) =>
    modelView(instance, {
      trees: await prepareTrees(instance, await sourceOf(instance, sources), storage, {
        signal,
        ...work,
      }),
      python: await createPythonParser((file) => join(context.assets, file)),
      engine: () => engine.get(),
      store: runStore(storage),
      permit,
    }),
  );
  return {
    instance,
    view: (work) => view.get(work),
    dispose: async () => {
      await (await view.made())?.dispose();
      await (await engine.made())?.dispose();
    },
  };
}
