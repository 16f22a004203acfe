import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { join } from 'node:path';
import type { Reporter } from '../../domain/reporter';
import { HumanError } from '../../domain/problem';
import { openEngine } from '../../engine/openEngine';
import type { Engine } from '../../engine/engine';
import {
  EXIT,
  openDataset,
  sourcesFor,
  type CommandContext,
} from '../../evaluation/commands/context';
import { engineRequest, type EngineOptions } from '../../evaluation/commands/engineOptions';
import { runStore } from '../../evaluation/runStore';
import { createPythonParser } from '../../python/parser';
import { parseSources, sourceOf } from '../../repository/source';
import { prepareTrees } from '../../repository/trees';
import { serveMcp } from '../mcp/server';
import { modelView, type ModelView } from '../modelView';

export interface McpOptions extends EngineOptions {
  dataset: string;
  id: string;
  source: string[];
  timeout: number;
  storage: string;
}

/**
 * `swt-bench mcp`: a server of the Model Context Protocol for one instance on stdin and stdout, until
 * the client closes stdin.
 */
export async function mcpCommand(
  options: McpOptions,
  context: CommandContext & { readonly version: string },
): Promise<number> {
  const asked = engineRequest(options, context);
  const sources = parseSources(sourcesFor(options, context));
  const dataset = await openDataset(options, context);
  const [instance] = await dataset.read([options.id]);
  if (instance === undefined) {
    throw new HumanError(
      `${options.id} is not in the dataset ${dataset.path}`,
      'Run `swt-bench instances` to see what there is',
    );
  }
  const closed = new AbortController();
  const signal = AbortSignal.any([context.signal, closed.signal]);
  // Nothing but messages of the protocol goes to stdout; stderr is what clients show as the server's log.
  const reporter: Reporter = {
    log: (line) => context.stderr(`${line}\n`),
    progress: () => undefined,
  };
  let engine: Promise<Engine> | undefined;
  let view: Promise<ModelView> | undefined;
  const openView = async (work: { readonly reporter: Reporter }): Promise<ModelView> => {
    const source = await sourceOf(instance, sources);
    return modelView(instance, {
      trees: await prepareTrees(instance, source, options.storage, { signal, ...work }),
      python: await createPythonParser((file) => join(context.assets, file)),
      engine: () =>
        (engine ??= openEngine(asked).catch((error: unknown) => {
          engine = undefined;
          throw error;
        })),
      store: runStore(options.storage),
    });
  };
  const transport = new StdioServerTransport();
  const close = (): void => {
    closed.abort();
    void transport.close();
  };
  // A client ends a server by closing its input; one that has crashed leaves a broken pipe.
  process.stdin.once('end', close).once('close', close);
  process.stdout.once('error', close);
  context.signal.addEventListener('abort', close, { once: true });
  try {
    reporter.log(`${instance.id}: serving its tools on stdin and stdout`);
    await serveMcp(transport, {
      version: context.version,
      view: (work) =>
        (view ??= openView(work).catch((error: unknown) => {
          // Such as a network that was down: the next call tries again.
          view = undefined;
          throw error;
        })),
      timeoutSeconds: options.timeout,
      reporter,
    });
  } finally {
    context.signal.removeEventListener('abort', close);
    await (await view?.catch(() => undefined))?.dispose();
    await (await engine?.catch(() => undefined))?.dispose();
  }
  return context.signal.aborted ? EXIT.interrupted : EXIT.done;
}
