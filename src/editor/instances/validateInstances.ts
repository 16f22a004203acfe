import { join } from 'node:path';
import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import type { Instance } from '../../domain/instance';
import { engines } from '../../engine/engines';
import { withEngine } from '../../engine/sandbox';
import { environments } from '../../environments/environments';
import { validateOne, type Validated } from '../../validation/validate';
import { createPythonParser } from '../../python/parser';
import { SourceUnusable } from '../../repository/git';
import { parseSources } from '../../repository/source';
import { listCommandIds, settingKeys } from '../shell/names';
import { showEngineProblem, showProblem } from '../shell/problems';
import { distOf } from '../instance/warmSession';
import {
  storageFolder,
  timeoutSeconds,
  engineSettings,
  type EngineSettings,
} from '../shell/settings';
import type { Catalogue } from './catalogue';
import { chooseRepositoryFolder } from './chooseRepositoryFolder';
import {
  environmentSummary,
  withoutSource,
  validationLine,
  validationSummary,
} from './validationTexts';
import { withNotification } from '../shell/progress';
import { withoutLinkMarkup } from '../shell/plainText';
import { readMarker } from '../../repository/workspace';
import { withShellPython } from '../shell/shellPython';
import { pythonOfListed } from '../instance/environmentPick';

/** What a validation needs apart from the dataset. */
interface ValidationParts {
  readonly context: vscode.ExtensionContext;
  readonly reporter: Reporter;
  /** Read for each attempt, since the user may name another source in between. */
  readonly sources: () => readonly string[];
}

/**
 * Validates instances one at a time. Stores and lists each result as soon as it is known. Where R
 * is not available, the user may choose a folder that has it, and those instances are tried again.
 */
export async function validateInstances(
  catalogue: Catalogue,
  ids: readonly string[],
  parts: ValidationParts,
): Promise<void> {
  const { reporter } = parts;
  const results = await validateEach(catalogue, ids, parts).catch((error: unknown) => {
    showEngineProblem(error, reporter);
    return undefined;
  });
  if (results === undefined) return;
  const validations = results.map(({ validation }) => validation);
  const summary = validationSummary(validations);
  if (summary !== undefined)
    showSummary(summary.text, summary.isSound ? undefined : 'status:invalid');
  const failed = environmentSummary(validations);
  if (failed !== undefined) showSummary(failed, 'status:environment');
  const sourceless = results.filter(({ sourceProblem }) => sourceProblem !== undefined);
  const [first] = sourceless;
  if (first === undefined) return;
  const said = new HumanError(withoutSource(first.id, first.repo), first.sourceProblem?.message);
  const { sourceProblem } = first;
  if (!(sourceProblem instanceof SourceUnusable)) return showProblem(said, reporter);
  const shown = sourceProblem.brief === undefined ? said : sourceProblem;
  if (await chooseRepositoryFolder(first.repo, shown, reporter)) {
    const again = sourceless.map(({ id }) => id);
    return validateInstances(catalogue, again, parts);
  }
}

type Result = Validated & Pick<Instance, 'id' | 'repo'>;

/** Undefined when the user cancelled. */
function validateEach(
  catalogue: Catalogue,
  ids: readonly string[],
  { context, reporter, sources }: ValidationParts,
): Promise<readonly Result[] | undefined> {
  const { dataset } = catalogue;
  const storage = storageFolder();
  const assets = distOf(context.extensionPath);
  const title =
    ids.length === 1
      ? vscode.l10n.t('Validating {0}', ids[0] ?? '')
      : vscode.l10n.t('Validating {0} instances', ids.length);
  return withNotification(title, reporter, async (reporter, signal) => {
    const python = await createPythonParser((name) => join(assets, name));
    const shared = {
      python,
      sources: parseSources(sources()),
      storage,
      repetitions: repetitions(),
      timeoutSeconds: timeoutSeconds(),
      signal,
      reporter,
    };
    const settings = await engineSettingsOfListed(ids);
    const request = { ...settings, engines, environments, storage, assets, signal };
    return withEngine(request, async (engine) => {
      const results: Result[] = [];
      const instances = (await dataset?.read(ids)) ?? [];
      for (const [at, instance] of instances.entries()) {
        const counted = counting(reporter, at + 1, instances.length);
        const validated = await validateOne({ ...shared, reporter: counted, instance, engine });
        results.push({ ...validated, id: instance.id, repo: instance.repo });
        // The message of the end goes away; the log keeps each result.
        reporter.log(validationLine(validated.validation));
        await catalogue.refreshStates();
      }
      return results;
    });
  });
}

/** Reports steps with the number of the instance, where there are several. */
const counting = (reporter: Reporter, number: number, all: number): Reporter => ({
  log: (line) => reporter.log(line),
  progress: (step) =>
    reporter.progress(all === 1 ? step : vscode.l10n.t('{0} of {1}: {2}', number, all, step)),
});

/** @param filter of the instances that the text is about, where the user may want to see them */
function showSummary(text: string, filter: string | undefined): void {
  const show = vscode.l10n.t('Show');
  const answer = vscode.window.showInformationMessage(
    withoutLinkMarkup(text),
    ...(filter === undefined ? [] : [show]),
  );
  void answer.then((chosen) => {
    if (chosen === show) void vscode.commands.executeCommand(listCommandIds.filter, filter);
  });
}

function repetitions(): number {
  const set: unknown = vscode.workspace.getConfiguration().get(settingKeys.repetitions);
  return typeof set === 'number' && set >= 1 ? Math.floor(set) : 5;
}

/**
 * The settings of the engine for instances of a list, of which one may be open in this window.
 *
 * @throws HumanError naming the setting whose value is invalid
 */
export async function engineSettingsOfListed(ids: readonly string[]): Promise<EngineSettings> {
  const folder = vscode.workspace.workspaceFolders?.[0];
  const marker = folder && (await readMarker(folder.uri.fsPath));
  const set = vscode.workspace.getConfiguration().inspect(settingKeys.python);
  const ofUser = set?.globalValue;
  const settings = pythonOfListed(engineSettings(), {
    ids,
    open: marker?.id,
    ofUser: typeof ofUser === 'string' ? ofUser.trim() : '',
  });
  return withShellPython(settings);
}
