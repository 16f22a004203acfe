import { InvalidArgumentError, Option } from 'commander';
import { HumanError } from '../../domain/work';
import {
  kubernetesFlag,
  kubernetesSettingNames,
  kubernetesSettingTable,
  type KubernetesOptionName,
  type KubernetesSettings,
} from '../../engine/kubernetes/kubernetesSettings';
import { readKubernetesSettings } from '../../engine/kubernetes/readKubernetesSettings';

type Given = { readonly [Name in KubernetesOptionName]?: unknown };

const optionNames = kubernetesSettingNames.map((key) => {
  const { option } = kubernetesSettingTable[key];
  const name = option.name as KubernetesOptionName;
  return { ...option, key, name, flag: kubernetesFlag(key) };
});

/** The options of the kubernetes engine, in the order of `--help`. */
export const kubernetesOptions = (): Option[] =>
  optionNames.map(({ flag, argument, description, byDefault, writing }) => {
    const words = `kubernetes: ${description} (default: ${byDefault})`;
    const option = new Option(argument === '' ? flag : `${flag} ${argument}`, words);
    if (writing === 'list') return option.argParser(listOf);
    return writing === 'number' ? option.argParser(numberOf) : option;
  });

/** @throws HumanError when an option of the kubernetes engine is given to another one */
export function refuseKubernetesOptions(options: Given & { readonly engine: string }): void {
  if (options.engine === 'kubernetes') return;
  const given = optionNames.find(({ name }) => options[name] !== undefined);
  if (given === undefined) return;
  throw new HumanError(
    `${given.flag} is for the kubernetes engine, but the engine is ${options.engine}`,
    'Add --engine kubernetes, or leave it out',
  );
}

/** @throws HumanError naming the unusable option */
export function kubernetesSettingsOf(options: Given): KubernetesSettings {
  const given = Object.fromEntries(
    optionNames.flatMap(({ key, name }) =>
      options[name] === undefined ? [] : [[key, options[name]] as const],
    ),
  );
  return readKubernetesSettings(
    given,
    (key) => optionNames.find((option) => option.key === key)?.flag ?? key,
  );
}

function listOf(value: string): string[] {
  const words = value.split(',').map((word) => word.trim());
  if (words.includes('')) throw new InvalidArgumentError('Write words separated by commas.');
  return words;
}

function numberOf(value: string): number {
  const read = Number(value);
  if (value.trim() !== '' && Number.isFinite(read)) return read;
  throw new InvalidArgumentError('Write a number.');
}
