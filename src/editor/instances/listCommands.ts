import { basename } from 'node:path';
import * as vscode from 'vscode';
import { queryHelp } from '../../dataset/query';
import { sortKeys, type SortOrder } from '../../dataset/sortOrder';
import type { InstanceEntry } from '../../domain/instance';
import { HumanError, messageOf } from '../../domain/work';
import { iconBeside } from '../shell/draw';
import { settingKeys } from '../shell/names';
import { filterLists } from '../shell/settings';
import type { Catalogue } from './catalogue';
import { statusInWords, issueTitle } from './instanceTreeRow';

/** Datasets in common use, by their names on Hugging Face. */
const published = [
  ['princeton-nlp/SWE-bench_Lite', '300 instances; SWT-Bench Lite keeps 276 of them'],
  ['princeton-nlp/SWE-bench_Verified', '500 instances; SWT-Bench Verified keeps 433 of them'],
  ['princeton-nlp/SWE-bench', '2294 instances; SWT-Bench keeps 1983 of them'],
  ['SWE-bench-Live/SWE-bench-Live', 'new issues of many repositories'],
] as const;

interface DatasetItem extends vscode.QuickPickItem {
  choose?(): Promise<string | undefined>;
}

/**
 * Asks for a dataset and stores it in the setting of the Instances view.
 *
 * @returns whether one was chosen
 */
export async function chooseDataset(
  catalogue: Catalogue,
  memory: vscode.Memento,
  given?: string,
): Promise<boolean> {
  const recent = memory.get<string[]>('datasets.recent', []);
  const name = given ?? (await askForDataset(recent));
  if (name === undefined || name.trim() === '') return false;
  await memory.update('datasets.recent', [...new Set([name, ...recent])].slice(0, 8));
  const configuration = vscode.workspace.getConfiguration();
  if (catalogue.datasetName === name) await catalogue.reload();
  else {
    const { Global } = vscode.ConfigurationTarget;
    await catalogue.whileChosen(configuration.update(settingKeys.dataset, name, Global));
  }
  return true;
}

async function askForDataset(recent: readonly string[]): Promise<string | undefined> {
  const items: DatasetItem[] = [
    {
      label: '$(file) ' + vscode.l10n.t('File…'),
      description: vscode.l10n.t('JSON, JSONL or Parquet, plain or gzipped'),
      choose: () => pick({ canSelectFiles: true, canSelectFolders: false }),
    },
    {
      label: '$(folder) ' + vscode.l10n.t('Folder…'),
      description: vscode.l10n.t('all dataset files in a folder'),
      choose: () => pick({ canSelectFiles: false, canSelectFolders: true }),
    },
    {
      label: '$(globe) ' + vscode.l10n.t('Address or Name…'),
      description: vscode.l10n.t('https://… or owner/name on Hugging Face'),
      choose: async () =>
        vscode.window.showInputBox({
          title: vscode.l10n.t('Choose Dataset'),
          prompt: vscode.l10n.t('https://… or owner/name on Hugging Face, with :split if not test'),
          ignoreFocusOut: true,
        }),
    },
    {
      label: vscode.l10n.t('bundled'),
      description: vscode.l10n.t('one small instance, included in the extension'),
      choose: async () => 'bundled',
    },
    ...(recent.length === 0
      ? []
      : [{ label: vscode.l10n.t('recent'), kind: vscode.QuickPickItemKind.Separator }]),
    ...recent.map((label) => ({ label, choose: async () => label })),
    { label: vscode.l10n.t('on Hugging Face'), kind: vscode.QuickPickItemKind.Separator },
    ...published.map(([label, description]) => ({
      label,
      description,
      choose: async () => `hf:${label}`,
    })),
  ];
  const chosen = await vscode.window.showQuickPick(items.map(iconBeside), {
    title: vscode.l10n.t('Choose Dataset'),
    placeHolder: vscode.l10n.t('Rows of SWE-bench, SWT-Bench or SWE-bench Live'),
    matchOnDescription: true,
  });
  return chosen?.choose?.();
}

async function pick(
  options: Pick<vscode.OpenDialogOptions, 'canSelectFiles' | 'canSelectFolders'>,
): Promise<string | undefined> {
  const found = await vscode.window.showOpenDialog({
    ...options,
    canSelectMany: false,
    title: vscode.l10n.t('Dataset'),
    openLabel: vscode.l10n.t('Use as Dataset'),
  });
  return found?.[0]?.fsPath;
}

/** An input box whose filter applies during typing. Escape restores the old one. */
export function editFilter(catalogue: Catalogue): Promise<void> {
  const before = catalogue.filter;
  const box = vscode.window.createInputBox();
  box.title = vscode.l10n.t('Filter Instances');
  box.value = before;
  box.placeholder = 'repo:sympy status:valid changed:<20 tag:mine created:2020..2022 matrix';
  box.prompt = queryHelp;
  const apply = (text: string): boolean => {
    try {
      catalogue.setFilter(text);
      box.validationMessage = '';
      return true;
    } catch (error) {
      box.validationMessage = messageOf(error);
      return false;
    }
  };
  return new Promise((resolve) => {
    let accepted = false;
    box.onDidChangeValue(apply);
    box.onDidAccept(() => {
      accepted = apply(box.value);
      if (accepted) box.hide();
    });
    box.onDidHide(() => {
      if (!accepted) catalogue.setFilter(before);
      box.dispose();
      resolve();
    });
    box.show();
  });
}

/** Narrows the list to a filter list. `None` shows all instances again. */
export async function chooseFilterList(catalogue: Catalogue, given?: string): Promise<void> {
  const none = vscode.l10n.t('None');
  const items = [
    { label: none, description: vscode.l10n.t('every instance of the dataset') },
    { label: 'Lite', description: vscode.l10n.t('instances of SWE-bench Lite in SWT-Bench') },
    {
      label: 'Verified',
      description: vscode.l10n.t('instances of SWE-bench Verified in SWT-Bench'),
    },
    { label: 'Full', description: vscode.l10n.t('instances of SWE-bench in SWT-Bench') },
    {
      label: 'Lite-S',
      description: vscode.l10n.t(
        'issues that you classified, without exact patches, misleading or insufficient ones',
      ),
    },
    ...Object.keys(filterLists()).map((label) => ({
      label,
      description: vscode.l10n.t('from the setting {0}', settingKeys.filterLists),
    })),
    { label: vscode.l10n.t('File…'), description: vscode.l10n.t('one ID per line') },
  ];
  const chosen =
    given ??
    (
      await vscode.window.showQuickPick(items, {
        title: vscode.l10n.t('Use Filter List'),
        matchOnDescription: true,
      })
    )?.label;
  if (chosen === undefined) return;
  const name = chosen === vscode.l10n.t('File…') ? await pickFile() : chosen;
  if (name !== undefined) await catalogue.setFilterList(name === none ? undefined : name);
}

async function pickFile(): Promise<string | undefined> {
  const found = await vscode.window.showOpenDialog({
    canSelectMany: false,
    title: vscode.l10n.t('Filter List'),
    openLabel: vscode.l10n.t('Use as Filter List'),
  });
  return found?.[0]?.fsPath;
}

export async function chooseOrder(catalogue: Catalogue): Promise<void> {
  const now = catalogue.sortOrder;
  const items = Object.entries(sortKeys).flatMap(([key, words]) =>
    [false, true].map((descending) => {
      const by = key as SortOrder['by'];
      const current = by === now.by && descending === now.descending;
      return {
        label: `${descending ? '$(arrow-down)' : '$(arrow-up)'} ${capital(words[descending ? 1 : 0])}`,
        ...(current ? { description: vscode.l10n.t('current') } : {}),
        order: { by, descending },
      };
    }),
  );
  const chosen = await vscode.window.showQuickPick(items.map(iconBeside), {
    title: vscode.l10n.t('Sort Instances'),
  });
  if (chosen !== undefined) await catalogue.setSortOrder(chosen.order);
}

/** A quick pick over every instance of the dataset, with the first line of its issue. */
export async function findInstance(catalogue: Catalogue): Promise<InstanceEntry | undefined> {
  const entries = catalogue.dataset?.entries;
  if (entries === undefined) {
    throw new HumanError(
      vscode.l10n.t('No dataset is open'),
      vscode.l10n.t('Run "SWT-Bench: Choose Dataset…" first'),
    );
  }
  const items = entries.map((entry) => ({
    label: entry.id,
    description: [entry.createdAt.slice(0, 10), statusInWords(catalogue.statusOf(entry.id))]
      .filter((each) => each !== '')
      .join(' · '),
    detail: issueTitle(entry),
    entry,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Find Instance in {0}', basename(catalogue.datasetName)),
    placeHolder: vscode.l10n.t('Instance ID, or words from the first line of the issue'),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.entry;
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
