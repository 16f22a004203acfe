import type { Command } from 'commander';
import { findConfigurationFile } from '../../configuration/configurationFile';
import { bindingsOf } from '../options/configuredOptions';

/**
 * Sets those options of a command from the configuration file that neither the command line nor a
 * variable gives.
 *
 * @returns the file that counts; undefined for none
 * @throws HumanError naming file, line and key of a fault
 */
export async function applyConfiguration(command: Command): Promise<string | undefined> {
  const bindings = bindingsOf(command);
  if (bindings.length === 0) return undefined;
  const { config } = command.opts<{ config?: string | false }>();
  if (config === false) return undefined;
  const folder = process.cwd();
  const file = config ?? (await findConfigurationFile(folder));
  if (file === undefined) return undefined;
  // Imported here, since most starts have no file.
  const { readConfiguration, wholePrice } = await import('../../configuration/configuration');
  const configuration = await readConfiguration({ folder, file });
  for (const { name, path, applies } of bindings) {
    const source = command.getOptionValueSource(name);
    if (source === 'cli' || source === 'env') continue;
    const options = command.opts<Record<string, unknown>>();
    const parts = partsOf(path, options);
    if (parts === undefined || !applies(options)) continue;
    const found = configuration.at(...parts);
    if (found?.source !== 'file') continue;
    const value =
      path === 'prices.{model}'
        ? wholePrice(String(options['model']), found.value as object, configuration.file)
        : found.value;
    command.setOptionValueWithSource(name, value, 'config');
  }
  return configuration.file;
}

/** The parts of a path with the names that other options give; undefined where one is missing. */
export function partsOf(
  path: string,
  { model, embeddingModel, method }: Readonly<Record<string, unknown>>,
): readonly string[] | undefined {
  const agent = typeof method === 'string' ? /^acp:(.*)$/s.exec(method)?.[1] : undefined;
  const names: Readonly<Record<string, unknown>> = { model, embeddingModel, agent };
  const parts = path.split('.').map((part) => {
    const [, name] = /^\{(.*)\}$/.exec(part) ?? [];
    return name === undefined ? part : names[name];
  });
  return parts.every((part) => typeof part === 'string') ? parts : undefined;
}
