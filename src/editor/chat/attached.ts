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

/** What of attached things a model is given, and what a person is told of the rest. */
export interface Attached {
  /** For the model; empty when there is nothing for it. */
  readonly text: string;
  /** Markdown in which nothing untrusted is markup: one sentence for each thing that is left out. */
  readonly leftOut: readonly string[];
}

/** Characters of one attached file. */
const most = 40_000;

/**
 * Reads what a person has attached to a request, as far as it is no way to the answer: files of R, as R
 * has them, and tests of the workspace, as their editors show them. Everything else is left out, for
 * nobody can tell what a dataset, a result, a log or the tree of R∘X* beside the workspace would give
 * away.
 */
export async function readAttached(
  references: readonly Pick<vscode.ChatPromptReference, 'id' | 'value' | 'modelDescription'>[],
  open: Pick<InstanceForModels, 'folder'>,
  view: Pick<ModelView, 'tree'>,
): Promise<Attached> {
  const texts: string[] = [];
  const leftOut: string[] = [];
  for (const { id, value } of references) {
    // The file of the active editor, which VS Code adds by itself: of that only what is selected is meant.
    const isImplicit = id.startsWith('vscode.implicit');
    const uri = value instanceof vscode.Location ? value.uri : value;
    if (!(uri instanceof vscode.Uri)) {
      if (!isImplicit) {
        leftOut.push(withoutIt(id, vscode.l10n.t('only files of R and tests are read')));
      }
      continue;
    }
    const name = vscode.workspace.asRelativePath(uri, false).replace(/^\//, '');
    // What is said here is part of the next request: which file X* or T* touches, and a folder that is
    // called after the instance, are no matter of a model's either.
    const unnamed = vscode.l10n.t('A document');
    if (uri.scheme === scheme) {
      const why = vscode.l10n.t('what may hold the answer is shown to no model');
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
  /** Ranges of the workspace are ranges of the text. */
  readonly isShown: boolean;
}

/** A test as its editor shows it, or else the file of R. */
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

/** Path of a file in the workspace; undefined for any other, and for what git and we keep there. */
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
