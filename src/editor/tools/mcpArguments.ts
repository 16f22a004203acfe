import { dockerOptions, asArgument } from '../../engine/docker/dockerSettings';
import { runsInContainers } from '../../engine/engine';
import type { EngineSettings } from '../shell/settings';

/** What the MCP server of an instance is started with. */
export interface McpRequest {
  readonly id: string;
  /** `bundled`, a file or the name of a published dataset. */
  readonly dataset: string;
  /** `--source` arguments that R was made with. */
  readonly sources: readonly string[];
  readonly storage: string;
  readonly timeoutSeconds: number;
  readonly engine: EngineSettings;
  /** Tests of models may run with the local engine. */
  readonly runTestsLocally: boolean;
}

/** The arguments of `swt-bench mcp`. What the engine's settings say goes with them, as far as they go. */
export function mcpArguments(request: McpRequest): string[] {
  const { id, dataset, sources, storage, timeoutSeconds, engine, runTestsLocally } = request;
  return [
    'mcp',
    ...['--dataset', dataset, '--id', id],
    ...sources.flatMap((source) => ['--source', source]),
    ...['--storage', storage, '--timeout', String(timeoutSeconds)],
    ...['--engine', engine.name],
    ...(engine.name === 'local' ? localArguments(engine) : dockerArguments(engine)),
    ...(!runsInContainers(engine.name) && runTestsLocally ? ['--run-tests-locally'] : []),
  ];
}

const localArguments = ({ python }: EngineSettings): string[] =>
  python === undefined ? [] : ['--python', python];

const dockerArguments = ({ docker }: EngineSettings): string[] =>
  dockerOptions.flatMap(({ key, flag, writing }) =>
    docker[key] === undefined ? [] : [flag, asArgument(docker[key], writing)],
  );
