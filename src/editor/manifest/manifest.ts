import { commandDescriptors, type CommandDescriptor } from './commands';
import { settingSections, type SettingDescriptor, type SettingSchema } from './settings';
import { toolContributions } from './toolContributions';

/** A package.json, as far as it is made from descriptors. */
interface Manifest {
  readonly contributes: Readonly<Record<string, unknown>>;
  readonly capabilities: {
    readonly untrustedWorkspaces: Readonly<Record<string, unknown>>;
    readonly [key: string]: unknown;
  };
  readonly [key: string]: unknown;
}

/** What the names of all commands and settings begin with. */
const prefix = 'swt-bench.';

const commands = Object.entries<CommandDescriptor>(commandDescriptors);

const scopes = {
  machine: 'machine',
  trusted: 'machine-overridable',
  'trusted window': 'window',
  resource: 'resource',
  window: 'window',
} as const;

/**
 * The manifest with commands, menus, keys, settings and tools of their descriptors, and the English
 * texts of commands and settings. Everything else of both is kept.
 */
export function withDescriptors(
  manifest: Manifest,
  texts: Readonly<Record<string, string>>,
): { readonly manifest: Manifest; readonly texts: Readonly<Record<string, string>> } {
  const ours = /^(command|setting|configuration)\./;
  const own = Object.fromEntries(Object.entries(texts).filter(([key]) => !ours.test(key)));
  const { untrustedWorkspaces } = manifest.capabilities;
  const all = settingSections.flatMap(({ settings }) => Object.entries(settings));
  const described: Record<string, string> = {};
  const configuration = settingSections.map(({ id, title, settings }, place) => {
    described[`configuration.${id}`] = title;
    return {
      ...{ id, title: `%configuration.${id}%`, order: place + 1 },
      properties: Object.fromEntries(
        Object.entries(settings).map(([key, setting], order) => [
          key,
          property(setting, { key, order: order + 1, described }),
        ]),
      ),
    };
  });
  return {
    manifest: {
      ...manifest,
      capabilities: {
        ...manifest.capabilities,
        untrustedWorkspaces: {
          ...untrustedWorkspaces,
          restrictedConfigurations: all
            .filter(([, { from }]) => from.startsWith('trusted'))
            .map(([key]) => key),
        },
      },
      contributes: {
        ...manifest.contributes,
        commands: commands.map(([id, { icon }]) => ({
          command: `${prefix}${id}`,
          title: `%command.${id}%`,
          category: 'SWT-Bench',
          ...(icon !== undefined && { icon: `$(${icon})` }),
        })),
        menus: menus(),
        keybindings: keybindings(),
        configuration,
        languageModelTools: toolContributions(),
      },
    },
    texts: {
      ...own,
      ...Object.fromEntries(commands.map(([id, { title }]) => [`command.${id}`, title])),
      ...described,
    },
  };
}

function menus(): Readonly<Record<string, readonly object[]>> {
  const found: Record<string, object[]> = {};
  for (const [id, { menus: entries = [], palette }] of commands) {
    const command = `${prefix}${id}`;
    for (const { menu, group, when } of entries) {
      (found[menu] ??= []).push({ command, when, ...(group !== '' && { group }) });
    }
    if (palette !== undefined) (found['commandPalette'] ??= []).push({ command, when: palette });
  }
  return found;
}

const keybindings = (): object[] =>
  commands.flatMap(([id, { key }]) =>
    key === undefined
      ? []
      : [
          {
            command: `${prefix}${id}`,
            key: `ctrl+; ${key.letter}`,
            mac: `cmd+; ${key.letter}`,
            when: key.when,
          },
        ],
  );

interface Place {
  readonly key: string;
  readonly order: number;
  /** Takes the texts, by their keys in package.nls.json. */
  readonly described: Record<string, string>;
}

function property({ from, ...schema }: SettingDescriptor, place: Place): SettingSchema {
  const { key, order, described } = place;
  const name = `setting.${key.slice(prefix.length)}`;
  return { order, scope: scopes[from], ...withKeys(schema, name, described) };
}

/** A schema with keys of package.nls.json in place of its texts. */
function withKeys(
  schema: SettingSchema,
  name: string,
  described: Record<string, string>,
): SettingSchema {
  const keyed = (key: string, text: string): string => {
    described[key] = text;
    return `%${key}%`;
  };
  const { description, markdownDescription, enumDescriptions, properties, items, ...rest } = schema;
  const { additionalProperties } = rest;
  const inner = (each: SettingSchema, below: string): SettingSchema =>
    withKeys(each, below, described);
  return {
    ...rest,
    ...(description !== undefined && { description: keyed(name, description) }),
    ...(markdownDescription !== undefined && {
      markdownDescription: keyed(name, markdownDescription),
    }),
    ...(enumDescriptions !== undefined && {
      enumDescriptions: enumDescriptions.map((text, index) =>
        keyed(`${name}.${String((schema['enum'] as readonly string[])[index])}`, text),
      ),
    }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, each]) => [key, inner(each, `${name}.${key}`)]),
      ),
    }),
    ...(items !== undefined && { items: inner(items, name) }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: inner(additionalProperties, name),
    }),
  };
}

/** How long a line of the manifest may be; written out in full, a third of it would be blanks. */
const lineLength = 1600;

/** A manifest as text: each value on one line where it fits. */
export function manifestText(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  const isFlat = typeof value !== 'object' || value === null;
  if (indent !== '' && (isFlat || indent.length + line.length <= lineLength)) return line;
  const within = `${indent}  `;
  const entries = Array.isArray(value)
    ? value.map((each) => manifestText(each, within))
    : Object.entries(value as object).map(
        ([key, each]) => `${JSON.stringify(key)}: ${manifestText(each, within)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${entries.map((each) => within + each).join(',\n')}\n${indent}${close}`;
}
