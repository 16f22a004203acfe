import { HumanError } from '../../domain/work';
import {
  kubernetesSettings,
  kubernetesSettingTable,
  type KubernetesSettings,
} from './kubernetesSettings';

/**
 * Checks the settings of the kubernetes engine that a person gave, and fills in defaults.
 *
 * @param nameOf the name under which the person knows a setting, such as `--namespace`
 * @throws HumanError naming the first that cannot be used, and what can
 */
export function readKubernetesSettings(
  given: Readonly<Partial<Record<keyof KubernetesSettings, unknown>>>,
  nameOf: (key: keyof KubernetesSettings) => string,
): KubernetesSettings {
  const read = kubernetesSettings.safeParse(given);
  if (read.success) return read.data;
  const key = (read.error.issues[0]?.path[0] ?? 'context') as keyof KubernetesSettings;
  throw new HumanError(
    `${nameOf(key)} cannot be ${JSON.stringify(given[key]) ?? 'nothing'}`,
    kubernetesSettingTable[key].expected,
  );
}
