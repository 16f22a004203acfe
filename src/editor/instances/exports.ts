import * as vscode from 'vscode';
import { tagCounts, tagCountsText, triageCsv } from '../../dataset/triage';
import type { Reporter } from '../../domain/work';
import { gatherStatistics, statisticsText } from '../../validation/statistics';
import { storageFolder } from '../shell/settings';
import type { Catalogue } from './catalogue';
import { shortDatasetName } from '../../study/entry';
import { withNotification } from '../shell/progress';
import { scheme, statisticsAuthority } from '../shell/names';

/** Opens text in a new editor, where the person can save it. */
async function openText(content: string, language: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ content, language });
  await vscode.window.showTextDocument(document, { preview: false });
}

/** Tags, notes, classification and validation of the listed instances as CSV. */
export async function exportTriage(catalogue: Catalogue): Promise<void> {
  const rows = catalogue.entries().map((entry) => ({
    entry,
    triage: catalogue.triageOf(entry.id),
    validation: catalogue.validationOf(entry.id),
    status: catalogue.statusOf(entry.id),
  }));
  await openText(triageCsv(rows), 'csv');
}

/** The ids of the listed instances, one a line, as `--filter` takes them. */
export async function exportFilterList(catalogue: Catalogue): Promise<void> {
  const ids = catalogue.entries().map((entry) => entry.id);
  await openText(`${[`# ${heading(catalogue)}`, ...ids].join('\n')}\n`, 'plaintext');
}

/** The listed instances by tag, and the figures of the paper's Table 1. */
export async function showStatistics(catalogue: Catalogue, reporter: Reporter): Promise<void> {
  const text = await withNotification(
    vscode.l10n.t('Statistics of the listed instances'),
    reporter,
    async (shown, signal) =>
      statisticsText(
        await gatherStatistics(catalogue.entries(), storageFolder(), { reporter: shown, signal }),
      ),
  );
  if (text === undefined) return;
  const judgements = catalogue.entries().map(({ id }) => catalogue.triageOf(id));
  const ofTags = tagCountsText(tagCounts(judgements));
  const whole = [heading(catalogue), '', ...(ofTags === '' ? [] : [ofTags]), text].join('\n');
  // Nothing in it is to be edited or saved, so closing it asks nothing.
  const uri = statisticsUri(whole, shortDatasetName(catalogue.datasetName));
  await vscode.window.showTextDocument(uri, { preview: false });
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
  return vscode.Uri.from({ scheme, authority: statisticsAuthority, path: `/${name}.txt`, query });
}

/** Text of such a document. After a reload of the window it says how to get it again. */
export const statisticsDocument = ({ query }: vscode.Uri): string =>
  texts.get(query) ??
  vscode.l10n.t('These statistics are gone. Run "SWT-Bench: Statistics" to count again.');
