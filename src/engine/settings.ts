import { HumanError } from '../domain/work';

/**
 * How a command line writes a value: `size` in MiB or as `4g`, `list` as words between commas, a
 * `switch` without a value. For `list` and `text or none`, `none` stands for an empty value.
 */
export type Writing = 'text' | 'text or none' | 'number' | 'size' | 'list' | 'switch';

interface Values {
  readonly string: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly strings: readonly string[];
}

/**
 * One setting of an engine: the option of the command line, the setting of the editor, the check of
 * a value and the help follow from it. It has no schema of the validation library, which a window
 * does without until an instance opens.
 */
interface Setting {
  /** Name of the setting of the editor, after the prefix of its group; by default its key. */
  readonly setting?: string;
  readonly type: keyof Values;
  /** Absent where a setting may have no value. */
  readonly default?: Values[keyof Values];
  readonly minimum?: number;
  /** What a text, or each of several, must be like. */
  readonly pattern?: RegExp;
  /** What to write instead of a value that cannot be used. */
  readonly expected: string;
  /** The option of the command line; undefined for settings that only the editor has. */
  readonly option?: {
    /** In camel case: `dockerHost` for `--docker-host`. */
    readonly name: string;
    readonly argument: string;
    readonly description: string;
    readonly writing: Writing;
    /** The default in words, where the value alone would not explain it; empty to leave it out. */
    readonly byDefault?: string;
  };
}

export type SettingTable = Readonly<Record<string, Setting>>;

type ValueOf<S extends Setting> =
  | Values[S['type']]
  | (S extends { readonly default: unknown } ? never : undefined);

/** The values of all settings of a group. */
export type ValuesOf<Table extends SettingTable> = {
  readonly [Key in keyof Table]: ValueOf<Table[Key]>;
};

/** Values of the settings of several groups, by the names of their engines. */
export type EngineValues = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** A setting with its names. */
export interface NamedSetting extends Setting {
  readonly key: string;
  /** Its id in VS Code, such as `swt-bench.docker.limits.memory`. */
  readonly id: string;
  /** Its key in the configuration file, below the engine's name. */
  readonly fileKey: string;
  /** Such as `--docker-host`; undefined where it has no option. */
  readonly flag: string | undefined;
}

/** The settings that belong to one engine. Others may take them as well. */
export class SettingGroup<Table extends SettingTable = SettingTable> {
  /** In the order of the options. */
  readonly all: readonly NamedSetting[];

  /**
   * @param engine name of the engine that they belong to
   * @param prefix of their ids in VS Code
   */
  constructor(
    readonly engine: string,
    prefix: string,
    table: Table,
  ) {
    this.all = Object.entries(table).map(([key, setting]) => ({
      ...setting,
      ...{ key, id: `${prefix}${setting.setting ?? key}` },
      fileKey: setting.setting?.split('.').at(-1) ?? key,
      flag: setting.option === undefined ? undefined : flagOf(setting.option.name),
    }));
  }

  named(key: keyof Table): NamedSetting {
    const found = this.all.find((each) => each.key === key);
    if (found === undefined) throw new Error(`${this.engine} has no setting ${String(key)}`);
    return found;
  }

  /**
   * Checks the values that the user gave, and fills in defaults for all others.
   *
   * @param nameOf the name under which the user knows a setting
   * @throws HumanError naming the first that cannot be used, and what can
   */
  read(
    given: Readonly<Record<string, unknown>> = {},
    nameOf: (setting: NamedSetting) => string = ({ id }) => id,
  ): ValuesOf<Table> {
    const values = this.all.map((setting) => {
      const value = given[setting.key] ?? setting.default;
      if (value !== undefined && !fits(setting, value)) {
        throw new HumanError(
          `${nameOf(setting)} has the invalid value ${JSON.stringify(value) ?? 'nothing'}`,
          setting.expected,
        );
      }
      return [setting.key, value] as const;
    });
    return Object.fromEntries(values) as ValuesOf<Table>;
  }

  /** The values of this group among those of all. */
  in(values: EngineValues | undefined): ValuesOf<Table> {
    return (values?.[this.engine] as ValuesOf<Table> | undefined) ?? this.read();
  }

  /** The values of all groups with some of this one changed. */
  with(values: EngineValues, changed: Partial<ValuesOf<Table>>): EngineValues {
    return { ...values, [this.engine]: { ...this.in(values), ...changed } };
  }

  /** Names the setting and the option that raise a limit: `swt-bench.docker.limits.memory (--memory)`. */
  whereToRaise(limit: keyof Table): string {
    const { id, flag } = this.named(limit);
    return flag === undefined ? id : `${id} (${flag})`;
  }
}

function fits({ type, minimum = -Infinity, pattern }: Setting, value: unknown): boolean {
  const isText = (each: unknown): boolean =>
    typeof each === 'string' && (pattern === undefined || pattern.test(each));
  switch (type) {
    case 'string':
      return isText(value);
    case 'strings':
      return Array.isArray(value) && value.every(isText);
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
      return Number.isInteger(value) && (value as number) >= minimum;
    case 'number':
      return Number.isFinite(value) && (value as number) >= minimum;
  }
}

const flagOf = (name: string): string =>
  `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Writes a value as its option takes it. */
export function asArgument(value: unknown, writing: Writing): string {
  const text = Array.isArray(value) ? value.join(',') : String(value);
  if (writing === 'size') return `${text}m`;
  return (writing === 'list' || writing === 'text or none') && text === '' ? 'none' : text;
}

/** The options that pass on values, as a command line has them. */
export function argumentsOf(group: SettingGroup, values: EngineValues): string[] {
  const of = group.in(values) as Readonly<Record<string, unknown>>;
  return group.all.flatMap((setting) => {
    const { key, flag, option } = setting;
    const value = of[key];
    if (flag === undefined || option === undefined || isUnset(value, setting)) return [];
    return option.writing === 'switch' ? [flag] : [flag, asArgument(value, option.writing)];
  });
}

/** Whether a value says nothing: none, a switch that is off, and an empty list where that is usual. */
const isUnset = (value: unknown, { default: byDefault }: Setting): boolean =>
  value === undefined ||
  value === false ||
  (Array.isArray(value) &&
    Array.isArray(byDefault) &&
    value.length === 0 &&
    byDefault.length === 0);
