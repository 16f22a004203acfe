import * as vscode from 'vscode';
import { HumanError, throwIfAborted } from '../../domain/work';
import { applyPatch } from '../../patch/applyPatch';
import { blockingLink, checkPatchPaths } from '../../patch/unsafePath';
import { parseUnified } from '../../patch/parseUnified';
import { workspaceEdit } from '../customFormat/applyCustomDiff';
import type { ChangedText } from '../customFormat/convertCustomDiff';
import { documentOf, uriIn, workspaceTree } from '../customFormat/workspaceTree';
import type { InstanceForModels } from '../tools/instanceForModels';
import { workspacePath } from '../shell/workspacePath';

type Workspace = Pick<InstanceForModels, 'folder' | 'candidatePatch' | 'textOfR'>;

/**
 * Makes the workspace R with a candidate applied, in one edit that one Undo reverts. Earlier edits,
 * saved or not, are lost. Saves the files if `files.refactoring.autoSave` says so.
 *
 * @param patch unified diff on R; empty for R itself
 * @returns paths of the changed files, and those among them whose earlier edits were replaced
 * @throws HumanError when the patch does not apply to R, writes where VS Code would act on it, or contains
 *   text that no editor holds; Cancelled before anything is changed
 */
export async function applyToWorkspace(
  open: Workspace,
  patch: string,
  signal?: AbortSignal,
): Promise<{ readonly changed: readonly string[]; readonly takenBack: readonly string[] }> {
  const after = await filesWith(open, patch);
  for (const path of after.keys()) refuseActedOn(path);
  const before = await editedPaths(open, signal);
  const tree = await workspaceTree(open.folder);
  const changes = new Map<string, ChangedText>();
  for (const path of new Set([...after.keys(), ...before])) {
    const wanted = after.has(path) ? after.get(path) : await open.textOfR(path);
    const now = await tree.read(path);
    const link = blockingLink(tree, path);
    if (link !== undefined) throw new HumanError(link.message, link.hint);
    if (now !== wanted) changes.set(path, { before: now, after: wanted });
  }
  const changed = [...changes.keys()];
  const takenBack = changed.filter((path) => before.includes(path));
  if (changed.length === 0) return { changed, takenBack };
  // From here on the workspace changes.
  throwIfAborted(signal);
  for (const [path, change] of changes) {
    // Undo restores a deleted file from the disk, so unsaved text is saved first.
    const document = documentOf(uriIn(open.folder, path));
    if (change.after === undefined && document?.isDirty === true) await document.save();
  }
  const edit = await workspaceEdit(open.folder, changes, vscode.l10n.t('Use "git apply" instead'));
  if (!(await vscode.workspace.applyEdit(edit, { isRefactoring: true }))) {
    throw new HumanError(
      vscode.l10n.t('Could not apply the candidate to the workspace'),
      vscode.l10n.t('Close its files and try again'),
    );
  }
  return { changed, takenBack };
}

/**
 * Files that VS Code or this extension acts on without asking. A model that writes them would
 * change what runs on this machine.
 */
const actedOn =
  /^(\.vscode|\.devcontainer|\.swt-bench)(\/|$)|(^|\/)\.devcontainer\.json$|\.code-workspace$/i;

function refuseActedOn(path: string): void {
  if (!actedOn.test(path)) return;
  throw new HumanError(
    vscode.l10n.t(
      'A candidate may not write {0}, because VS Code acts on it. Nothing was applied',
      path,
    ),
    vscode.l10n.t('Write tests to files of the repository'),
  );
}

/**
 * Files of R as a candidate leaves them, by path; undefined for one that it deletes.
 *
 * @throws HumanError when the patch does not apply
 */
export async function filesWith(
  open: Pick<Workspace, 'textOfR'>,
  patch: string,
): Promise<ReadonlyMap<string, string | undefined>> {
  if (patch.trim() === '') return new Map();
  const parsed = parseUnified(patch);
  const [unsafe] = checkPatchPaths(parsed);
  if (unsafe !== undefined) throw new HumanError(unsafe.message, unsafe.hint);
  const applied = await applyPatch(parsed, (path) => open.textOfR(path));
  if (applied.ok) return applied.files;
  throw new HumanError(
    vscode.l10n.t('The candidate does not apply to R ({0})', applied.problems[0]?.message ?? ''),
    vscode.l10n.t('Choose another candidate'),
  );
}

/** Paths of files that differ from R, on disk or in an editor. */
async function editedPaths(
  open: Workspace,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const paths = new Set<string>();
  for (const { oldPath, newPath } of parseUnified(await open.candidatePatch(signal)).files) {
    for (const path of [oldPath, newPath]) if (path !== null) paths.add(path);
  }
  for (const { isDirty, uri } of vscode.workspace.textDocuments) {
    if (!isDirty || uri.scheme !== 'file') continue;
    if (vscode.workspace.getWorkspaceFolder(uri) !== open.folder) continue;
    const path = workspacePath(open.folder, uri);
    if (path === undefined) continue;
    // A file that R does not have is the author's only if git sees it, as it sees those of the
    // patch.
    if ((await open.textOfR(path)) !== undefined) paths.add(path);
  }
  return [...paths];
}
