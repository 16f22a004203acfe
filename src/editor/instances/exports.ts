import { homedir } from 'node:os';
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { tagCounts, triageCsv } from '../../dataset/triage';
import type { Reporter } from '../../domain/work';
import { markdownCode, markdownProse, markdownTable } from '../../domain/text';
import { gatherStatistics, statisticsMarkdown } from '../../validation/statistics';
import { storageFolder } from '../shell/settings';
import { writeWholeFile } from '../../files/wholeFile';
import type { Catalogue } from './catalogue';
import { shortDatasetName } from '../../study/entry';
import { withNotification } from '../shell/progress';
import { withoutLinkMarkup } from '../shell/plainText';
import { scheme, statisticsAuthority } from '../shell/names';

/** What of the list is exported, and where to, in place of asking the user. */
interface GivenExport {
  readonly what: 'triage' | 'ids';
  readonly to: vscode.Uri;
}

export const isExport = (value: unknown): value is GivenExport =>
  typeof value === 'object' &&
  value !== null &&
  'what' in value &&
  'to' in value &&
  value.to instanceof vscode.Uri;

/**
 * Writes a file about the listed instances: tags, notes, classification and validation as CSV, or
 * their ids, one a line, as `--filter` takes them.
 */
export async function exportList(catalogue: Catalogue, given?: GivenExport): Promise<void> {
  const what = given?.what ?? (await askWhatToExport());
  if (what === undefined) return;
  const name = what === 'triage' ? 'triage.csv' : 'instances.txt';
  const to =
    given?.to ??
    (await vscode.window.showSaveDialog({
      title: vscode.l10n.t('Export List of Instances'),
      saveLabel: vscode.l10n.t('Export'),
      defaultUri: vscode.Uri.joinPath(exportFolder(), name),
    }));
  if (to === undefined) return;
  await writeWholeFile(to.fsPath, what === 'triage' ? triageText(catalogue) : idsText(catalogue));
  const open = vscode.l10n.t('Open');
  const count = catalogue.entries().length;
  const told =
    count === 1
      ? vscode.l10n.t('Exported 1 instance to {0}.', basename(to.path))
      : vscode.l10n.t('Exported {0} instances to {1}.', count, basename(to.path));
  void vscode.window.showInformationMessage(withoutLinkMarkup(told), open).then((chosen) => {
    if (chosen === open) void vscode.window.showTextDocument(to);
  });
}

async function askWhatToExport(): Promise<GivenExport['what'] | undefined> {
  const items = [
    {
      label: vscode.l10n.t('Triage as CSV'),
      description: vscode.l10n.t('tags, notes, classification and validation'),
      what: 'triage',
    },
    {
      label: vscode.l10n.t('Filter List'),
      description: vscode.l10n.t('one instance ID per line'),
      what: 'ids',
    },
  ] as const;
  const title = vscode.l10n.t('Export List of Instances');
  return (await vscode.window.showQuickPick(items, { title }))?.what;
}

const exportFolder = (): vscode.Uri =>
  vscode.workspace.workspaceFolders?.[0]?.uri ?? vscode.Uri.file(homedir());

const triageText = (catalogue: Catalogue): string =>
  triageCsv(
    catalogue.entries().map((entry) => ({
      entry,
      triage: catalogue.triageOf(entry.id),
      validation: catalogue.validationOf(entry.id),
      status: catalogue.statusOf(entry.id),
    })),
  );

const idsText = (catalogue: Catalogue): string =>
  `${[`# ${heading(catalogue)}`, ...catalogue.entries().map(({ id }) => id)].join('\n')}\n`;

/** Shows the listed instances by tag, and the figures of the paper's Table 1, as a rendered page. */
export async function showStatistics(catalogue: Catalogue, reporter: Reporter): Promise<void> {
  const table = await withNotification(
    vscode.l10n.t('Statistics of the listed instances'),
    reporter,
    async (shown, signal) =>
      gatherStatistics(catalogue.entries(), storageFolder(), { reporter: shown, signal }),
  );
  if (table === undefined) return;
  const judgements = catalogue.entries().map(({ id }) => catalogue.triageOf(id));
  const { tags, untagged } = tagCounts(judgements);
  const ofTags = tags.map(({ tag, instances }) => [markdownCode(`#${tag}`), String(instances)]);
  const whole = [
    `# ${vscode.l10n.t('Statistics')}`,
    markdownProse(heading(catalogue)),
    ...(tags.length === 0
      ? []
      : [markdownTable(['Tag', 'Instances'], [...ofTags, ['none', String(untagged)]], '')]),
    statisticsMarkdown(table),
  ].join('\n\n');
  const uri = statisticsUri(whole, shortDatasetName(catalogue.datasetName));
  await vscode.commands.executeCommand('markdown.showPreview', uri);
}

/** Describes the listed instances in words. */
function heading(catalogue: Catalogue): string {
  const { filter, filterList, datasetName } = catalogue;
  const count = catalogue.entries().length;
  return [
    `${count === 1 ? '1 instance' : `${count} instances`} of ${datasetName}`,
    ...(filterList === undefined ? [] : [`list ${filterList}`]),
    ...(filter === '' ? [] : [`filter ${filter}`]),
  ].join(', ');
}

/** Texts of this window, by the query of their documents. */
const texts = new Map<string, string>();

/** Keeps a text and returns the address of its read-only document. */
function statisticsUri(text: string, dataset: string): vscode.Uri {
  const query = String(texts.size + 1);
  texts.set(query, text);
  const name = vscode.l10n.t('Statistics of {0}', dataset).replaceAll('/', '_');
  return vscode.Uri.from({ scheme, authority: statisticsAuthority, path: `/${name}.md`, query });
}

/** Text of such a document. After a reload of the window it says how to get it again. */
export const statisticsDocument = ({ query }: vscode.Uri): string =>
  texts.get(query) ??
  vscode.l10n.t(
    'These statistics are no longer available. Run "SWT-Bench: Show Statistics of Instances" again.',
  );
