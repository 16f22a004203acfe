import * as vscode from 'vscode';
import type { ModelView } from '../../method/modelView';
import { asShown } from '../../patch/bytes';
import { isTestPath } from '../../patch/testFiles';
import { unsafePath } from '../../patch/unsafePath';
import { workspaceTree } from '../customFormat/workspaceTree';
import type { InstanceForModels } from '../tools/instanceForModels';
import { scheme } from '../shell/names';
import { escapeMarkdown } from '../shell/plainText';
import { workspacePath } from '../shell/workspacePath';

/** What a model receives of the attachments, and what the user reads about the rest. */
interface Attached {
  /** For the model; empty when no attachment is for it. */
  readonly text: string;
  /** One sentence for each thing that is left out. Markdown in which untrusted text is escaped. */
  readonly leftOut: readonly string[];
}

/** Beginnings of the ids of attachments that no person made: the active editor, an index of prompts. */
const ofVSCode = ['vscode.implicit', 'vscode.customizations'];

/** Maximum number of characters of one attached file. */
const most = 40_000;

/**
 * Reads the attachments of a request that cannot reveal the answer. These are files of R, as R has
 * them, and tests of the workspace, as their editors show them. Everything else is left out: nobody
 * can tell what a dataset, a result, a log or the tree of R∘X* gives away.
 */
export async function readAttached(
  references: readonly Pick<vscode.ChatPromptReference, 'id' | 'value' | 'modelDescription'>[],
  open: Pick<InstanceForModels, 'folder'>,
  view: Pick<ModelView, 'tree'>,
): Promise<Attached> {
  const texts: string[] = [];
  const leftOut: string[] = [];
  for (const { id, value } of references) {
    // VS Code attaches these on its own. Only the selection in the active editor is meant.
    const isImplicit = ofVSCode.some((prefix) => id.startsWith(prefix));
    const uri = value instanceof vscode.Location ? value.uri : value;
    if (!(uri instanceof vscode.Uri)) {
      if (!isImplicit) {
        leftOut.push(withoutIt(id, vscode.l10n.t('only files of R and tests can be read')));
      }
      continue;
    }
    const name = vscode.workspace.asRelativePath(uri, false).replace(/^\//, '');
    // The next request to the model contains these sentences. They must not name the files that X*
    // or T* touch, nor a folder named after the instance.
    const unnamed = vscode.l10n.t('A document');
    if (uri.scheme === scheme) {
      const why = vscode.l10n.t('it may contain the answer, which models must not see');
      leftOut.push(withoutIt(unnamed, why));
      continue;
    }
    const path = pathIn(open.folder, uri);
    const found = path === undefined ? undefined : await textOf(path, open, view);
    if (path === undefined || found === undefined) {
      const why =
        path === undefined
          ? vscode.l10n.t('it is not in the workspace')
          : vscode.l10n.t('it is neither a file of R nor a test');
      if (!isImplicit) leftOut.push(withoutIt(path === undefined ? unnamed : name, why));
      continue;
    }
    const range = value instanceof vscode.Location ? value.range : undefined;
    texts.push(
      isImplicit && range === undefined ? `The editor shows ${path}.` : shown(path, found, range),
    );
  }
  return { text: texts.join('\n\n'), leftOut };
}

const withoutIt = (name: string, why: string): string =>
  vscode.l10n.t('{0} is left out: {1}.', escapeMarkdown(name.slice(0, 200)), why);

interface Found {
  readonly text: string;
  /** Whether an editor shows this text, so that ranges of the workspace are ranges of it. */
  readonly isShown: boolean;
}

/** The text of a test as its editor shows it, or of any other file as R has it. */
async function textOf(
  path: string,
  open: Pick<InstanceForModels, 'folder'>,
  { tree }: Pick<ModelView, 'tree'>,
): Promise<Found | undefined> {
  const workspace = await workspaceTree(open.folder);
  const now = await workspace.read(path);
  const isLink = workspace.links?.has(path) === true || workspace.beyondLinks?.has(path) === true;
  if (path.endsWith('.py') && isTestPath(path) && !isLink && now !== undefined) {
    return { text: asShown(now), isShown: true };
  }
  const inR = await tree.read(path);
  if (inR === undefined) return undefined;
  return { text: inR, isShown: now !== undefined && inR === asShown(now) };
}

/**
 * Path of a file in the workspace. Undefined for files elsewhere, and for files that git or this
 * extension keeps there.
 */
export function pathIn(folder: vscode.WorkspaceFolder, uri: vscode.Uri): string | undefined {
  const path = workspacePath(folder, uri);
  return path === undefined || unsafePath(path) !== undefined ? undefined : path;
}

function shown(path: string, { text, isShown }: Found, range: vscode.Range | undefined): string {
  const lines = text.split(/\r?\n/);
  const isPart = range !== undefined && isShown;
  const first = isPart ? range.start.line : 0;
  const part = lines.slice(first, isPart ? range.end.line + 1 : undefined);
  const head = isPart ? `${path}, lines ${first + 1} to ${first + part.length}` : path;
  const whole = part.join('\n');
  const body =
    whole.length <= most
      ? whole
      : `${whole.slice(0, most)}\n[${whole.length - most} characters more]`;
  return `<file path=${JSON.stringify(head)}>\n${body}\n</file>`;
}
