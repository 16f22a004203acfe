import { docker } from './docker/dockerDescriptor';
import type { Engine } from './engine';
import { kubernetes } from './kubernetes/kubernetesDescriptor';
import { local } from './local/localDescriptor';
import type { EngineDescriptor, EngineRequest } from './sandbox/descriptor';
import { redacting } from './sandbox/redacting';
import type { SettingGroup } from './settings';

/** The engines, in the order in which they are offered; the first is the default. */
export const engines: readonly EngineDescriptor[] = [local, docker, kubernetes];

export const engineNames = (): readonly string[] => engines.map(({ name }) => name);

/** Undefined where no engine has this name. */
export const engineNamed = (name: unknown): EngineDescriptor | undefined =>
  engines.find((each) => each.name === name);

/** Whether the engine of this name runs tests in containers. */
export const runsInContainers = (name: string): boolean => engineNamed(name)?.inContainers === true;

/** The engine that is offered where the local one is not sufficient. */
export const containerEngine = docker.name;

/** The settings of all engines, each group once. */
export const settingGroups = (): readonly SettingGroup[] => [
  ...new Set(engines.flatMap(({ settings }) => settings)),
];

/** Those variables of an environment by which a program finds the engine of this name. */
export const variablesOf = (
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> =>
  Object.fromEntries(
    (engineNamed(name)?.variables ?? []).flatMap((variable) => {
      const value = environment[variable];
      return value === undefined ? [] : [[variable, value]];
    }),
  );

/**
 * Opens an engine by its name. The results of its runs contain no key in use.
 *
 * @throws HumanError when the engine is not available, Cancelled
 */
export async function openEngine(request: EngineRequest): Promise<Engine> {
  const descriptor = engineNamed(request.name);
  if (descriptor === undefined) throw new Error(`no engine is called ${request.name}`);
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
