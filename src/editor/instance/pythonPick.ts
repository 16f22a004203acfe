import type * as vscode from 'vscode';
import { fittingPython } from '../../engine/local/localDescriptor';
import type { KnownPython } from '../shell/pythonExtension';

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
  l10n: typeof vscode.l10n,
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
