import { dockerOptions, asArgument } from '../../engine/docker/dockerSettings';
import { kubernetesFlag, kubernetesSettingNames } from '../../engine/kubernetes/kubernetesSettings';
import { runsInContainers } from '../../engine/engine';
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
  return [
    'mcp',
    ...['--dataset', dataset, '--id', id],
    ...sources.flatMap((source) => ['--source', source]),
    ...['--storage', storage, '--timeout', String(timeoutSeconds)],
    ...['--engine', engine.name],
    ...(engine.name === 'local' ? localArguments(engine) : dockerArguments(engine)),
    ...(engine.name === 'kubernetes' ? kubernetesArguments(engine) : []),
    ...(!runsInContainers(engine.name) && runTestsLocally ? ['--run-tests-locally'] : []),
  ];
}

const localArguments = ({ python }: EngineSettings): string[] =>
  python === undefined ? [] : ['--python', python];

const kubernetesArguments = ({ kubernetes }: EngineSettings): string[] =>
  kubernetesSettingNames.flatMap((key) => {
    const value = kubernetes[key];
    const isUnset = value === undefined || value === false;
    if (isUnset || (Array.isArray(value) && value.length === 0)) return [];
    return [kubernetesFlag(key), ...(value === true ? [] : [String(value)])];
  });

const dockerArguments = ({ docker }: EngineSettings): string[] =>
  dockerOptions.flatMap(({ key, flag, writing }) =>
    docker[key] === undefined ? [] : [flag, asArgument(docker[key], writing)],
  );
