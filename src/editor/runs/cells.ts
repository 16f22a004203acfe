import { access } from 'node:fs/promises';
import { basename, dirname, join, relative, isAbsolute } from 'node:path';
import * as vscode from 'vscode';
import type { CellName } from '../../dashboard/protocol';
import { HumanError } from '../../domain/problem';
import type { RunEntry } from '../../domain/study/entry';
import type { RunLibrary } from './library';

/** A candidate of a run with the folder of its report. */
export interface FoundCell {
  readonly entry: RunEntry;
  /** `…/run_instance_swt_logs/<run>/<model>/<instance>`. */
  readonly folder: string;
}

/** @throws HumanError when the run is not listed any more or says nothing of the candidate */
export function findCell(library: RunLibrary, cell: CellName): FoundCell {
  const run = library.run(cell.run);
  const entry = run?.entries.find(
    ({ instance, model, sample }) =>
      instance === cell.instance && model === cell.model && sample === cell.sample,
  );
  if (run?.folder === undefined || entry?.report === undefined) {
    throw new HumanError(
      vscode.l10n.t('{0} of {1} has no report', cell.instance, cell.run),
      vscode.l10n.t('Run "SWT-Bench: Refresh Runs"'),
    );
  }
  const report = join(run.folder, entry.report);
  const inside = relative(run.folder, report);
  // The journal comes from outside: it names files of its own folder and no others.
  if (inside.startsWith('..') || isAbsolute(inside)) {
    throw new HumanError(
      vscode.l10n.t('{0} names a report outside of its folder', cell.run),
      vscode.l10n.t('Evaluate it again'),
    );
  }
  return { entry, folder: dirname(report) };
}

/** What the tests of a candidate printed: both sides beside each other, or the one that there is. */
export async function showLog(found: FoundCell): Promise<void> {
  const { entry, folder } = found;
  const [run, model] = [dirname(dirname(folder)), basename(dirname(folder))];
  const of = (prefix: string): string =>
    join(run, `${prefix}${model}`, basename(folder), 'test_output.txt');
  const [base, fixed] = [of('pred_pre__'), of('pred_post__')];
  const there = await Promise.all([base, fixed].map(exists));
  if (there[0] === true && there[1] === true) {
    await vscode.commands.executeCommand(
      'vscode.diff',
      vscode.Uri.file(base),
      vscode.Uri.file(fixed),
      vscode.l10n.t('Output of {0} (R ↔ R∘X*)', entry.instance),
    );
    return;
  }
  const log = there[0] === true ? base : there[1] === true ? fixed : join(folder, 'report.json');
  await showFile(log);
}

/** The candidate as it was predicted. */
export async function showCellCandidate(found: FoundCell): Promise<void> {
  await showFile(join(found.folder, 'model_patch.diff'), 'diff');
}

async function showFile(path: string, language?: string): Promise<void> {
  if (!(await exists(path))) {
    throw new HumanError(
      vscode.l10n.t('{0} is not there', path),
      vscode.l10n.t('It may have been removed since: evaluate the candidate again'),
    );
  }
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
  if (language !== undefined) await vscode.languages.setTextDocumentLanguage(document, language);
  await vscode.window.showTextDocument(document, {
    preview: true,
    viewColumn: vscode.ViewColumn.Beside,
  });
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
