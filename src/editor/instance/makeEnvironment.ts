import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import { runsInContainers } from '../../engine/engines';
import { instanceEnvironment } from '../../environments/virtual/instanceEnvironment';
import { settingKeys } from '../shell/names';
import { engineSettings, storageFolder } from '../shell/settings';
import { stepBeside } from '../shell/stepBeside';
import { withNotification } from '../shell/withNotification';
import { withoutLinkMarkup } from '../shell/withoutLinkMarkup';
import { versionsFirst } from './instanceRows';
import type { OpenInstance } from './openInstance';
import { setPython, takeUp, tellNewPython } from './selectPython';

/** Makes the virtual environment of the open instance, and lets its tests run with it. */
export async function makeEnvironment(open: OpenInstance, reporter: Reporter): Promise<void> {
  const scope = open.folder.uri;
  const { name } = engineSettings(scope);
  if (runsInContainers(name)) {
    throw new HumanError(
      vscode.l10n.t(
        'The {0} engine has an image for each instance, and needs no environment',
        name,
      ),
      vscode.l10n.t('Set {0} to local to use one', settingKeys.engine),
    );
  }
  const notes = open.environmentNotes;
  const { step } = notes;
  if (step !== undefined) {
    // A second one would only wait for the first, so this is its end too.
    const said = vscode.l10n.t('The environment is being made already: {0}', step);
    void vscode.window.showInformationMessage(withoutLinkMarkup(said));
    return notes.settled();
  }
  const title = vscode.l10n.t('Environment of {0}', open.marker.id);
  const made = await notes.during(title, (tell) =>
    withNotification(title, reporter, async (shown, signal) =>
      instanceEnvironment(
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
  // The name of its folder tells a person less than its versions do.
  const runsWith = open.environment;
  await notes.keep((at) =>
    runsWith === undefined
      ? vscode.l10n.t('Made at {0}: {1}', at, python)
      : vscode.l10n.t('{0}, made at {1}: {2}', versionsFirst(runsWith), at, python),
  );
  tellNewPython(
    vscode.l10n.t('The environment is made, and tests run with it: {0}', runsWith ?? python),
  );
}

const tellingBoth = (reporter: Reporter, tell: (step: string) => void): Reporter => ({
  log: (line) => reporter.log(line),
  progress: (step) => {
    reporter.progress(step);
    tell(step);
  },
});
