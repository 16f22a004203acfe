import * as vscode from 'vscode';
import type { Reporter } from '../../domain/work';
import { runsInContainers } from '../../engine/engines';
import { fittingPython } from '../../engine/local';
import { recipeOf } from '../../environments/recipes';
import { iconBeside } from '../shell/draw';
import type { EngineReadiness } from '../shell/engineReadiness';
import { settingKeys } from '../shell/names';
import { openSetting } from '../shell/problems';
import { knownPythons, type KnownPython } from '../shell/pythonExtension';
import { engineSettings, storageFolder } from '../shell/settings';
import { addDevContainer } from './addDevContainer';
import { environmentPick, type EnvironmentChoice } from './environmentPick';
import { findInterpreters } from './findInterpreters';
import { makeEnvironment, reopenEngine } from './makeEnvironment';
import type { OpenInstance } from './openInstance';
import { setPython, takeUp, announcePython } from './setPython';

/**
 * Lets the user choose what runs the tests of the open instance: an interpreter, which becomes that
 * of the Python extension too, or an environment that is created.
 */
export async function chooseEnvironment(
  open: OpenInstance,
  readiness: EngineReadiness,
  reporter: Reporter,
): Promise<void> {
  const scope = open.folder.uri;
  const configuration = vscode.workspace.getConfiguration(undefined, scope);
  const { repo, version, createdAt } = await open.instance();
  const { name } = engineSettings(scope);
  const chosen = await chosenFrom(
    (known) =>
      environmentPick(known, {
        current: configuration.get<string>(settingKeys.python, ''),
        needed: recipeOf(repo, version).python,
        day: createdAt.slice(0, 10),
        containers: runsInContainers(name) ? name : undefined,
      }),
    open.marker.id,
  );
  switch (chosen?.does) {
    case undefined:
      return undefined;
    case 'create':
      return makeEnvironment(open, reporter);
    case 'detect':
      return reopenEngine(open, readiness, reporter);
    case 'devContainer':
      return addDevContainer(open, reporter);
    case 'engine':
      return openSetting(settingKeys.engine);
    case 'browse': {
      const found = await lookedFor();
      return found === undefined ? undefined : usePython(found, open, reporter);
    }
    default:
      return usePython(chosen?.does.set ?? '', open, reporter);
  }
}

async function usePython(python: string, open: OpenInstance, reporter: Reporter): Promise<void> {
  await setPython(python, open, reporter);
  const said = pythonInWords(python);
  // The note of an environment that was made before would name what tests no longer run with.
  await open.environmentNotes.keep((at) => vscode.l10n.t('{0}, selected at {1}', said, at));
  announcePython(vscode.l10n.t('Tests of this instance now run with {0}.', said));
  await takeUp(open, reporter);
}

function pythonInWords(python: string): string {
  if (python === '') return vscode.l10n.t('the Python extension’s choice, or python3 on PATH');
  return python === fittingPython ? vscode.l10n.t('its own environment') : python;
}

const itemOf = (choice: EnvironmentChoice): EnvironmentChoice & vscode.QuickPickItem =>
  choice.does === undefined
    ? { ...choice, kind: vscode.QuickPickItemKind.Separator }
    : iconBeside(choice);

/** The interpreters of this machine, then also those that only the Python extension knows. */
async function* interpreters(): AsyncGenerator<readonly KnownPython[]> {
  const found = await findInterpreters(storageFolder());
  yield found;
  for await (const known of knownPythons()) {
    const others = known.filter(({ path }) => found.every((each) => each.path !== path));
    yield [...found, ...others];
  }
}

/** Shows the list at once, and adds what the Python extension finds: its search may take long. */
async function chosenFrom(
  choices: (known: readonly KnownPython[]) => EnvironmentChoice[],
  instance: string,
): Promise<EnvironmentChoice | undefined> {
  const box = vscode.window.createQuickPick<EnvironmentChoice>();
  box.title = vscode.l10n.t('Environment of {0}', instance);
  box.placeholder = vscode.l10n.t('Searching for interpreters…');
  box.matchOnDetail = true;
  box.busy = true;
  box.items = choices([]).map(itemOf);
  let isOpen = true;
  const chosen = new Promise<EnvironmentChoice | undefined>((resolve) => {
    box.onDidAccept(() => resolve(box.selectedItems[0]));
    box.onDidHide(() => resolve(undefined));
  });
  const search = async (): Promise<void> => {
    for await (const known of interpreters()) {
      if (!isOpen) return;
      const [active] = box.activeItems;
      box.items = choices(known).map(itemOf);
      // The entry under the cursor stays so, since the user may be about to choose it.
      const same = box.items.filter(
        ({ label, detail }) => label === active?.label && detail === active.detail,
      );
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
    openLabel: vscode.l10n.t('Use for Tests'),
  });
  return found?.[0]?.fsPath;
}
