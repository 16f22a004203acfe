import assert from 'node:assert/strict';
import { join } from 'node:path';
import { cli, sample, type Answer } from './cli';
import { fakeModels, type FakeModels, type Reply } from './fakeModels';

/** `generate` on the bundled instance, with a model that plays scripts. */
export interface ScriptedGeneration {
  /** Of the last `play`. */
  readonly server: FakeModels | undefined;
  /** The arguments for a model at an address; no tests may run. */
  readonly argsOf: (out: string, baseUrl: string, ...more: string[]) => string[];
  /** Runs the method with a model that gives these answers, with permission to run tests. */
  readonly play: (out: string, replies: readonly Reply[], ...more: string[]) => Promise<Answer>;
}

/** The option that permits tests of models to run with the local engine. */
export const local = '--run-tests-locally';

/** Call it in a suite: the model is gone after each test. */
export function scriptedGeneration(
  method: string,
  folder: { readonly path: string },
): ScriptedGeneration {
  let server: FakeModels | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  const argsOf = (out: string, baseUrl: string, ...more: string[]): string[] => [
    ...['generate', '--method', method, '--model', 'openai-compatible/m', '--out', out],
    ...['--dataset', join(sample, 'instance.jsonl'), '--source', join(sample, 'repository')],
    ...['--storage', join(folder.path, 'storage'), '--base-url', baseUrl, ...more],
  ];
  return {
    get server() {
      return server;
    },
    argsOf,
    play: async (out, replies, ...more) => {
      server = await fakeModels(
        (_, number) => replies[number - 1] ?? assert.fail('the script ended'),
      );
      return cli(argsOf(out, server.url, local, ...more));
    },
  };
}
