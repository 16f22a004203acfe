import { namesInWords, fileOf, functionOf } from '../../domain/testId';
import * as vscode from 'vscode';
import type { CoveredLine } from '../../domain/changeCoverage';
import { HumanError } from '../../domain/work';
import { findTests } from '../../python/tests';
import { goldenFileUri } from './comparisonDocuments';
import { lineName } from './coverageText';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';

/**
 * Lists the golden tests that run a line which the candidate misses, and opens the chosen one. Asks
 * before it reveals them.
 *
 * @throws HumanError when no golden test runs the line
 */
export async function showGoldenReach(
  open: InstanceSource & Revealing & LatestVerdict,
  line: CoveredLine,
): Promise<void> {
  const title = vscode.l10n.t('Show How Golden Tests Reach It');
  if (!(await open.reveal(title))) return;
  const reached = open.last?.result.goldenCoverage?.lines.find(
    (each) => each.change === line.change && each.line === line.line && each.path === line.path,
  );
  const where = `${line.path}, ${lineName(line)}`;
  if (reached === undefined || reached.coveredBy.length === 0) {
    throw new HumanError(
      vscode.l10n.t('{0}: no golden test runs this line by itself', where),
      line.counts.golden > 0
        ? vscode.l10n.t('It runs when the files of the golden tests are imported')
        : vscode.l10n.t('Choose a missed line: golden tests run those'),
    );
  }
  const tests = new Map<string, number>();
  for (const test of reached.coveredBy) {
    const name = functionOf(test);
    tests.set(name, (tests.get(name) ?? 0) + (reached.executions[test] ?? 0));
  }
  const chosen = await vscode.window.showQuickPick(
    [...tests].map(([test, count]) => ({
      label: namesInWords(test),
      description:
        count === 1 ? vscode.l10n.t('runs it once') : vscode.l10n.t('runs it {0} times', count),
      detail: fileOf(test),
      test,
    })),
    {
      title: vscode.l10n.t('Golden tests that run {0}', where),
      placeHolder: line.text.trim(),
    },
  );
  if (chosen !== undefined) await openGoldenTest(open, chosen.test);
}

async function openGoldenTest(open: InstanceSource, test: string): Promise<void> {
  const path = fileOf(test);
  const document = await vscode.workspace.openTextDocument(goldenFileUri(path));
  const python = await open.python();
  const found = findTests(python, document.getText(), { path }).find((each) => each.id === test);
  const line = (found?.defLine ?? 1) - 1;
  await vscode.window.showTextDocument(document, {
    preview: true,
    selection: new vscode.Range(line, 0, line, 0),
  });
}
