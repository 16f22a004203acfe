import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { afterAWhile } from '../shell/progress';
import { furtherFormats } from '../../patch/patchFormats';
import { toUnified, type Conversion } from '../../patch/toUnified';
import type { Diagnostic } from '../../patch/diagnostic';
import type { PythonParser } from '../../python/parser';
import { documentName, type DiffInEditor } from './diffInEditor';
import { folderOf, workspaceTree, type WorkspaceTree } from './workspaceTree';

/** A custom diff converted to changes of the workspace. */
export interface ConvertedDiff {
  readonly diff: DiffInEditor;
  readonly conversion: Conversion;
  readonly tree: WorkspaceTree;
  /** The files that the diff changes, by path. */
  readonly files: ReadonlyMap<string, ChangedText>;
}

/** Text of a file before and after; undefined where the file does not exist. */
export interface ChangedText {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/**
 * Converts a custom diff for the workspace folder that it belongs to.
 *
 * @param signal aborts when the caller no longer needs the result; without it, a notification lets
 * the user cancel
 * @throws HumanError with the text of the first error, or when no folder is open; Cancelled
 */
export async function convertCustomDiff(
  diff: DiffInEditor,
  python: PythonParser,
  signal?: AbortSignal,
): Promise<ConvertedDiff> {
  const folder = folderOf(diff.document.uri);
  if (folder === undefined) {
    throw new HumanError(
      vscode.l10n.t(
        '{0} changes files in a folder, but no folder is open',
        documentName(diff.document),
      ),
      vscode.l10n.t('Open the folder that holds the repository'),
    );
  }
  const tree = await workspaceTree(folder);
  const work = (ends: AbortSignal): Promise<Conversion> =>
    toUnified(diff.text, {
      ...{ format: 'custom', formats: furtherFormats, tree, python, signal: ends },
    });
  const conversion =
    signal === undefined
      ? await afterAWhile(vscode.l10n.t('Reading {0}', documentName(diff.document)), work)
      : await work(signal);
  const errors = conversion.diagnostics.filter((each) => each.severity === 'error');
  const [first] = errors;
  if (first !== undefined) throw refusal(diff, first, errors.length - 1);
  const files = new Map<string, ChangedText>();
  for (const [path, after] of conversion.files) {
    const before = await tree.read(path);
    if (before !== after) files.set(path, { before, after });
  }
  if (files.size === 0) {
    throw new HumanError(
      vscode.l10n.t(
        '{0} changes nothing: the files already contain its code',
        documentName(diff.document),
      ),
      vscode.l10n.t('Edit its blocks'),
    );
  }
  return { diff, conversion, tree, files };
}

/** The engine's text of the first error, with its place in the document. */
function refusal(diff: DiffInEditor, first: Diagnostic, others: number): HumanError {
  const more =
    others === 0 ? '' : others === 1 ? ' (and 1 more error)' : ` (and ${others} more errors)`;
  return new HumanError(
    vscode.l10n.t(
      '{0}, line {1}: {2}{3}',
      documentName(diff.document),
      first.line,
      first.message,
      more,
    ),
    first.hint ?? vscode.l10n.t('See the Problems view'),
  );
}

/** The first line (0-based) of the new text that differs, or that follows removed lines. */
export function firstChange(before: string | undefined, after: string | undefined): number {
  const [old, now] = [(before ?? '').split('\n'), (after ?? '').split('\n')];
  const differs = now.findIndex((line, i) => line !== old[i]);
  return differs === -1 ? Math.max(0, now.length - 1) : differs;
}

/** Number of warnings as the end of a message; empty when there are none. */
export function warningsIn({ conversion }: ConvertedDiff): string {
  const n = conversion.diagnostics.filter((each) => each.severity === 'warning').length;
  if (n === 0) return '';
  return n === 1
    ? vscode.l10n.t('1 warning: see the Problems view.')
    : vscode.l10n.t('{0} warnings: see the Problems view.', n);
}
