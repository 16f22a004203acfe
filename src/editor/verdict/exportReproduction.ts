import { isReproduction } from '../../evaluation/candidateResult';
import { realpath } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import {
  exportedFiles,
  whatIsAt,
  writeExport,
  type Reproduction,
} from '../../results/reproduction';
import { pathsOutsideTests } from '../../patch/testFiles';
import { parseUnified } from '../../patch/parseUnified';
import { currentVerdict, isStill } from './currentVerdict';
import { withoutLinkMarkup } from '../shell/plainText';
import type { OpenInstance } from '../instance/openInstance';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import type { Evaluated } from './evaluated';
import { afterAWhile } from '../shell/progress';
import { showProblem } from '../shell/problems';
import { storageFolder } from '../shell/settings';
import { confirm } from '../shell/confirm';

/** How many edits during the export restart it before it gives up. */
const attempts = 3;

/**
 * Writes the candidate as a patch, as a prediction and as a note to a folder that the user
 * chooses. The result is called a reproduction only if the current candidate is one. The saved
 * workspace runs unless the last verdict is about exactly it, and is checked again before anything
 * is written.
 *
 * @param chosen the folder, if known; otherwise the user is asked
 * @returns the folder of the export, and what it holds; undefined when the user cancelled
 * @throws HumanError when there is nothing to export, when running or writing fails, or when edits
 * kept interrupting it
 */
export async function exportReproduction(
  open: OpenInstance,
  reporter: Reporter,
  chosen?: vscode.Uri,
): Promise<{ readonly folder: string; readonly isReproduction: boolean } | undefined> {
  let parent = chosen;
  let accepted: string | undefined;
  let acceptedPaths = '';
  for (let attempt = 0; attempt < attempts; attempt++) {
    const evaluated = await currentVerdict(open, reporter, {
      title: vscode.l10n.t('Running the tests before the export'),
      complete: true,
    });
    if (evaluated === undefined) return undefined;
    const reproduction = await describe(open, evaluated);
    const exported = exportedFiles(reproduction);
    const { strict } = evaluated.result;
    // Asks again only when the reason differs from the one that the user accepted.
    if (!isReproduction(evaluated.result) && accepted !== strict.explanation) {
      if (!(await mayExport(strict.reason, strict.explanation))) return undefined;
      accepted = strict.explanation;
    }
    const paths = pathsOutsideTests(parseUnified(evaluated.result.patch)).join(', ');
    if (paths !== acceptedPaths) {
      if (!(await mayExportWith(paths))) return undefined;
      acceptedPaths = paths;
    }
    parent ??= await chooseFolder();
    if (parent === undefined) return undefined;
    await checkFolder(open, parent);
    if (!(await mayReplace(join(parent.fsPath, exported.folder)))) return undefined;
    // The workspace may have changed during questions and runs.
    const looking = vscode.l10n.t('Reading the changes in {0}', open.folder.name);
    if (!(await afterAWhile(looking, () => isStill(open, evaluated)))) continue;
    const folder = await writeExport(parent.fsPath, exported);
    showExported(open, reporter, parent, { folder, note: exported.note, reproduction }).catch(
      (error: unknown) => showProblem(error, reporter),
    );
    return { folder, isReproduction: isReproduction(evaluated.result) };
  }
  throw new HumanError(
    vscode.l10n.t('The tests were edited during the export'),
    vscode.l10n.t('Export again'),
  );
}

/** A verdict with the further facts of its note. */
export async function describe(
  open: Revealing & InstanceSource & LatestVerdict,
  evaluated: Evaluated,
): Promise<Reproduction> {
  const { repo, baseCommit } = await open.instance();
  const { result, evaluatedAt, milliseconds } = evaluated;
  const { environment, revealed, wasRevealed } = open;
  return {
    result,
    repo,
    baseCommit,
    evaluatedAt,
    milliseconds,
    environment,
    revealed,
    wasRevealed,
    folders: [
      { path: open.folder.uri.fsPath, name: '' },
      { path: await realpath(open.folder.uri.fsPath).catch(() => ''), name: '' },
      { path: storageFolder(), name: 'STORAGE' },
      { path: tmpdir(), name: 'TEMPORARY' },
      { path: homedir(), name: '~' },
    ],
  };
}

/** Asks whether to export a candidate that is not a success. */
function mayExport(reason: string, explanation: string): Promise<boolean> {
  const marked = vscode.l10n.t(
    'File names, prediction and summary are marked as not a reproduction.',
  );
  return confirm(
    vscode.l10n.t('This exports a candidate that is not a reproduction: {0}.', reason),
    vscode.l10n.t('Export Anyway'),
    `${explanation}\n\n${marked}`,
  );
}

/** Asks whether edits outside tests are meant to be part of the candidate. */
async function mayExportWith(paths: string): Promise<boolean> {
  if (paths === '') return true;
  return confirm(
    vscode.l10n.t('This exports edits outside the tests: {0}.', paths),
    vscode.l10n.t('Export with These Edits'),
    vscode.l10n.t('Revert them unless the tests need them. The summary lists them.'),
  );
}

async function chooseFolder(): Promise<vscode.Uri | undefined> {
  const [folder] =
    (await vscode.window.showOpenDialog({
      canSelectFiles: false,
      canSelectFolders: true,
      // The workspace may be in the storage of the extension, where nobody finds a file again.
      defaultUri: vscode.Uri.file(homedir()),
      openLabel: vscode.l10n.t('Export Here'),
      title: vscode.l10n.t('Export Folder'),
    })) ?? [];
  return folder;
}

/**
 * @throws HumanError when the export would become edits of the candidate, or when the folder cannot
 * be written
 */
async function checkFolder(open: InstanceSource, parent: vscode.Uri): Promise<void> {
  if (parent.scheme !== 'file') {
    throw new HumanError(
      vscode.l10n.t('{0} is not on the machine where the tests run', parent.toString(true)),
      vscode.l10n.t('Choose another folder'),
    );
  }
  const resolved = async (path: string): Promise<string> => realpath(path).catch(() => path);
  const workspace = await resolved(open.folder.uri.fsPath);
  const folder = await resolved(parent.fsPath);
  if (folder === workspace || folder.startsWith(workspace + sep)) {
    throw new HumanError(
      vscode.l10n.t('An export inside the workspace would become part of the candidate'),
      vscode.l10n.t('Choose a folder outside the workspace'),
    );
  }
}

/** Asks before an older export is replaced. */
async function mayReplace(folder: string): Promise<boolean> {
  if ((await whatIsAt(folder)) !== 'an export') return true;
  return confirm(
    vscode.l10n.t('This replaces the export in {0}.', folder),
    vscode.l10n.t('Replace'),
  );
}

/** Shows what was written and offers next steps. */
async function showExported(
  open: OpenInstance,
  reporter: Reporter,
  parent: vscode.Uri,
  written: { readonly folder: string; readonly note: string; readonly reproduction: Reproduction },
): Promise<void> {
  const { folder, note, reproduction } = written;
  const openNote = vscode.l10n.t('Open Summary');
  const withLines = vscode.l10n.t('Reveal and Add ΔC by Line…');
  const text = isReproduction(reproduction.result)
    ? vscode.l10n.t('Exported the reproduction to {0}', folder)
    : vscode.l10n.t('Exported to {0}, marked as not a reproduction', folder);
  // The message goes away; the log keeps where the export is.
  reporter.log(text);
  const chosen = await vscode.window.showInformationMessage(
    withoutLinkMarkup(text),
    openNote,
    ...(reproduction.revealed ? [] : [withLines]),
  );
  if (chosen === openNote) {
    const uri = vscode.Uri.file(join(folder, note));
    await vscode.commands.executeCommand('markdown.showPreview', uri);
  }
  if (chosen === withLines && (await open.reveal(withLines))) {
    await exportReproduction(open, reporter, parent);
  }
}
