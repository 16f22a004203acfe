import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { containerEngine } from '../../engine/engines';
import { mayRunTestsOfModels } from '../../method/testsOfModels';
import { settingKeys } from '../shell/names';
import { useEngine } from '../shell/problems';
import { engineSettings } from '../shell/settings';

/**
 * Who wants to run tests of a model: a person, who is asked each time, or an agent that works by
 * itself.
 */
type Asker = 'person' | 'agent';

/**
 * Whether tests that models write may run in a workspace. With the local engine the person must
 * have allowed it; a container has nothing secret that they could read.
 *
 * @throws HumanError when a setting of the engine is invalid
 */
const areAllowed = (folder: vscode.WorkspaceFolder, engine?: string): boolean =>
  mayRunTestsOfModels({
    engine: engine ?? engineSettings(folder.uri).name,
    runTestsLocally: allowsLocally(),
  });

/** The value of the setting, which no workspace can change. */
export const allowsLocally = (): boolean =>
  vscode.workspace.getConfiguration().get(settingKeys.runModelTestsLocally) === true;

/**
 * @param engine the open engine; by default that of the settings
 * @throws HumanError where tests of models may not run
 */
export function requireTestsOfModels(folder: vscode.WorkspaceFolder, engine?: string): void {
  if (areAllowed(folder, engine)) return;
  throw new HumanError(
    vscode.l10n.t(
      'Model-written tests run without isolation only if you allow it, because they run with your permissions on your files',
    ),
    vscode.l10n.t(
      'Choose docker in the setting {0}, or allow it with {1}',
      settingKeys.engine,
      settingKeys.runModelTestsLocally,
    ),
  );
}

/** The question that is on screen, for whose answer several calls may wait. */
let asking: Promise<void> | undefined;
let isDeclined = false;

/**
 * As {@link requireTestsOfModels}, but asks the person first and explains the risk. Once the person
 * has declined, calls of agents do not ask again in this window.
 *
 * @throws HumanError where tests of models may not run
 */
export async function askForTestsOfModels(
  folder: vscode.WorkspaceFolder,
  asker: Asker,
): Promise<void> {
  const mayAsk = vscode.workspace.isTrusted && (asker === 'person' || !isDeclined);
  if (!areAllowed(folder) && mayAsk) {
    asking ??= ask(folder).finally(() => (asking = undefined));
    await asking;
  }
  requireTestsOfModels(folder);
}

async function ask(folder: vscode.WorkspaceFolder): Promise<void> {
  const docker = vscode.l10n.t('Use Docker');
  const allow = vscode.l10n.t('Run Without Isolation');
  const chosen = await vscode.window.showWarningMessage(
    vscode.l10n.t('This runs model-written tests without isolation.'),
    {
      modal: true,
      detail: vscode.l10n.t(
        'With the local engine, they can read your files, the dataset with the answer, and your API keys. Docker runs them in containers, without all of these. Methods that run no tests work without either.',
      ),
    },
    docker,
    allow,
  );
  isDeclined = chosen !== docker && chosen !== allow;
  if (chosen === docker) await useEngine(containerEngine, folder);
  if (chosen === allow) {
    await vscode.workspace
      .getConfiguration()
      .update(settingKeys.runModelTestsLocally, true, vscode.ConfigurationTarget.Global);
  }
}
