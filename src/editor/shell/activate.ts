import * as vscode from 'vscode';
import { HumanError } from '../../domain/problem';
import type { Reporter } from '../../domain/reporter';
import { noteKeys } from '../../engine/keysInUse';
import { allKeyVariables } from '../../method/models/providers';
import { readMarker, type WorkspaceMarker } from '../../repository/marker';
import type { CustomDiffCommands } from '../customFormat/customDiffCommands';
import { watchForCustomDiffs } from '../customFormat/watchForCustomDiffs';
import type { ChangeCoverageViews } from '../coverage/changeCoverageViews';
import { offerChatParticipant } from '../chat/chatParticipant';
import type { EngineReadiness } from './engineReadiness';
import type { Inline } from '../testing/inline';
import { FirstSteps } from './firstSteps';
import type { Candidates } from '../generate/candidates';
import { offerToAgents } from './forAgents';
import { InstanceTree } from '../instance/instanceTree';
import { issueViewType } from '../issue/viewType';
import type { ListNode } from '../instances/instanceList';
import type { Instances } from '../instances/instances';
import {
  candidateAuthority,
  candidateCommandIds,
  commandIds,
  contextKeys,
  coverageCommandIds,
  customDiffCommandIds,
  dashboardViewType,
  inlineCommandIds,
  listCommandIds,
  modelCommandIds,
  outputAuthority,
  previewAuthority,
  resultAuthority,
  runCommandIds,
  scheme,
  viewIds,
} from './names';
import type { OpenInstance } from '../instance/openInstance';
import { outputReporter } from './outputReporter';
import { showProblem } from './problems';
import { Revealed } from '../instance/revealed';
import type { Runs } from '../runs/runs';
import type { RunNode } from '../runs/runsTree';
import { WorkspaceTrust } from './workspaceTrust';

/**
 * Constructs and registers. Whatever is heavy is loaded when it is used for the first time.
 *
 * @returns what ends the engine of the window, to be awaited before the process goes
 */
export function wire(context: vscode.ExtensionContext): () => Promise<void> {
  // Other extensions of this process may need them in its environment.
  noteKeys(allKeyVariables);
  const reporter = outputReporter(context.subscriptions);
  const revealed = new Revealed(context.globalState);
  const tree = new InstanceTree(reporter);
  const steps = new FirstSteps(context.extension);
  const trust = new WorkspaceTrust();
  /** Resolves when it is known whether an instance is open. Another one once a workspace is trusted. */
  let opening: Promise<void> = Promise.resolve();
  let open: OpenInstance | undefined;
  let reproduce: (() => Promise<void>) | undefined;
  let inline: Inline | undefined;
  let coverage: ChangeCoverageViews | undefined;
  let readiness: EngineReadiness | undefined;
  let candidates: Candidates | undefined;

  const command = (id: string, run: (...args: unknown[]) => Promise<void>): vscode.Disposable =>
    vscode.commands.registerCommand(id, (...args: unknown[]) =>
      shown(reporter, () => run(...args)),
    );
  const withInstance =
    (run: (instance: OpenInstance, ...args: unknown[]) => Promise<void>) =>
    async (...args: unknown[]): Promise<void> => {
      await opening;
      if (open === undefined) throw trust.whyNoInstance();
      await run(open, ...args);
    };

  const { list, instances } = lazyInstances(context, reporter);
  const saved = lazyRuns(context, revealed, instances, reporter);

  const documentChanged = new vscode.EventEmitter<vscode.Uri>();
  let customDiffs: Promise<CustomDiffCommands> | undefined;
  const loadedCustomDiffs = (): Promise<CustomDiffCommands> =>
    (customDiffs ??= import('./parts').then((parts) => {
      const loaded = new parts.CustomDiffCommands(context.extensionPath, reporter);
      loaded.previews.onDidChange((uri) => documentChanged.fire(uri));
      context.subscriptions.push(loaded);
      return loaded;
    }));

  const agents = offerToAgents(context, () => opening.then(() => open), reporter);

  /** Commands about an instance of the list, or else about the open one. */
  const aboutInstance =
    (run: (instances: Instances, open: OpenInstance | undefined, id: string) => Promise<void>) =>
    async (row: unknown): Promise<void> => {
      await opening;
      const id = idOf(row) ?? open?.marker.id ?? idOf(list.selection[0]);
      if (id === undefined) throw trust.whyNoInstance();
      await run(await instances(), open?.marker.id === id ? open : undefined, id);
    };

  context.subscriptions.push(
    tree,
    trust,
    revealed,
    list,
    documentChanged,
    agents,
    offerChatParticipant(() => opening.then(() => open), reporter),
    revealed.onDidChange((id) => void import('./parts').then((parts) => parts.redrawIssue(id))),
    revealed.onDidChange(() => {
      for (const { uri } of vscode.workspace.textDocuments) {
        // Both sides and what is compared with them; a preview does not depend on it.
        if (uri.scheme === scheme && uri.authority !== previewAuthority) documentChanged.fire(uri);
      }
    }),
    vscode.window.registerWebviewPanelSerializer(issueViewType, {
      async deserializeWebviewPanel(panel, state) {
        await opening;
        const { restoreIssue } = await import('./parts');
        const listed = await instances();
        await restoreIssue(panel, state, { context, revealed, listed, opened: open });
        await steps.tell(contextKeys.issueShown);
      },
    }),
    vscode.workspace.registerTextDocumentContentProvider(scheme, {
      onDidChange: documentChanged.event,
      async provideTextDocumentContent(uri) {
        if (uri.authority === previewAuthority) {
          return (await loadedCustomDiffs()).previews.contentOf(uri);
        }
        if (uri.authority === resultAuthority) return (await saved.runs()).gutters.contentOf(uri);
        await opening;
        if (open === undefined) return '';
        if (uri.authority === candidateAuthority) return (await candidates?.contentOf(uri)) ?? '';
        const { documentText, outputText } = await import('./parts');
        return uri.authority === outputAuthority ? outputText(open, uri) : documentText(open, uri);
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
    ...Object.values(runCommandIds).map((id) =>
      command(id, async (...args) => (await saved.runs()).run(id, args)),
    ),
    vscode.window.registerWebviewPanelSerializer(dashboardViewType, {
      async deserializeWebviewPanel(panel, state) {
        (await saved.runs()).restore(panel, state);
      },
    }),
    ...Object.values(inlineCommandIds).map((id) =>
      command(
        id,
        withInstance(async (_instance, about) => inline?.run(id, about)),
      ),
    ),
    ...Object.values(coverageCommandIds).map((id) =>
      command(
        id,
        withInstance(async (_instance, about) => coverage?.run(id, about)),
      ),
    ),
    ...Object.values(candidateCommandIds).map((id) =>
      command(
        id,
        withInstance(async (_instance, about) => candidates?.run(id, about)),
      ),
    ),
    ...Object.values(modelCommandIds).map((id) =>
      command(id, async () => {
        const { ModelKeys } = await import('./parts');
        const keys = new ModelKeys(context.secrets, context.globalState);
        await (id === modelCommandIds.setKey ? keys.set() : keys.forget());
      }),
    ),
    command(commandIds.openBundled, async (from) => {
      // The window reloads: it goes on with the walkthrough that it was opened from.
      await context.globalState.update(goesOn, from === 'walkthrough' ? true : undefined);
      const { openBundledInstance } = await import('./parts');
      await openBundledInstance(context, reporter);
    }),
    command(commandIds.firstSteps, () => steps.show()),
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
        await steps.tell(contextKeys.issueShown);
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
        if (instance.revealed) await steps.tell(contextKeys.coverageShown);
      }),
    ),
    command(
      commandIds.showVerdict,
      withInstance(async (instance) => {
        const { showVerdict } = await import('./parts');
        await showVerdict(instance);
      }),
    ),
    command(
      commandIds.exportReproduction,
      withInstance(async (instance, folder) => {
        const { exportReproduction } = await import('./parts');
        // A folder is given by what runs the command from code; a person chooses one.
        const into = folder instanceof vscode.Uri ? folder : undefined;
        const written = await exportReproduction(instance, reporter, into);
        if (written?.isReproduction === true) await steps.tell(contextKeys.exported);
      }),
    ),
    command(
      commandIds.compareWithGolden,
      withInstance(async (instance) => {
        const { compareWithGolden } = await import('./parts');
        await compareWithGolden(instance, reporter);
      }),
    ),
    command(
      commandIds.checkEngine,
      withInstance(async () => {
        await readiness?.check();
        if (readiness?.problem !== undefined) throw new HumanError(readiness.problem.text);
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
        const { closeComparisons, closeGoldenDiffs } = await import('./parts');
        if (opened !== undefined) await Promise.all([closeGoldenDiffs(), closeComparisons()]);
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

  const openFound = async (found: Found): Promise<void> => {
    const parts = await import('./parts');
    open = new parts.OpenInstance(context, found.folder, found.marker, revealed, reporter);
    await open.restore();
    readiness = new parts.EngineReadiness(found.folder.uri, context.extensionPath, reporter);
    const tests = new parts.CandidateTests(open);
    const testing = new parts.CandidateTesting(open, tests, reporter);
    reproduce = () => testing.reproduceAll();
    inline = new parts.Inline(open, tests, testing, (uri) => documentChanged.fire(uri));
    coverage = new parts.ChangeCoverageViews(open, context.extensionUri);
    candidates = new parts.Candidates(context, open, reporter);
    context.subscriptions.push(
      open,
      readiness,
      tests,
      testing,
      inline,
      steps.follow(open, tests),
      new parts.StatusBar(open),
      coverage,
      candidates,
    );
    tree.show(open, readiness);
    await steps.tell(contextKeys.instanceOpen);
    agents.tell();
    if (open.isBundled) await steps.tell(contextKeys.bundled);
    const isFirst = await open.isFirstTime();
    if (open.isBundled && context.globalState.get(goesOn, false)) {
      await context.globalState.update(goesOn, undefined);
      await steps.show();
    } else if (isFirst) {
      const listed = await instances();
      await parts.showIssue({ context, revealed, listed, opened: open, id: found.marker.id });
      await steps.tell(contextKeys.issueShown);
    }
    void readiness.check();
    void parts.warmUpInBackground(open, reporter);
  };
  opening = shown(reporter, async () => {
    const found = await findInstance();
    if (found === undefined) return;
    await trust.whenGranted(found.marker.id, () => {
      opening = shown(reporter, () => openFound(found));
      return opening;
    });
  });
  return async () => {
    await agents.close();
    await Promise.all([
      open?.close(),
      customDiffs?.then((loaded) => loaded.close()),
      saved.close(),
    ]);
  };
}

/** Key of the note that a walkthrough opened the bundled instance. */
const goesOn = 'walkthroughGoesOn';

/** A folder of the window that is the workspace of an instance. */
interface Found {
  readonly folder: vscode.WorkspaceFolder;
  readonly marker: WorkspaceMarker;
}

/** The first such folder: one instance to a window, since verdict and status bar are about one candidate. */
async function findInstance(): Promise<Found | undefined> {
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    if (folder.uri.scheme !== 'file') continue;
    const marker = await readMarker(folder.uri.fsPath);
    if (marker !== undefined) return { folder, marker };
  }
  return undefined;
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

/** The Runs view, likewise. */
function lazyRuns(
  context: vscode.ExtensionContext,
  revealed: Revealed,
  instances: () => Promise<Instances>,
  reporter: Reporter,
): { runs: () => Promise<Runs>; close: () => Promise<void> } {
  const redraw = new vscode.EventEmitter<void>();
  let made: Promise<Runs> | undefined;
  const runs = (): Promise<Runs> =>
    (made ??= import('./parts').then((parts) => {
      const loaded = new parts.Runs(context, view, revealed, instances, reporter, () =>
        redraw.fire(),
      );
      context.subscriptions.push(loaded);
      return loaded;
    }));
  const view = vscode.window.createTreeView<RunNode>(viewIds.runs, {
    treeDataProvider: {
      onDidChangeTreeData: redraw.event,
      getChildren: async (node) => (await runs()).getChildren(node),
      getTreeItem: async (node) => (await runs()).tree.getTreeItem(node),
    },
    canSelectMany: true,
  });
  context.subscriptions.push(redraw, view);
  return { runs, close: async () => (await made)?.close() };
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
