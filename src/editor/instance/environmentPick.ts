import * as l10n from '@vscode/l10n';
import { fittingPython, localSettings } from '../../engine/local';
import type { KnownPython } from '../shell/pythonExtension';
import type { EngineSettings } from '../shell/settings';

/** An entry of the list of environments. */
export interface EnvironmentChoice {
  /** May contain the id of an icon. */
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  /** A value of the setting, or what to do; nothing for a line between two kinds. */
  readonly does:
    | { readonly set: string }
    | 'browse'
    | 'create'
    | 'detect'
    | 'devContainer'
    | 'engine'
    | undefined;
}

/** What the entries say about the open instance. */
interface ShownEnvironment {
  /** The value of the setting. */
  readonly current: string;
  /** Version of Python that the instance needs. */
  readonly needed: string;
  /** Day whose packages it needs, such as 2024-03-11. */
  readonly day: string;
  /** Name of the engine, if it runs tests in containers. */
  readonly containers: string | undefined;
}

/**
 * The environments to choose from: one that is created for the instance, the default one, and those
 * that were found. An engine with containers has an image for each instance instead.
 */
export function environmentPick(
  known: readonly KnownPython[],
  { current, needed, day, containers }: ShownEnvironment,
): EnvironmentChoice[] {
  const of = (value: string): Pick<EnvironmentChoice, 'description'> =>
    value === current ? { description: l10n.t('current') } : {};
  const always: EnvironmentChoice[] = [
    { label: '', does: undefined },
    {
      label: `$(refresh) ${l10n.t('Detect Python and Docker Again')}`,
      does: 'detect',
    },
    {
      label: `$(remote-explorer) ${l10n.t('Add Dev Container to Workspace')}`,
      detail: l10n.t('Writes .devcontainer/devcontainer.json with the image of this instance.'),
      does: 'devContainer',
    },
    { label: `$(gear) ${l10n.t('Change Where Tests Run…')}`, does: 'engine' },
  ];
  if (containers !== undefined) return always.slice(1);
  return [
    {
      label: `$(package) ${l10n.t('Create Environment for This Instance')}`,
      ...of(fittingPython),
      detail: l10n.t('Creates an environment with Python {0} and packages from {1}.', needed, day),
      does: 'create',
    },
    {
      label: `$(sync) ${l10n.t('Default')}`,
      ...of(''),
      detail: l10n.t(
        'Python extension’s choice, or python3 on PATH. Creates an environment if R needs one.',
      ),
      does: { set: '' },
    },
    { label: `$(folder-opened) ${l10n.t('Browse for Interpreter…')}`, does: 'browse' },
    ...always,
    // They are found one after the other, and must not move what the user is about to click.
    ...(known.length === 0 ? [] : [{ label: l10n.t('Interpreters'), does: undefined }]),
    ...inOrder(known, needed).map(({ path, name, version }): EnvironmentChoice => ({
      label: [
        // The Python extension may not know the version yet.
        version === '' ? l10n.t('Python') : l10n.t('Python {0}', version),
        // Names of folders must not become icons.
        ...(name === '' ? [] : [`(${name.replaceAll('$(', '\\$(')})`]),
      ].join(' '),
      ...of(path),
      detail: path,
      does: { set: path },
    })),
  ];
}

/** Those with the Python that R needs first, then the newest. */
const inOrder = (known: readonly KnownPython[], needed: string): KnownPython[] => {
  const doesFit = ({ version }: KnownPython): boolean => `${version}.`.startsWith(`${needed}.`);
  return [...known].sort(
    (a, b) =>
      Number(doesFit(b)) - Number(doesFit(a)) ||
      b.version.localeCompare(a.version, 'en', { numeric: true }),
  );
};

/** What decides which Python instances of a list have. */
interface ListedInstances {
  readonly ids: readonly string[];
  /** The instance whose workspace the window has; undefined where it is no such workspace. */
  readonly open: string | undefined;
  /** The setting of the user alone; empty where there is none. */
  readonly ofUser: string;
}

/**
 * The settings of the engine for instances of a list. The Python that the workspace of an instance
 * names was made or chosen for that instance, so that others have the one of the user.
 */
export function pythonOfListed<Settings extends Pick<EngineSettings, 'values' | 'isPythonNamed'>>(
  settings: Settings,
  { ids, open, ofUser }: ListedInstances,
): Settings {
  const isOwn = open === undefined || ids.every((id) => id === open);
  if (isOwn) return settings;
  const python = ofUser === '' ? undefined : ofUser;
  const values = localSettings.with(settings.values, { python });
  return { ...settings, values, isPythonNamed: python !== undefined };
}
