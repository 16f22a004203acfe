import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Reporter } from '../../domain/reporter';
import { withEngine } from '../../engine/openEngine';
import { validateOne } from '../../validation/validate';
import { createPythonParser } from '../../python/parser';
import { parseSources } from '../../repository/source';
import { listCommandIds, settingKeys } from '../shell/names';
import { showEngineProblem } from '../shell/problems';
import { distOf } from '../instance/warmSession';
import { engineSettings, storageFolder, timeoutSeconds } from '../shell/settings';
import type { Catalogue } from './catalogue';
import { withNotification } from '../shell/withNotification';
import { withoutLinkMarkup } from '../shell/withoutLinkMarkup';

/** Validates instances one at a time. Stores and lists each result as soon as it is known. */
export async function validateInstances(
  catalogue: Catalogue,
  ids: readonly string[],
  parts: {
    readonly context: vscode.ExtensionContext;
    readonly reporter: Reporter;
    readonly sources: readonly string[];
  },
): Promise<void> {
  const { dataset } = catalogue;
  if (dataset === undefined) return;
  const storage = storageFolder();
  const assets = distOf(parts.context.extensionPath);
  const unsound: string[] = [];
  const title =
    ids.length === 1
      ? vscode.l10n.t('Validating {0}', ids[0] ?? '')
      : vscode.l10n.t('Validating {0} instances', ids.length);
  const validating = withNotification(title, parts.reporter, async (reporter, signal) => {
    const parser = await createPythonParser((name) => join(assets, name));
    return withEngine({ ...engineSettings(), storage, assets, signal }, async (engine) => {
      for (const instance of await dataset.read(ids)) {
        const { validation } = await validateOne({
          instance,
          engine,
          python: parser,
          sources: parseSources(parts.sources),
          storage,
          repetitions: repetitions(),
          timeoutSeconds: timeoutSeconds(),
          signal,
          reporter,
        });
        const [reason] = validation.reasons;
        if (reason !== undefined) unsound.push(`${instance.id}: ${reason.explanation}`);
        await catalogue.refreshStates();
      }
      return true;
    });
  });
  const done = await validating.catch((error: unknown) => {
    showEngineProblem(error, parts.reporter);
    return undefined;
  });
  if (done !== true) return;
  const text =
    unsound.length === 0
      ? vscode.l10n.t('Sound: {0}', ids.length === 1 ? (ids[0] ?? '') : `${ids.length} instances`)
      : vscode.l10n.t('{0} of {1} not sound. {2}', unsound.length, ids.length, unsound[0] ?? '');
  const show = unsound.length === 0 ? undefined : vscode.l10n.t('Show Them');
  const answer = vscode.window.showInformationMessage(
    withoutLinkMarkup(text),
    ...(show === undefined ? [] : [show]),
  );
  void answer.then((chosen) => {
    if (chosen !== undefined) {
      void vscode.commands.executeCommand(listCommandIds.filter, 'status:invalid');
    }
  });
}

function repetitions(): number {
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.repetitions);
  return typeof set === 'number' && set >= 1 ? Math.floor(set) : 5;
}
