import type { EngineSettings } from '../settings';

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
}

/** The arguments of `swt-bench mcp`. What the engine's settings say goes with them, as far as they go. */
export function mcpArguments(request: McpRequest): string[] {
  const { id, dataset, sources, storage, timeoutSeconds, engine } = request;
  return [
    'mcp',
    ...['--dataset', dataset, '--id', id],
    ...sources.flatMap((source) => ['--source', source]),
    ...['--storage', storage, '--timeout', String(timeoutSeconds)],
    ...['--engine', engine.name],
    ...(engine.name === 'local' ? localArguments(engine) : dockerArguments(engine)),
  ];
}

const localArguments = ({ python }: EngineSettings): string[] =>
  python === undefined ? [] : ['--python', python];

function dockerArguments({ docker }: EngineSettings): string[] {
  const { host, baseImage, prebuilt, memoryMb, cpus, network, budgetGb } = docker;
  return [
    ...(host === undefined ? [] : ['--docker-host', host]),
    ...['--base-image', baseImage, '--prebuilt', prebuilt === '' ? 'none' : prebuilt],
    ...['--memory', `${memoryMb}m`, '--cpus', String(cpus)],
    ...['--network', network.length === 0 ? 'none' : network.join(',')],
    ...['--image-budget', String(budgetGb)],
  ];
}
