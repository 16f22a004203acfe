import type { Engine } from '../engine';
import type { EngineRequest } from './descriptor';
import { redacting } from './redacting';

/**
 * Opens an engine by its name. The results of its runs contain no key in use.
 *
 * @throws HumanError when the engine is not available, Cancelled
 */
export async function openEngine(request: EngineRequest): Promise<Engine> {
  const descriptor = request.engines.find(({ name }) => name === request.name);
  if (descriptor === undefined) throw new Error(`there is no engine named ${request.name}`);
  return redacting(await descriptor.open(request));
}

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
