import { join } from 'node:path';
import { dockerEngine } from './docker/dockerEngine';
import { dockerSettings, type DockerSettings } from './docker/settings';
import type { Engine, EngineName } from './engine';
import { localEngine } from './local/localEngine';

export interface EngineRequest {
  readonly name: EngineName;
  /** The storage folder. */
  readonly storage: string;
  /** Folder that holds `tracer/` and `agent/`, the Python files that run beside tests. */
  readonly assets: string;
  /** Interpreter or virtual environment of the local engine. */
  readonly python?: string | undefined;
  /** Settings of the docker engine; the defaults where there are none. */
  readonly docker?: DockerSettings | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The engine of a name.
 *
 * @throws HumanError when it cannot be had, Cancelled
 */
export async function openEngine(request: EngineRequest): Promise<Engine> {
  const { name, storage, assets, python, signal } = request;
  switch (name) {
    case 'local':
      return localEngine({ storage, tracer: join(assets, 'tracer'), python });
    case 'docker':
      return dockerEngine({
        storage,
        assets,
        settings: request.docker ?? dockerSettings.parse({}),
        signal,
      });
  }
}

/** Opens an engine for a piece of work, and removes what is left of it however the work ends. */
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
