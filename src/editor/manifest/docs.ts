import { commandDescriptors, type CommandDescriptor } from './commands';
import { settingSections, type SettingSchema } from './settings';

/** The page of all settings. */
export function settingTables(): string {
  const sections = settingSections.map(({ title, settings }) => {
    const rows = Object.entries(settings).flatMap(([key, setting]) => [
      [`\`${key}\``, defaultOf(setting), setting.markdownDescription],
      ...Object.entries(setting.properties ?? {})
        .filter(([, each]) => each['default'] !== undefined)
        .map(([name, each]) => [`\`${name}\``, defaultOf(each), each.description ?? '']),
    ]);
    return `## ${title}\n\n${table(['Setting', 'Default', 'Description'], rows)}`;
  });
  return (
    [
      '# Settings',
      'You want to know what a setting of the extension does. They are grouped as in the settings editor. A name without `swt-bench.` is a property of the object above it.',
      ...sections,
      '',
    ]
      .join('\n\n')
      .trimEnd() + '\n'
  );
}

/** The page of all commands. */
export function commandTable(): string {
  const commands = Object.entries<CommandDescriptor>(commandDescriptors);
  const rows = commands.map(([id, { title, key }]) => [
    title,
    key === undefined ? '' : `\`Ctrl+; ${key.letter.toUpperCase()}\``,
    `\`swt-bench.${id}\``,
  ]);
  return (
    [
      '# Commands',
      'You want to find a command of the extension, or its key. In the Command Palette, each follows `SWT-Bench:`. On macOS, press `Cmd` instead of `Ctrl`.',
      table(['Command', 'Key', 'ID'], rows),
    ].join('\n\n') + '\n'
  );
}

const defaultOf = (schema: SettingSchema): string =>
  schema.properties !== undefined ? '' : `\`${JSON.stringify(schema['default'])}\``;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows]
    .map(
      (row) =>
        `| ${row.map((cell) => cell.replaceAll('|', '\\|').replaceAll(/`#([\w.-]+)#`/g, '`$1`')).join(' | ')} |`,
    )
    .join('\n');
