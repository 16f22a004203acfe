import * as vscode from 'vscode';
import { isFailure, type TestResult } from '../../domain/outcome';
import { fileOf } from '../../domain/testId';
import { unrelatedFailure } from '../../evaluation/unrelatedFailure';
import type { RunOnR } from '../../method/tools';
import { unsafePath } from '../../patch/unsafePath';
import { generatedCommandIds } from '../shell/names';
import { escapeMarkdown, fenced } from '../shell/plainText';
import type { Turn } from './turn';

/** Maximum number of tests that are listed one by one. */
const mostTests = 20;

/**
 * Ends an answer with the candidate: the outcomes of its tests on R, the patch, and buttons. Tests
 * that have just run do not run again.
 *
 * @throws HumanError, Cancelled
 */
export async function showCandidate(turn: Turn): Promise<void> {
  const { view, stream, work } = turn;
  const patch = await work.candidate.read();
  // No progress is reported here: VS Code folds away what was written before the last report.
  const run = await view.runOnR(patch, work);
  stream.markdown(`${summaryOf(run)}\n\n`);
  for (const result of run.tests.slice(0, mostTests)) listTest(turn, result);
  if (run.tests.length > mostTests) {
    stream.markdown(`- ${vscode.l10n.t('and {0} more', run.tests.length - mostTests)}\n`);
  }
  if (run.removedTests.length > 0) {
    const names = run.removedTests.map(escapeMarkdown).join(', ');
    stream.markdown(`\n${vscode.l10n.t('Tests of R that it removes: {0}', names)}\n`);
  }
  if (run.otherFiles.length > 0) {
    const names = run.otherFiles.map(escapeMarkdown).join(', ');
    stream.markdown(`\n${vscode.l10n.t('Files outside the tests that it changes: {0}', names)}\n`);
  }
  stream.markdown(`\n${fenced(patch, 'diff')}`);
  const about = [{ patch, title: vscode.l10n.t('tests of the chat') }];
  const { preview, apply } = generatedCommandIds;
  stream.button({ command: preview, title: vscode.l10n.t('Preview'), arguments: about });
  stream.button({ command: apply, title: vscode.l10n.t('Apply'), arguments: about });
}

function summaryOf({ applies, problem, tests }: RunOnR): string {
  const why = problem === undefined ? '' : ` (${escapeMarkdown(problem)})`;
  if (!applies) return vscode.l10n.t('The tests do not apply to R{0}.', why);
  const failing = tests.filter(isFailure);
  if (tests.length === 0) return vscode.l10n.t('No test has an outcome on R{0}.', why);
  if (failing.length === 0) {
    return vscode.l10n.t('No test fails on R: they do not reproduce the issue{0}.', why);
  }
  const broken = failing.every((each) => unrelatedFailure(each) !== undefined);
  const count =
    tests.length === 1
      ? vscode.l10n.t('The test fails on R{0}.', why)
      : vscode.l10n.t('{0} of {1} tests fail on R{2}.', failing.length, tests.length, why);
  return broken
    ? `${count} ${vscode.l10n.t('The failure may be caused by the tests themselves.')}`
    : count;
}

/** Writes one line of the list: the outcome on R, the reason, and a link to the place. */
function listTest({ open, stream }: Turn, result: TestResult): void {
  const { test, outcome, exception, message } = result;
  const fails = isFailure(result);
  const first = (message ?? '').trim().split('\n')[0] ?? '';
  const why = [exception, first.slice(0, 200)].filter(Boolean).join(': ');
  const said = fails
    ? vscode.l10n.t('{0} fails on R', escapeMarkdown(test))
    : vscode.l10n.t('{0}: {1} on R', escapeMarkdown(test), outcome);
  stream.markdown(`- ${said}${fails && why !== '' ? `: ${escapeMarkdown(why)}` : ''} `);
  // Line numbers of a frame in the test count in the candidate, which is not in the workspace.
  const [place] = placesOf(result);
  if (fails && place !== undefined) {
    stream.anchor(locationOfPlace(open.folder, place), `${place.path}:${place.line}`);
  }
  stream.markdown('\n');
}

/** A line in a file of R. */
export interface PlaceOfR {
  /** Relative to the tree, and checked not to lead out of it. */
  readonly path: string;
  /** 1-based. */
  readonly line: number;
}

/**
 * Places that a failure names, the innermost first, without those in the test's own file. They come
 * from output of tests, so paths that lead out of the tree are dropped.
 */
export const placesOf = ({ test, frames = [] }: TestResult): PlaceOfR[] =>
  frames
    .toReversed()
    .filter(({ path }) => path !== fileOf(test) && unsafePath(path) === undefined)
    .map(({ path, line }) => ({ path, line }));

export const locationOfPlace = (
  folder: vscode.WorkspaceFolder,
  { path, line }: PlaceOfR,
): vscode.Location =>
  new vscode.Location(
    vscode.Uri.joinPath(folder.uri, path),
    new vscode.Position(Math.max(0, line - 1), 0),
  );
