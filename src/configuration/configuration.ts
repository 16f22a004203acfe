import { resolve } from 'node:path';
import { HumanError } from '../domain/work';
import { engineNames, settingGroups } from '../engine/engines';
import type { EngineValues } from '../engine/settings';
import { agentlessSettings, type AgentlessSettings } from '../method/agentless';
import {
  addressVariables,
  embeddingProviders,
  parseModelName,
  type EmbeddingUse,
  type Price,
} from '../method/models';
import { findConfigurationFile } from './configurationFile';
import { configurationKeys, everyModel, type OwnPath } from './keys';
import { readConfigurationFile } from './reading/readFile';
import { keysOf, type ConfigurationValues } from './schema';

/** Where a value comes from, the strongest first. */
export const valueSources = ['option', 'variable', 'file', 'default'] as const;
export type ValueSource = (typeof valueSources)[number];

/** A value that counts. */
export interface ConfiguredValue {
  readonly value: unknown;
  readonly source: ValueSource;
}

/** What is asked of a configuration. */
export interface ConfigurationRequest {
  /** Absolute path of the folder whose nearest `swt.yaml` counts. */
  readonly folder: string;
  /** The file to read instead; relative to the folder. False for none at all. */
  readonly file?: string | false | undefined;
  /** What options or settings of the editor give, by paths such as `docker.memory`. */
  readonly given?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
}

/** What a configuration says of a model. */
export interface ModelConfiguration {
  readonly baseUrl?: string | undefined;
  readonly window?: number | undefined;
  readonly price?: Price | undefined;
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly topP?: number | undefined;
  readonly reasoningEffort?: string | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly stream: boolean;
  readonly concurrency?: number | undefined;
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

/**
 * Reads the configuration that counts in a folder: what options give, else variables of the
 * environment, else the file, else defaults. The caller makes sure that the folder is trusted: the
 * file decides where requests with keys go.
 *
 * @throws HumanError naming file, line and key of a fault
 */
export async function readConfiguration(request: ConfigurationRequest): Promise<Configuration> {
  const { folder, file, home, given = {}, environment = process.env } = request;
  const path =
    file === undefined
      ? await findConfigurationFile(folder, home === undefined ? {} : { home })
      : file === false
        ? undefined
        : resolve(folder, file);
  const read = path === undefined ? undefined : await readConfigurationFile(path);
  return new Configuration(read?.path, read?.values ?? {}, given, environment);
}

/** The merged configuration. */
export class Configuration {
  /**
   * @param file absolute path; undefined where there is none
   * @param values of the file
   */
  constructor(
    readonly file: string | undefined,
    readonly values: ConfigurationValues,
    private readonly given: Readonly<Record<string, unknown>>,
    private readonly environment: Readonly<Record<string, string | undefined>>,
  ) {}

  /**
   * The value of a key.
   *
   * @param path its parts, such as `docker`, `memory`; names of models have dots
   * @returns undefined where nobody gives one, and the key has no default
   */
  at(...path: readonly string[]): ConfiguredValue | undefined {
    const option = this.given[path.join('.')];
    if (option !== undefined) return { value: option, source: 'option' };
    const variable = this.environment[variableOf(path) ?? '']?.trim();
    if (variable !== undefined && variable !== '') return { value: variable, source: 'variable' };
    const value = this.inFile(path);
    if (value !== undefined) return { value, source: 'file' };
    const usual = defaultOf(path);
    return usual === undefined ? undefined : { value: usual, source: 'default' };
  }

  /** The value of the file, which models share through the entry `*`. */
  private inFile([group = '', name = '', ...rest]: readonly string[]): unknown {
    const own = valueIn(
      this.values,
      [group, name, ...rest].filter((part) => part !== ''),
    );
    if (own !== undefined || group !== 'models') return own;
    return valueIn(this.values, [group, everyModel, ...rest]);
  }

  /**
   * Every key, in the order of the schema. Of models, prices and agents those that have a value.
   *
   * @param model whose keys stand among them, though the file does not name it
   */
  entries(
    model?: string,
  ): readonly (Partial<ConfiguredValue> & { readonly path: readonly string[] })[] {
    const of = (...path: readonly string[]) => ({ path, ...this.at(...path) });
    return keysOf([]).flatMap((group) => {
      const keys = keysOf([group]);
      if (keys.length > 0) return keys.map((key) => of(group, key));
      if (!isNamed(group)) return [of(group)];
      const inFile = Object.keys(this.values[group] ?? {});
      const names = group === 'agents' || model === undefined ? inFile : [...inFile, model];
      return [...new Set(names)].flatMap((name) =>
        keysOf([group, name])
          .map((key) => of(group, name, key))
          .filter(
            ({ value, source }) => value !== undefined && (name === model || source !== 'default'),
          ),
      );
    });
  }

  /** The settings of every engine. An address that a variable has is left to the engine. */
  get engines(): EngineValues {
    return Object.fromEntries(
      settingGroups().map((group) => [
        group.engine,
        group.read(
          Object.fromEntries(
            group.all.flatMap((setting) => {
              const { key, option } = setting;
              const { value, source } = this.at(group.engine, setting.fileKey) ?? {};
              if (value === undefined || source === 'variable' || source === 'default') return [];
              const isNone = option?.writing === 'text or none' && value === 'none';
              return [[key, isNone ? '' : value]];
            }),
          ),
          ({ id }) => id,
        ),
      ]),
    );
  }

  /** The numbers of Agentless, and its stages. */
  get agentless(): AgentlessSettings {
    const names = Object.keys(agentlessSettings()).filter((name) => name !== 'until');
    return agentlessSettings(
      Object.fromEntries(
        names.flatMap((name) => {
          const { value } = this.at('agentless', name) ?? {};
          return value === undefined ? [] : [[name, value]];
        }),
      ),
    );
  }

  /** The names of the models that the file describes. */
  get models(): readonly string[] {
    const { models = {}, prices = {} } = this.values;
    const names = new Set([...Object.keys(models), ...Object.keys(prices)]);
    return [...names].filter((name) => name !== everyModel);
  }

  /** @param name `PROVIDER/NAME` */
  model(name: string): ModelConfiguration {
    const of = (key: string): unknown => this.at('models', name, key)?.value;
    const keys = Object.keys(configurationKeys)
      .filter((path) => path.startsWith('models.{model}.'))
      .map((path) => path.slice('models.{model}.'.length));
    const price = this.at('prices', name)?.value as Partial<Price> | undefined;
    return {
      ...(Object.fromEntries(keys.map((key) => [key, of(key)])) as Omit<
        ModelConfiguration,
        'price'
      >),
      price: price === undefined ? undefined : wholePrice(name, price, this.file),
    };
  }

  /**
   * The embedding model; undefined for none.
   *
   * @throws HumanError when its provider has none
   */
  get embedding(): EmbeddingUse | undefined {
    const name = this.at('repair', 'embeddingModel')?.value as string | undefined;
    if (name === undefined) return undefined;
    const { provider } = parseModelName(name);
    if (!embeddingProviders.some((each) => each === provider)) {
      throw new HumanError(
        `repair.embeddingModel is ${name}, and ${provider} has no embedding models`,
        `Write PROVIDER/NAME with one of ${embeddingProviders.join(', ')}`,
      );
    }
    return {
      name,
      baseUrl: this.at('models', name, 'baseUrl')?.value as string | undefined,
      price: this.at('prices', name, 'input')?.value as number | undefined,
    };
  }
}

const isNamed = (group: string): group is 'models' | 'prices' | 'agents' =>
  ['models', 'prices', 'agents'].includes(group);

/**
 * A price as requests are paid.
 *
 * @throws HumanError when it is that of an embedding model, which has no output
 */
export function wholePrice(name: string, price: Partial<Price>, file?: string): Price {
  const { input, output, cached, cacheWrite } = price;
  if (input === undefined || output === undefined) {
    throw new HumanError(
      `${file ?? 'The configuration'} has no price for the output of ${name}`,
      `Add output to prices.${name}`,
    );
  }
  return {
    ...{ input, output },
    ...(cached !== undefined && { cached }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
}

/** The variable with the meaning of a key. */
export function variableOf(path: readonly string[]): string | undefined {
  const [group, name = '', key] = path;
  if (group === 'models' && key === 'baseUrl') {
    const [provider = ''] = name.split('/');
    return addressVariables[provider as keyof typeof addressVariables];
  }
  if (path.join('.') === 'docker.host') return 'DOCKER_HOST';
  const own = configurationKeys[path.join('.') as OwnPath] as { variable?: string } | undefined;
  return own?.variable;
}

function defaultOf([group = '', name = '', ...rest]: readonly string[]): unknown {
  if (group === 'engine') return engineNames()[0];
  const engine = settingGroups().find((each) => each.engine === group);
  if (engine !== undefined) return engine.all.find((each) => each.fileKey === name)?.default;
  if (group === 'agentless') {
    return (agentlessSettings() as unknown as Readonly<Record<string, unknown>>)[name];
  }
  const path = group === 'models' ? [group, '{model}', ...rest] : [group, name, ...rest];
  const own = configurationKeys[path.filter((part) => part !== '').join('.') as OwnPath] as
    | { readonly default?: unknown }
    | undefined;
  return own?.default;
}

const valueIn = (values: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, part) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, part)
        ? (at as Readonly<Record<string, unknown>>)[part]
        : undefined,
    values,
  );
