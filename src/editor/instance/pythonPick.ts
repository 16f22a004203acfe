import * as l10n from '@vscode/l10n';
import { fittingPython, localSettings } from '../../engine/local';
import type { KnownPython } from '../shell/pythonExtension';
import type { EngineSettings } from '../shell/settings';

/** An entry of the list of interpreters. */
export interface PythonChoice {
  /** May contain the id of an icon. */
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  /** A value of the setting; `browse` lets the person look for a file. */
  readonly does: { readonly set: string } | 'browse';
}

/**
 * The interpreters to choose from: one that is made, the usual one, and those that the Python
 * extension knows.
 *
 * @param current the value of the setting
 */
export function pythonPick(
  known: readonly KnownPython[],
  { current, needed }: { readonly current: string; readonly needed: string },
): PythonChoice[] {
  const chosen = l10n.t('chosen');
  const of = (value: string): Pick<PythonChoice, 'description'> =>
    value === current ? { description: chosen } : {};
  return [
    {
      label: `$(package) ${l10n.t('Environment of the Instance')}`,
      ...of(fittingPython),
      detail: l10n.t('It is made, with Python {0} and its requirements as of its day.', needed),
      does: { set: fittingPython },
    },
    {
      label: `$(sync) ${l10n.t('As the Python Extension, or on PATH')}`,
      ...of(''),
      detail: l10n.t('Where R does not fit it, an environment is made.'),
      does: { set: '' },
    },
    ...known.map(({ path, name, version }): PythonChoice => ({
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
    { label: `$(folder-opened) ${l10n.t('Look for Another…')}`, does: 'browse' },
  ];
}

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
