import { engineNamed } from '../../engine/engines';
import { argumentsOf } from '../../engine/settings';
import type { EngineSettings } from '../shell/settings';

/** The parameters that start the MCP server of an instance. */
export interface McpRequest {
  readonly id: string;
  /** `bundled`, a file, or the name of a published dataset. */
  readonly dataset: string;
  /** `--source` arguments that R was made with. */
  readonly sources: readonly string[];
  readonly storage: string;
  readonly timeoutSeconds: number;
  readonly engine: EngineSettings;
  /** Whether tests of models may run with the local engine. */
  readonly runTestsLocally: boolean;
}

/** The arguments of `swt-bench mcp`, including those settings of the engine that have an option. */
export function mcpArguments(request: McpRequest): string[] {
  const { id, dataset, sources, storage, timeoutSeconds, engine, runTestsLocally } = request;
  const descriptor = engineNamed(engine.name);
  return [
    'mcp',
    '--dataset',
    dataset,
    '--id',
    id,
    ...sources.flatMap((source) => ['--source', source]),
    '--storage',
    storage,
    '--timeout',
    String(timeoutSeconds),
    '--engine',
    engine.name,
    ...(descriptor?.settings ?? []).flatMap((group) => argumentsOf(group, engine.values)),
    ...(descriptor?.inContainers !== true && runTestsLocally ? ['--run-tests-locally'] : []),
  ];
}
