import { HumanError } from '../../domain/work';
import { makeUnified, type FileEdit } from '../../patch/makeUnified';
import { parseUnified } from '../../patch/parseUnified';
import type { FilePatch } from '../../patch/parsedPatch';
import { l10n } from 'vscode';
import { workspaceTree } from '../customFormat/workspaceTree';
import type { InstanceForModels } from '../tools/instanceForModels';
import { unsavedIn } from './saveEdits';
import { workspacePath } from '../shell/workspacePath';

/**
 * The workspace as a patch on R, including unsaved edits of its editors. Saves nothing.
 *
 * @throws HumanError when an editor writes a file in an encoding that a patch cannot express
 */
export async function patchOfEditors(
  open: InstanceForModels,
  signal?: AbortSignal,
): Promise<string> {
  const saved = await open.candidatePatch(signal);
  const unsaved = new Set<string>();
  const parts = parseUnified(saved).files;
  const inPatch = new Set(parts.flatMap(pathsOf));
  for (const document of unsavedIn(open)) {
    const path = workspacePath(open.folder, document.uri);
    if (path === undefined) continue;
    // A file in neither R nor the patch is one that git ignores, such as settings of the workspace.
    const isCandidates = inPatch.has(path) || (await open.textOfR(path)) !== undefined;
    if (!isCandidates) continue;
    if (!/^utf-?8/i.test(document.encoding)) {
      throw new HumanError(
        l10n.t('{0} has unsaved changes in the encoding {1}', path, document.encoding),
        l10n.t('Save it'),
      );
    }
    unsaved.add(path);
  }
  if (unsaved.size === 0) return saved;
  return withShown(open, saved, parts, unsaved);
}

/** The patch with the parts about files of `paths` replaced by their texts in editors. */
async function withShown(
  open: InstanceForModels,
  patch: string,
  parts: readonly FilePatch[],
  paths: ReadonlySet<string>,
): Promise<string> {
  const stale = parts.filter((part) => pathsOf(part).some((path) => paths.has(path)));
  const lines = patch.split('\n');
  const kept = parts
    .filter((part) => !stale.includes(part))
    .map((part) => `${lines.slice(part.line - 1, part.endLine).join('\n')}\n`);
  const tree = await workspaceTree(open.folder);
  const edits: FileEdit[] = [];
  for (const path of new Set([...stale.flatMap(pathsOf), ...paths])) {
    edits.push({ path, before: await open.textOfR(path), after: await tree.read(path) });
  }
  return kept.join('') + makeUnified(edits);
}

const pathsOf = ({ oldPath, newPath }: FilePatch): string[] =>
  [...new Set([oldPath, newPath])].filter((path) => path !== null);
