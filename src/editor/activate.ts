import * as vscode from 'vscode';
import { HumanError } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import { readMarker } from '../repository/marker';
import type { CustomDiffs } from './customFormat/commands';
import { watchForCustomDiffs } from './customFormat/presence';
import { InstanceTree } from './instanceTree';
import { issueViewType } from './issue/viewType';
import type { ListNode } from './instances/instanceList';
import type { Instances } from './instances/instances';
import {
  commandIds,
  contextKeys,
  customDiffCommandIds,
  listCommandIds,
  previewAuthority,
  scheme,
  viewIds,
} from './names';
import type { OpenInstance } from './openInstance';
import { outputReporter } from './outputReporter';
import { showProblem } from './problems';
import { Revealed } from './revealed';

/**
 * Constructs and registers. Whatever is heavy is loaded when it is used for the first time.
 *
 * @returns what ends the engine of the window, to be awaited before the process goes
 */
export function wire(context: vscode.ExtensionContext): () => Promise<void> {
  const reporter = outputReporter(context.subscriptions);
  const revealed = new Revealed(context.globalState);
  const tree = new InstanceTree();
  let open: OpenInstance | undefined;
  let reproduce: (() => Promise<void>) | undefined;

  const command = (id: string, run: (...args: unknown[]) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(id, (...args: unknown[]) =>
      shown(reporter, () => run(...args)),
    );
  const withInstance =
    (run: (instance: OpenInstance, ...args: unknown[]) => Promise<void>) =>
    async (...args: unknown[]): Promise<void> => {
      await opening;
      if (open === undefined) {
        throw new HumanError('No instance is open', 'Open one from the Instances view first');
      }
      await run(open, ...args);
    };

  const { list, instances } = lazyInstances(context, reporter);

  const previewChanged = new vscode.EventEmitter<vscode.Uri>();
  let customDiffs: Promise<CustomDiffs> | undefined;
  const loadedCustomDiffs = (): Promise<CustomDiffs> =>
    (customDiffs ??= import('./parts').then((parts) => {
      const loaded = new parts.CustomDiffs(context.extensionPath, reporter);
      loaded.previews.onDidChange((uri) => previewChanged.fire(uri));
      context.subscriptions.push(loaded);
      return loaded;
    }));

  /** Commands about an instance of the list, or else about the open one. */
  const aboutInstance =
    (run: (instances: Instances, open: OpenInstance | undefined, id: string) => Promise<void>) =>
    async (row: unknown): Promise<void> => {
      await opening;
      const id = idOf(row) ?? open?.marker.id ?? idOf(list.selection[0]);
      if (id === undefined) {
        throw new HumanError('No instance is open', 'Open one from the Instances view first');
      }
      await run(await instances(), open?.marker.id === id ? open : undefined, id);
    };

  context.subscriptions.push(
    tree,
    revealed,
    list,
    previewChanged,
    revealed.onDidChange((id) => void import('./parts').then((parts) => parts.redrawIssue(id))),
    vscode.window.registerWebviewPanelSerializer(issueViewType, {
      async deserializeWebviewPanel(panel, state) {
        await opening;
        const { restoreIssue } = await import('./parts');
        const listed = await instances();
        await restoreIssue(panel, state, { context, revealed, listed, opened: open });
      },
    }),
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: previewChanged.event,
      async provideTextDocumentContent(uri) {
        if (uri.authority === previewAuthority) {
          return (await loadedCustomDiffs()).previews.contentOf(uri);
        }
        await opening;
        const { documentText } = await import('./parts');
        return open === undefined ? '' : documentText(open, uri);
      },
    }),
    ...Object.values(customDiffCommandIds).map((id) =>
      command(id, async (argument) => {
        await opening;
        await (await loadedCustomDiffs()).run(id, open, argument);
      }),
    ),
    watchForCustomDiffs(
      () => void shown(reporter, async () => (await loadedCustomDiffs()).startLanguage()),
    ),
    vscode.window.createTreeView(viewIds.instance, { treeDataProvider: tree }),
    ...Object.values(listCommandIds).map((id) =>
      command(id, async (...args) => (await instances()).run(id, args)),
    ),
    command(commandIds.openBundled, async () => {
      const { openBundledInstance } = await import('./parts');
      await openBundledInstance(context, reporter);
    }),
    command(
      commandIds.applyBundledCandidate,
      withInstance(async (instance, name) => {
        const { applyBundledCandidate } = await import('./parts');
        await applyBundledCandidate(
          context.extensionPath,
          instance,
          typeof name === 'string' ? name : undefined,
        );
      }),
    ),
    command(
      commandIds.showIssue,
      aboutInstance(async (listed, opened, id) => {
        const { showIssue } = await import('./parts');
        await showIssue({ context, revealed, listed, opened, id });
      }),
    ),
    command(
      commandIds.reproduce,
      withInstance(async () => reproduce?.()),
    ),
    command(
      commandIds.showChangeCoverage,
      withInstance(async (instance) => {
        const { showChangeCoverage } = await import('./parts');
        await showChangeCoverage(instance);
      }),
    ),
    command(
      commandIds.reveal,
      aboutInstance(async (_listed, _opened, id) => {
        await revealed.ask(id, vscode.l10n.t('Reveal'));
      }),
    ),
    command(
      commandIds.hideGolden,
      aboutInstance(async (_listed, opened, id) => {
        await revealed.set(id, false);
        const { closeGoldenDiffs } = await import('./parts');
        if (opened !== undefined) await closeGoldenDiffs();
      }),
    ),
    command(
      commandIds.addDevContainer,
      withInstance(async (instance) => {
        const { addDevContainer } = await import('./parts');
        await addDevContainer(instance, reporter);
      }),
    ),
    command(commandIds.showLog, () => Promise.resolve(reporter.show())),
  );

  const opening = shown(reporter, async () => {
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      if (folder.uri.scheme !== 'file') continue;
      const marker = await readMarker(folder.uri.fsPath);
      if (marker === undefined) continue;
      const parts = await import('./parts');
      open = new parts.OpenInstance(context, folder, marker, revealed, reporter);
      const tests = new parts.CandidateTests(open);
      const testing = new parts.CandidateTesting(open, tests, reporter);
      reproduce = () => testing.reproduceAll();
      context.subscriptions.push(
        open,
        tests,
        testing,
        new parts.InlineResults(open, tests),
        new parts.StatusBar(open),
        new parts.ChangeCoverageGutters(open, context.extensionUri),
      );
      tree.show(open);
      await vscode.commands.executeCommand('setContext', contextKeys.instanceOpen, true);
      await vscode.commands.executeCommand('setContext', contextKeys.bundled, open.isBundled);
      if (await open.isFirstTime()) {
        const listed = await instances();
        await parts.showIssue({ context, revealed, listed, opened: open, id: marker.id });
      }
      void parts.warmUpInBackground(open, reporter);
      return; // one instance to a window: verdict and status bar are about one candidate
    }
  });
  return async () => {
    await Promise.all([open?.close(), customDiffs?.then((loaded) => loaded.close())]);
  };
}

/** The Instances view, whose contents are loaded when it is looked at or a command needs them. */
function lazyInstances(
  context: vscode.ExtensionContext,
  reporter: Reporter,
): { list: vscode.TreeView<ListNode>; instances: () => Promise<Instances> } {
  const redraw = new vscode.EventEmitter<void>();
  let made: Promise<Instances> | undefined;
  const instances = (): Promise<Instances> =>
    (made ??= import('./parts').then((parts) => {
      const loaded = new parts.Instances(context, list, reporter, () => redraw.fire());
      context.subscriptions.push(loaded);
      return loaded;
    }));
  const list = vscode.window.createTreeView<ListNode>(viewIds.instances, {
    treeDataProvider: {
      onDidChangeTreeData: redraw.event,
      getChildren: async (node) => (await instances()).getChildren(node),
      getTreeItem: async (node) => (await instances()).list.getTreeItem(node),
      resolveTreeItem: async (item, node) => (await instances()).list.resolveTreeItem(item, node),
      getParent: async (node) => (await instances()).list.getParent(node),
    },
    showCollapseAll: true,
    canSelectMany: true,
  });
  context.subscriptions.push(redraw);
  return { list, instances };
}

function idOf(row: unknown): string | undefined {
  if (typeof row === 'string') return row;
  if (typeof row !== 'object' || row === null || !('id' in row)) return undefined;
  return typeof row.id === 'string' ? row.id : undefined;
}

/** Runs something and shows what goes wrong, once: what a person can mend as it is, the rest as ours. */
async function shown(reporter: Reporter, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    showProblem(error, reporter);
  }
}
