/** A folder of this machine, and what stands for it where others read. */
export interface MachineFolder {
  readonly path: string;
  /** Empty for the folder that paths are relative to. */
  readonly name: string;
}

/**
 * A copy of data in which no text names the given folders. A reader on another machine has none of
 * them, and they hold names of people.
 */
export function withoutMachinePaths<T>(value: T, folders: readonly MachineFolder[]): T {
  // The longest first, since one folder may be in another.
  const known = folders
    .filter(({ path }) => path.length > 1)
    .sort((a, b) => b.path.length - a.path.length);
  return (known.length === 0 ? value : mapped(value, (text) => replaced(text, known))) as T;
}

function replaced(text: string, folders: readonly MachineFolder[]): string {
  let told = text;
  for (const { path, name } of folders) {
    const whole = path.replace(/[\\/]+$/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    // A longer name that only begins like the folder is another folder.
    told = told.replace(
      new RegExp(`${whole}(?:([\\\\/])|(?![\\w-]))`, 'g'),
      (_, after: unknown) => {
        const separator = typeof after === 'string' ? after : '';
        if (name !== '') return name + separator;
        return separator === '' ? '.' : '';
      },
    );
  }
  return told;
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => mapped(each, change));
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [change(key), mapped(each, change)]),
  );
}
