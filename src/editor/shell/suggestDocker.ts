import * as vscode from 'vscode';
import type { Instance } from '../../domain/instance';
import type { Engine } from '../../engine/engine';
import { containerEngine, runsInContainers } from '../../engine/engines';
import { recipeOf } from '../../environments/recipes';
import { knownRepositories } from '../../engine/runners/parseLog';
import { useEngine } from './problems';

/**
 * Suggests the docker engine, once in a workspace, when the instance's repository needs another
 * Python than the local engine has.
 */
export async function suggestDocker(
  instance: Instance,
  engine: Engine,
  folder: vscode.WorkspaceFolder,
  memory: vscode.Memento,
): Promise<void> {
  const here = engine.environment?.pythonVersion;
  if (runsInContainers(engine.name) || here === undefined) return;
  if (!knownRepositories.includes(instance.repo)) return;
  const { python } = recipeOf(instance.repo, instance.version);
  if (here === python || here.startsWith(`${python}.`)) return;
  const key = `suggestedDocker.${instance.id}`;
  if (memory.get(key, false)) return;
  await memory.update(key, true);
  const use = vscode.l10n.t('Use Docker');
  const chosen = await vscode.window.showInformationMessage(
    vscode.l10n.t(
      '{0} dates from the time of Python {1}, and the local engine has {2}: its tests may fail for that reason alone.',
      instance.id,
      python,
      here,
    ),
    use,
    vscode.l10n.t('Not Now'),
  );
  if (chosen === use) await useEngine(containerEngine, folder);
}
