import * as vscode from 'vscode';
import { HumanError, messageOf } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import { readMarker } from '../repository/marker';
import { commandIds, contextKeys, scheme, viewIds } from './names';
import { InstanceTree } from './instanceTree';
import { outputReporter } from './outputReporter';
import type { OpenInstance } from './openInstance';

/** Constructs and registers. Whatever is heavy is loaded when it is used for the first time. */
export function wire(context: vscode.ExtensionContext): void {
  const reporter = outputReporter(context.subscriptions);
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
        throw new HumanError('No instance is open', 'Run "SWT-Bench: Open Bundled Instance" first');
      }
      await run(open, ...args);
    };

  context.subscriptions.push(
    tree,
    vscode.window.createTreeView(viewIds.instance, { treeDataProvider: tree }),
    command(commandIds.openBundled, async () => {
      const { prepareBundledWorkspace } = await import('./parts');
      const folder = await vscode.window.withProgress(
        { location: vscode.ProgressLocation.Notification, title: 'Preparing the bundled instance' },
        () => prepareBundledWorkspace(context, reporter),
      );
      await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder));
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
      withInstance(async (instance) => {
        const { issueUri } = await import('./parts');
        await vscode.commands.executeCommand('markdown.showPreview', issueUri(instance.marker.id));
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
      commandIds.hideGolden,
      withInstance(async (instance) => {
        const { hideGolden } = await import('./parts');
        await hideGolden(instance);
      }),
    ),
  );

  const opening = shown(reporter, async () => {
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      if (folder.uri.scheme !== 'file') continue;
      const marker = await readMarker(folder.uri.fsPath);
      if (marker === undefined) continue;
      const parts = await import('./parts');
      open = new parts.OpenInstance(context, folder, marker, reporter);
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
        vscode.workspace.registerTextDocumentContentProvider(scheme, parts.documentProvider(open)),
      );
      tree.show(open);
      await vscode.commands.executeCommand('setContext', contextKeys.instanceOpen, true);
      await vscode.commands.executeCommand('setContext', contextKeys.bundled, open.isBundled);
      if (await open.isFirstTime()) {
        await vscode.commands.executeCommand('markdown.showPreview', parts.issueUri(marker.id));
      }
      return; // one instance to a window: verdict and status bar are about one candidate
    }
  });
}

/** Runs something and shows what goes wrong, once: what a person can mend as it is, the rest as ours. */
async function shown(reporter: Reporter, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    const known = error instanceof HumanError;
    const text = known ? error.message : `SWT-Bench: internal error: ${messageOf(error)}`;
    reporter.log(error instanceof Error ? (error.stack ?? text) : text);
    void vscode.window.showErrorMessage(text);
  }
}
