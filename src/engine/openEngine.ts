import { join } from 'node:path';
import type { DockerSettings } from './docker/settings';
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
  readonly docker?: Partial<DockerSettings> | undefined;
}

/** The engine of a name. @throws HumanError when it cannot be had */
export async function openEngine(request: EngineRequest): Promise<Engine> {
  const { storage, python } = request;
  return localEngine({ storage, tracer: join(request.assets, 'tracer'), python });
}
