import * as vscode from 'vscode';
import { referenceResolver, type ResolveReference } from '../../python/references';
import { HumanError } from '../../domain/work';
import { IssuePanel, type IssueSource } from './issuePanel';
import type { Instances } from '../instances/instances';
import type { OpenInstance } from '../instance/openInstance';
import type { FilesOfR, InstanceSource } from '../instance/instanceRoles';
import type { Revealed } from '../instance/revealed';
import { internalCommandIds, listCommandIds } from '../shell/names';
import { isSetToContainers, problemText } from '../shell/problems';
import { withoutLinkMarkup } from '../shell/plainText';

/** Where an issue can come from: the open instance, or a row of the list. */
interface IssueParts {
  readonly context: vscode.ExtensionContext;
  readonly revealed: Revealed;
  readonly listed: Instances;
  readonly opened: OpenInstance | undefined;
  readonly id: string;
  /** Called when the user moves about in the page. */
  readonly read: () => void;
}

/**
 * Shows the issue of an instance: beside the code if the instance is open, else in the editor area.
 *
 * @param inPassing whether the next issue shown in passing may take its place
 */
export async function showIssue(parts: IssueParts, inPassing = false): Promise<void> {
  const column = parts.opened === undefined ? vscode.ViewColumn.Active : vscode.ViewColumn.Beside;
  IssuePanel.show(issueSource(parts), column, inPassing);
}

/** Fills a panel that VS Code brings back after a reload. */
export function restoreIssue(
  panel: vscode.WebviewPanel,
  state: unknown,
  parts: Omit<IssueParts, 'id'>,
): Promise<void> {
  return IssuePanel.restore(panel, state, async (id) => {
    const opened = parts.opened?.marker.id === id ? parts.opened : undefined;
    return issueSource({ ...parts, opened, id });
  });
}

/** Redraws the issue of an instance, if it is shown, after a reveal or a hide. */
export function redrawIssue(id: string): void {
  IssuePanel.updateAll(id);
}

function issueSource({ context, revealed, listed, opened, id, read }: IssueParts): IssueSource {
  let resolving: Promise<ResolveReference> | undefined;
  return {
    id,
    extensionUri: context.extensionUri,
    instance: () => opened?.instance() ?? listed.instance(id),
    isRevealed: () => revealed.has(id),
    reveal: async () => {
      await revealed.ask(id);
    },
    resolver: async () => {
      if (opened === undefined) return undefined;
      resolving ??= resolverIn(opened);
      return resolving;
    },
    openReference: async ({ path, line }, viewColumn) => {
      if (opened === undefined) return;
      const uri = vscode.Uri.joinPath(opened.folder.uri, path);
      const document = await vscode.workspace.openTextDocument(uri).then(
        (found) => found,
        () => {
          throw new HumanError(
            vscode.l10n.t('{0} is no longer in the workspace', path),
            vscode.l10n.t('It exists in R. Undo its deletion to see it'),
          );
        },
      );
      const at = Math.min(line, document.lineCount) - 1;
      const selection = new vscode.Range(at, 0, at, 0);
      await vscode.window.showTextDocument(document, { viewColumn, selection });
    },
    openInstance:
      opened === undefined
        ? async () => vscode.commands.executeCommand(listCommandIds.open, id)
        : undefined,
    get makeEnvironment(): IssueSource['makeEnvironment'] {
      if (opened === undefined || isSetToContainers(opened.folder.uri)) return undefined;
      return async () => vscode.commands.executeCommand(internalCommandIds.makeEnvironment);
    },
    read,
    failed: (error) => {
      void vscode.window.showErrorMessage(withoutLinkMarkup(problemText(error)));
    },
  };
}

/** Finds places in the pristine R, so that the author's edits do not move the links. */
async function resolverIn(opened: InstanceSource & FilesOfR): Promise<ResolveReference> {
  const { repo } = await opened.instance();
  return referenceResolver(
    { repo, files: await opened.filesOfR(), read: (path) => opened.fileOfR(path) },
    await opened.python(),
  );
}
