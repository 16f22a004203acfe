import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Instance, InstanceEntry } from '../../domain/instance';
import { HumanError, type Reporter } from '../../domain/work';
import { withBundledSource } from '../../repository/source';
import { SourceUnusable } from '../../repository/git';
import { bundledSource, repositorySources } from '../shell/settings';
import { listCommandIds, viewIds } from '../shell/names';
import { offering } from '../shell/problems';
import { Catalogue } from './catalogue';
import { chooseRepositoryFolder } from './chooseRepositoryFolder';
import { exportList, isExport, showStatistics } from './exports';
import { freeDiskSpace } from './freeDiskSpace';
import { instancesOfCommand, instancesOfView, type PossibleInstances } from './instancesOfCommand';
import {
  type ListNode,
  entriesByRepository,
  headOfInstances,
  instanceNodes,
  instanceTreeRow,
  paragraphsOn,
  parentOfInstance,
  type ShownInstances,
} from './instanceTreeRow';
import { judgeInstances } from './judgeInstances';
import { firstToJudge } from './judgement';
import {
  chooseDataset,
  chooseFilterList,
  chooseOrder,
  editFilter,
  findInstance,
} from './listCommands';
import { afterAWhile, withNotification } from '../shell/progress';
import { prepareWorkspace } from './prepareWorkspace';
import { classify, editNote, editTags } from './triageCommands';
import { validateInstances } from './validateInstances';
import { appendPlainText } from '../shell/plainText';
import { treeItemOf } from '../shell/draw';

type ListCommand = (typeof listCommandIds)[keyof typeof listCommandIds];

/** The Instances view: its rows and its commands. */
export class Instances implements vscode.Disposable {
  readonly catalogue: Catalogue;
  readonly list: InstanceList;
  private readonly subscriptions: vscode.Disposable[];
  private asked = false;

  /**
   * @param redraw makes the view ask for its rows again
   * @param openId tells the id of the instance that is open in the window, if any
   */
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly view: vscode.TreeView<ListNode>,
    private readonly reporter: Reporter,
    redraw: () => void,
    private readonly openId: () => Promise<string | undefined>,
  ) {
    this.catalogue = new Catalogue(context, reporter);
    this.list = new InstanceList(this.catalogue, view);
    this.subscriptions = [
      this.catalogue,
      this.catalogue.onDidChange(() => {
        this.list.arrange();
        redraw();
      }),
    ];
  }

  /** Rows below a row. Reads the dataset at the first request of the view. */
  async getChildren(node?: ListNode): Promise<ListNode[]> {
    if (!this.asked) {
      this.asked = true;
      await this.catalogue.reload();
    }
    return this.list.getChildren(node);
  }

  async run(command: ListCommand, args: readonly unknown[]): Promise<void> {
    const { catalogue } = this;
    const [first] = args;
    const given = typeof first === 'string' ? first : undefined;
    switch (command) {
      case listCommandIds.chooseDataset:
        // From the palette, the view may be folded.
        if (await chooseDataset(catalogue, this.context.globalState, given))
          await vscode.commands.executeCommand(`${viewIds.instances}.focus`);
        return;
      case listCommandIds.filter:
        if (given !== undefined) return catalogue.setFilter(given);
        await this.loaded();
        return editFilter(catalogue);
      case listCommandIds.clearFilter:
        await catalogue.setFilterList(undefined);
        return catalogue.setFilter('');
      case listCommandIds.useFilterList:
        await this.loaded();
        return chooseFilterList(catalogue, given);
      case listCommandIds.sort:
        return chooseOrder(catalogue);
      case listCommandIds.find: {
        await this.loaded();
        const entry = await findInstance(catalogue);
        if (entry !== undefined) await this.reveal(entry.id);
        return;
      }
      case listCommandIds.open:
        return this.open(await this.oneId(args), false);
      case listCommandIds.openInNewWindow:
        return this.open(await this.oneId(args), true);
      case listCommandIds.judge:
        await this.loaded();
        return this.judge(args);
      case listCommandIds.copyId:
        return this.copyIds(args);
      case listCommandIds.validate:
        await this.loaded();
        return this.validateChosen(args);
      case listCommandIds.exportList:
        await this.loaded();
        return exportList(catalogue, isExport(first) ? first : undefined);
      case listCommandIds.statistics:
        await this.loaded();
        return showStatistics(catalogue, this.reporter);
      case listCommandIds.freeDiskSpace:
        await freeDiskSpace(this.reporter);
        return catalogue.refreshStates();
    }
  }

  private validate(ids: readonly string[]): Promise<void> {
    return validateInstances(this.catalogue, ids, {
      context: this.context,
      reporter: this.reporter,
      sources: () => this.sources(),
    });
  }

  /** A row says little: VS Code also gives it to a command in the menu of the view. */
  private async validateChosen([row, rows]: readonly unknown[]): Promise<void> {
    if (typeof row === 'string') return this.validate([row]);
    const possible = instancesOfView({
      clicked: rowsOf(row, rows),
      selected: this.view.selection,
      listed: this.list.ids(),
      open: await this.openId(),
    });
    if (possible.length === 0)
      throw new HumanError(
        vscode.l10n.t('No instances in the list'),
        vscode.l10n.t('Clear the filter'),
      );
    const ids = await askWhichInstances(possible, vscode.l10n.t('Select Instances to Validate'));
    if (ids !== undefined) await this.validate(ids);
  }

  /**
   * On a row, lets the user choose what to record of it. Otherwise judges from the selected row on,
   * or where judging ended.
   */
  private async judge(args: readonly unknown[]): Promise<void> {
    const { catalogue } = this;
    const [row, given] = args;
    const what = isNode(row) || isJudgement(given) ? await askWhatToJudge(given) : 'all';
    if (what === undefined) return;
    if (what === 'all') {
      const ids = this.idsToJudge(args);
      if (ids !== undefined) return judgeInstances(catalogue, ids);
      const listed = this.list.ids();
      const first = firstToJudge(listed, (id) => catalogue.triageOf(id));
      return judgeInstances(catalogue, listed, first);
    }
    const ids = await this.chosenIds(args);
    if (ids === undefined) return;
    const { tags, note } = isJudgement(given) ? given : { tags: undefined, note: undefined };
    switch (what) {
      case 'tags':
        return editTags(catalogue, ids, tags);
      case 'note':
        return editNote(catalogue, ids, note);
      case 'classification':
        return classify(catalogue, ids);
    }
  }

  /**
   * The clicked rows, or the selected ones. A single instance is where the user begins: all that
   * follow it in the list come after it. Undefined when none is chosen.
   */
  private idsToJudge([row, rows]: readonly unknown[]): readonly string[] | undefined {
    const listed = this.list.ids();
    if (typeof row === 'string') return from(row, listed);
    const { possible } = instancesOfCommand({
      clicked: rowsOf(row, rows),
      selected: this.view.selection,
      open: undefined,
    });
    const chosen = possible[0]?.ids ?? [];
    const [only] = chosen;
    if (only === undefined) return undefined;
    return chosen.length === 1 ? from(only, listed) : chosen;
  }

  private async copyIds(args: readonly unknown[]): Promise<void> {
    const ids = await this.chosenIds(args);
    if (ids !== undefined) await vscode.env.clipboard.writeText(ids.join('\n'));
  }

  /** The instance of a row with all its fields. */
  async instance(id: string): Promise<Instance> {
    const dataset = await this.loaded();
    const [instance] = await afterAWhile(vscode.l10n.t('Reading {0}', id), () =>
      dataset.read([id]),
    );
    if (instance === undefined) {
      throw new HumanError(vscode.l10n.t('{0} is not in {1}', id, dataset.name));
    }
    return instance;
  }

  /**
   * The dataset of the view; reads it at the first call.
   *
   * @throws HumanError when no dataset is chosen or it cannot be read
   */
  dataset(): Promise<NonNullable<Catalogue['dataset']>> {
    return this.loaded();
  }

  private async loaded(): Promise<NonNullable<Catalogue['dataset']>> {
    await this.catalogue.settled();
    if (this.catalogue.dataset === undefined) await this.catalogue.reload();
    const { dataset, state } = this.catalogue;
    if (dataset !== undefined) return dataset;
    if (state.kind === 'failed') throw new HumanError(state.why);
    throw offering(
      new HumanError(
        vscode.l10n.t('No dataset selected'),
        vscode.l10n.t('Run "SWT-Bench: Choose Dataset…" first'),
      ),
      { title: vscode.l10n.t('Choose Dataset…'), command: listCommandIds.chooseDataset },
    );
  }

  /**
   * Ids that a command is about: the row that it was called on and the rows selected with it, or
   * from the palette the open instance. Asks where rows are selected in addition; undefined when the
   * person cancels.
   */
  private async chosenIds(args: readonly unknown[]): Promise<readonly string[] | undefined> {
    const [row, rows] = args;
    if (typeof row === 'string') return [row];
    const { asks, possible } = instancesOfCommand({
      clicked: rowsOf(row, rows),
      selected: this.view.selection,
      open: await this.openId(),
    });
    if (asks) return askWhichInstances(possible);
    const [only] = possible;
    if (only !== undefined) return only.ids;
    throw new HumanError(
      vscode.l10n.t('No instance selected'),
      vscode.l10n.t('Select one in the Instances view'),
    );
  }

  /** As `chosenIds` for a command about one instance. Asks the user when there is none. */
  private async oneId(args: readonly unknown[]): Promise<string | undefined> {
    await this.loaded();
    const [row] = args;
    if (typeof row === 'string') return row;
    const node = isNode(row) ? row : this.view.selection[0];
    if (node?.kind === 'instance') return node.id;
    return (await findInstance(this.catalogue))?.id;
  }

  /** Shows the row of an instance, and clears the filter if that hides it. */
  private async reveal(id: string): Promise<void> {
    if (!this.catalogue.entries().some((entry) => entry.id === id)) {
      await this.run(listCommandIds.clearFilter, []);
    }
    await this.view.reveal({ kind: 'instance', id }, { select: true, focus: true });
  }

  private sources(): readonly string[] {
    return withBundledSource(repositorySources(), bundledSource(this.context.extensionPath));
  }

  private async open(id: string | undefined, newWindow: boolean): Promise<void> {
    if (id === undefined) return;
    const instance = await this.instance(id);
    const folder = await this.workspaceOf(instance).catch(async (error: unknown) => {
      if (!(error instanceof SourceUnusable)) throw error;
      const isChosen = await chooseRepositoryFolder(instance.repo, error, this.reporter);
      return isChosen ? this.workspaceOf(instance) : undefined;
    });
    if (folder === undefined) return;
    await this.catalogue.refreshStates();
    await this.catalogue.handOver(folder);
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder), {
      forceNewWindow: newWindow,
      forceReuseWindow: !newWindow,
    });
  }

  /** Makes the workspace of an instance, and returns its folder; undefined when cancelled. */
  private workspaceOf(instance: Instance): Promise<string | undefined> {
    return withNotification(
      vscode.l10n.t('Opening {0}', instance.id),
      this.reporter,
      (reporter, signal) =>
        prepareWorkspace(
          {
            instance,
            dataset: this.catalogue.datasetName,
            // The place of the bundled project changes with the version of the extension.
            sources: repositorySources(),
            makeFrom: this.sources(),
            workspaces: join(this.context.globalStorageUri.fsPath, 'workspaces'),
            secrets: this.context.secrets,
          },
          reporter,
          signal,
        ),
    );
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

function isNode(value: unknown): value is ListNode {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return false;
  return value.kind === 'instance' || value.kind === 'repository';
}

/** An instance and all that follow it in a list. */
const from = (id: string, listed: readonly string[]): readonly string[] =>
  listed.includes(id) ? listed.slice(listed.indexOf(id)) : [id];

/** The rows that a command was called on. */
const rowsOf = (row: unknown, rows: unknown): ListNode[] =>
  (Array.isArray(rows) && rows.length > 0 ? (rows as unknown[]) : [row]).filter(isNode);

/** What to record of an instance, in place of asking the user. */
interface GivenJudgement {
  readonly tags?: readonly string[];
  readonly note?: string;
}

const isJudgement = (value: unknown): value is GivenJudgement =>
  typeof value === 'object' && value !== null && ('tags' in value || 'note' in value);

/** Asks what to record. @returns undefined when the user cancels */
async function askWhatToJudge(
  given: unknown,
): Promise<'all' | 'tags' | 'note' | 'classification' | undefined> {
  if (isJudgement(given)) return given.tags === undefined ? 'note' : 'tags';
  const items = [
    {
      label: vscode.l10n.t('Judge One by One'),
      description: vscode.l10n.t('tags and a note, from this instance on'),
      what: 'all',
    },
    { label: vscode.l10n.t('Edit Tags…'), what: 'tags' },
    { label: vscode.l10n.t('Edit Note…'), what: 'note' },
    { label: vscode.l10n.t('Classify Issue…'), what: 'classification' },
  ] as const;
  const title = vscode.l10n.t('Judge Instances');
  return (await vscode.window.showQuickPick(items, { title }))?.what;
}

/** Asks which instances a command is about. @returns their ids; undefined when the user cancels */
async function askWhichInstances(
  possible: readonly PossibleInstances[],
  title = vscode.l10n.t('Select Instances'),
): Promise<readonly string[] | undefined> {
  const items = possible.map(({ are, ids }) => ({
    label: ids.length === 1 ? (ids[0] ?? '') : vscode.l10n.t('{0} instances', ids.length),
    description:
      are === 'open'
        ? vscode.l10n.t('the open instance')
        : are === 'listed'
          ? vscode.l10n.t('all in the Instances view')
          : vscode.l10n.t('selected in the Instances view'),
    ids,
  }));
  return (await vscode.window.showQuickPick(items, { title }))?.ids;
}

/** The instances of the chosen dataset, by repository, with status. */
class InstanceList {
  private groups: ShownInstances['groups'] = new Map();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly view: vscode.TreeView<ListNode>,
  ) {
    this.arrange();
  }

  private get shown(): ShownInstances {
    const { catalogue, groups } = this;
    return { catalogue, groups };
  }

  /** Takes over the current contents of the catalogue. Call it before the view redraws. */
  arrange(): void {
    this.groups = entriesByRepository(this.catalogue.entries());
    const { description, message } = headOfInstances(this.shown);
    this.view.description = description ?? '';
    this.view.message = message ?? '';
  }

  /** The ids of all instances from the top of the list to its end, folded ones too. */
  ids(): string[] {
    return instanceNodes(this.shown).flatMap((node) =>
      node.kind === 'repository' ? node.ids : [],
    );
  }

  getChildren(node?: ListNode): ListNode[] {
    return instanceNodes(this.shown, node);
  }

  /** VS Code needs it to reveal a row whose parent is folded. */
  getParent(node: ListNode): ListNode | undefined {
    return parentOfInstance(this.shown, node);
  }

  getTreeItem(node: ListNode): vscode.TreeItem {
    return treeItemOf(instanceTreeRow(this.shown, node));
  }

  /** Adds the tooltip, which is needed only when the pointer rests on a row. */
  resolveTreeItem(item: vscode.TreeItem, node: ListNode): vscode.TreeItem {
    const entry = node.kind === 'instance' ? this.catalogue.entry(node.id) : undefined;
    if (entry !== undefined) item.tooltip = this.tooltip(entry);
    return item;
  }

  private tooltip(entry: InstanceEntry): vscode.MarkdownString {
    const text = new vscode.MarkdownString();
    for (const paragraph of paragraphsOn(this.catalogue, entry)) {
      appendPlainText(text, paragraph).appendMarkdown('\n\n');
    }
    return text;
  }
}
