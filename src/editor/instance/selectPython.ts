import * as vscode from 'vscode';
import { messageOf, type Reporter } from '../../domain/work';
import { recipeOf } from '../../environments/recipes';
import { fittingPython } from '../../engine/local';
import { afterAWhile } from '../shell/progress';
import { iconBeside } from '../shell/draw';
import { commandIds, settingKeys } from '../shell/names';
import { choosePython, knownPythons, type KnownPython } from '../shell/pythonExtension';
import { withoutLinkMarkup } from '../shell/plainText';
import type { OpenInstance } from './openInstance';
import { pythonPick, type PythonChoice } from './pythonPick';

/**
 * Lets the person choose the interpreter for tests of the open instance. A choice of an interpreter
 * becomes that of the Python extension too.
 */
export async function selectPython(open: OpenInstance, reporter: Reporter): Promise<void> {
  const scope = open.folder.uri;
  const configuration = vscode.workspace.getConfiguration(undefined, scope);
  const { repo, version } = await open.instance();
  const chosen = await chosenFrom(
    (known) =>
      pythonPick(known, {
        current: configuration.get<string>(settingKeys.python, ''),
        needed: recipeOf(repo, version).python,
      }),
    open.marker.id,
  );
  if (chosen === undefined) return;
  const python = chosen.does === 'browse' ? await lookedFor() : chosen.does.set;
  if (python === undefined) return;
  await setPython(python, open, reporter);
  const said = pythonInWords(python);
  // The note of an environment that was made before would name what tests no longer run with.
  await open.environmentNotes.keep((at) => vscode.l10n.t('{0}, chosen at {1}', said, at));
  tellNewPython(vscode.l10n.t('Tests of this instance now run with {0}', said));
  await takeUp(open, reporter);
}

/**
 * Opens the sandboxes with the interpreter that is set now, so that the view names its environment
 * and forgets a verdict of another one. An interpreter that does not work is left to the next run,
 * which says why.
 */
export async function takeUp(open: OpenInstance, reporter: Reporter): Promise<void> {
  try {
    const title = vscode.l10n.t('Opening the sandboxes with the new environment');
    await afterAWhile(title, (signal) => open.runs.warmUp(signal));
  } catch (error) {
    reporter.log(`${open.marker.id}: ${messageOf(error)}`);
  }
}

function pythonInWords(python: string): string {
  if (python === '') return vscode.l10n.t('the Python of the Python extension, or on PATH');
  return python === fittingPython ? vscode.l10n.t('an environment made for it') : python;
}

/** Says what tests run with from now on, and offers to run them. */
export function tellNewPython(said: string): void {
  const reproduce = vscode.l10n.t('Reproduce');
  void vscode.window.showInformationMessage(withoutLinkMarkup(said), reproduce).then((chosen) => {
    if (chosen === reproduce) void vscode.commands.executeCommand(commandIds.reproduce);
  });
}

/** Shows the list at once, and adds what the Python extension finds: its search may take long. */
async function chosenFrom(
  choices: (known: readonly KnownPython[]) => PythonChoice[],
  instance: string,
): Promise<PythonChoice | undefined> {
  const box = vscode.window.createQuickPick<PythonChoice>();
  box.title = vscode.l10n.t('Python for the Tests of {0}', instance);
  box.placeholder = vscode.l10n.t('Looking for Python');
  box.matchOnDetail = true;
  box.busy = true;
  box.items = choices([]).map(iconBeside);
  let isOpen = true;
  const chosen = new Promise<PythonChoice | undefined>((resolve) => {
    box.onDidAccept(() => resolve(box.selectedItems[0]));
    box.onDidHide(() => resolve(undefined));
  });
  const search = async (): Promise<void> => {
    for await (const known of knownPythons()) {
      if (!isOpen) return;
      const [active] = box.activeItems;
      box.items = choices(known).map(iconBeside);
      // The entry under the cursor stays so, since the person may be about to choose it.
      const same = box.items.filter(({ label }) => label === active?.label);
      if (same.length > 0) box.activeItems = same;
    }
    if (!isOpen) return;
    box.busy = false;
    box.placeholder = '';
  };
  box.show();
  void search();
  try {
    return await chosen;
  } finally {
    isOpen = false;
    box.dispose();
  }
}

async function lookedFor(): Promise<string | undefined> {
  const found = await vscode.window.showOpenDialog({
    title: vscode.l10n.t('Python Interpreter'),
    openLabel: vscode.l10n.t('Run Tests with It'),
  });
  return found?.[0]?.fsPath;
}

/** Sets the interpreter of an instance's tests, here and in the Python extension. */
export async function setPython(
  python: string,
  open: OpenInstance,
  reporter: Reporter,
): Promise<void> {
  const scope = open.folder.uri;
  await vscode.workspace
    .getConfiguration(undefined, scope)
    .update(
      settingKeys.python,
      python === '' ? undefined : python,
      vscode.ConfigurationTarget.WorkspaceFolder,
    );
  if (python === '' || python === fittingPython) return;
  await choosePython(python, scope).catch((error: unknown) => {
    // The tests of this extension run with it all the same.
    reporter.log(`the Python extension did not take ${python}: ${String(error)}`);
  });
}
