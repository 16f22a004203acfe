import { docker } from './docker/dockerDescriptor';
import { kubernetes } from './kubernetes/kubernetesDescriptor';
import { local } from './local/localDescriptor';
import { settingGroupsOf, type EngineDescriptor } from './sandbox/descriptor';
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
export const settingGroups = (): readonly SettingGroup[] => settingGroupsOf(engines);

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
