import { join } from 'node:path';
import { dockerEngine } from './docker/dockerEngine';
import { dockerSettings, type DockerSettings } from './docker/dockerSettings';
import type { Engine, EngineName } from './engine';
import { kubernetesEngine } from './kubernetes/kubernetesEngine';
import { kubernetesSettings, type KubernetesSettings } from './kubernetes/kubernetesSettings';
import { fittingEngine, fittingPython } from './local/fittingEngine';
import { givenOrFitting } from './local/givenOrFitting';
import { localEngine } from './local/localEngine';
import { redacting } from './redacting';

export interface EngineRequest {
  readonly name: EngineName;
  /** The storage folder. */
  readonly storage: string;
  /** Folder that contains `tracer/` and `agent/`, the Python files that run beside tests. */
  readonly assets: string;
  /** Interpreter or virtual environment of the local engine; `auto` to make fitting ones. */
  readonly python?: string | undefined;
  /** Whether the person named that interpreter: it is then used even where R does not fit it. */
  readonly isPythonNamed?: boolean | undefined;
  /** Settings of the docker engine; undefined for the defaults. */
  readonly docker?: DockerSettings | undefined;
  /** Settings of the kubernetes engine; undefined for the defaults. */
  readonly kubernetes?: KubernetesSettings | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens an engine by its name. The results of its runs contain no key in use.
 *
 * @throws HumanError when the engine is not available, Cancelled
 */
export async function openEngine(request: EngineRequest): Promise<Engine> {
  return redacting(await openers[request.name](request));
}

const openers: Readonly<Record<EngineName, (request: EngineRequest) => Promise<Engine>>> = {
  local: async ({ storage, assets, python, isPythonNamed = true }) => {
    const options = { storage, tracer: join(assets, 'tracer') };
    if (python === fittingPython) return fittingEngine(options);
    return (isPythonNamed ? localEngine : givenOrFitting)({ ...options, python });
  },
  docker: ({ storage, assets, docker = dockerSettings.parse({}), signal }) =>
    dockerEngine({ storage, assets, settings: docker, signal }),
  kubernetes: ({ assets, docker, kubernetes }) =>
    kubernetesEngine({
      assets,
      settings: kubernetes ?? kubernetesSettings.parse({}),
      shared: docker ?? dockerSettings.parse({}),
    }),
};

/**
 * Opens an engine for some work, and removes all that is left of it when the work ends or fails.
 */
export async function withEngine<T>(
  request: EngineRequest,
  work: (engine: Engine) => Promise<T>,
): Promise<T> {
  const engine = await openEngine(request);
  try {
    return await work(engine);
  } finally {
    await engine.dispose();
  }
}
