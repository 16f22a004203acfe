import * as vscode from 'vscode';
import { HumanError, orCancelled, type Reporter } from '../../domain/work';
import { runsInContainers } from '../../engine/engines';
import { environments } from '../../environments/environments';
import { settingKeys } from '../shell/names';
import { engineSettings, storageFolder } from '../shell/settings';
import { stepBeside, withoutLinkMarkup } from '../shell/plainText';
import { withNotification } from '../shell/progress';
import type { OpenInstance } from './openInstance';
import { setPython, takeUp, announcePython } from './setPython';
import type { EngineReadiness } from '../shell/engineReadiness';
import { forgetShellPython } from '../shell/shellPython';

/** Makes the virtual environment of the open instance, and lets its tests run with it. */
export async function makeEnvironment(open: OpenInstance, reporter: Reporter): Promise<void> {
  const scope = open.folder.uri;
  const { name } = engineSettings(scope);
  if (runsInContainers(name)) {
    throw new HumanError(
      vscode.l10n.t(
        'The {0} engine uses an image for each instance and needs no environment',
        name,
      ),
      vscode.l10n.t('Set {0} to local to use one', settingKeys.engine),
    );
  }
  const notes = open.environmentNotes;
  const { step } = notes;
  if (step !== undefined) {
    // A second one would only wait for the first, so this is its end too.
    const said = vscode.l10n.t('The environment is already being created: {0}', step);
    void vscode.window.showInformationMessage(withoutLinkMarkup(said));
    return notes.settled();
  }
  const title = vscode.l10n.t('Environment of {0}', open.marker.id);
  const made = await notes.during(title, (tell) =>
    withNotification(title, reporter, async (shown, signal) =>
      environments.virtualEnvironment(
        {
          instance: await open.instance(),
          tree: (await open.trees()).base,
          storage: storageFolder(),
          isForPerson: true,
        },
        { reporter: tellingBoth(shown, (each) => tell(stepBeside(title, each))), signal },
      ),
    ),
  );
  if (made === undefined) return;
  const python = made.interpreter;
  await setPython(python, open, reporter);
  await takeUp(open, reporter);
  // The name of its folder tells the user less than its versions do.
  const runsWith = open.environment;
  await notes.keep((at) =>
    runsWith === undefined
      ? vscode.l10n.t('Created at {0}: {1}', at, python)
      : vscode.l10n.t('{0}, created at {1}: {2}', runsWith, at, python),
  );
  announcePython(
    vscode.l10n.t("Tests now use this instance's own environment: {0}", runsWith ?? python),
  );
}

const tellingBoth = (reporter: Reporter, tell: (step: string) => void): Reporter => ({
  log: (line) => reporter.log(line),
  progress: (step) => {
    reporter.progress(step);
    tell(step);
  },
});

/**
 * Opens the engine of the open instance again, and says what it found.
 *
 * @throws HumanError when the engine is not available
 */
export async function reopenEngine(
  { runs, environmentNotes }: OpenInstance,
  readiness: EngineReadiness,
  reporter: Reporter,
): Promise<void> {
  const found = await withNotification(
    vscode.l10n.t('Detecting Python or Docker'),
    reporter,
    async (shown, signal) => {
      forgetShellPython();
      // Views wait for the check too, so it continues when the user gives up.
      await orCancelled(readiness.check(), signal);
      if (readiness.problem !== undefined) throw new HumanError(readiness.problem.text);
      return runs.reopenEngine({ reporter: shown, signal });
    },
  );
  if (found === undefined) return;
  await environmentNotes.keep((at) => vscode.l10n.t('Detected at {0}: {1}', at, found));
  void vscode.window.showInformationMessage(vscode.l10n.t('Tests run with {0}', found));
}
