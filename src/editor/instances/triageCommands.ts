import { basename } from 'node:path';
import * as vscode from 'vscode';
import { emptyTriageEntry, updateTriage } from '../../dataset/triage';
import {
  descriptionQualities,
  locationsGiven,
  solutionsInDescription,
  type Classification,
  type TriageEntry,
} from '../../domain/soundness';
import { throwIfAborted } from '../../domain/work';
import { afterAWhile } from '../shell/progress';
import type { Catalogue } from './catalogue';
import { typedAfterTicking, typedTags } from './judgement';

/** Changes what the user noted of instances, and draws it. @throws HumanError, Cancelled */
export async function changeTriage(
  catalogue: Catalogue,
  ids: readonly string[],
  edit: (entry: TriageEntry) => TriageEntry,
): Promise<void> {
  try {
    await afterAWhile(
      vscode.l10n.t('Writing {0}', basename(catalogue.triagePath)),
      async (signal) => {
        for (const id of ids) {
          throwIfAborted(signal);
          await updateTriage(catalogue.triagePath, id, (entry) => edit(entry ?? emptyTriageEntry));
        }
      },
    );
  } finally {
    // Those before a cancellation are written.
    await catalogue.refreshTriage();
  }
}

/**
 * Edits the tags of one instance, or adds tags to several. Known tags can be ticked, new ones
 * typed.
 */
export async function editTags(
  catalogue: Catalogue,
  ids: readonly string[],
  given?: readonly string[],
): Promise<void> {
  const [only] = ids;
  const before =
    ids.length === 1 && only !== undefined ? catalogue.triageOf(only)?.tags : undefined;
  const chosen = given ?? (await pickTags(catalogue.tags, before ?? [], title(ids, 'Tags')));
  if (chosen === undefined) return;
  await changeTriage(catalogue, ids, (entry) => ({
    ...entry,
    tags: ids.length === 1 ? [...chosen] : [...new Set([...entry.tags, ...chosen])],
  }));
}

function pickTags(
  known: readonly string[],
  before: readonly string[],
  heading: string,
): Promise<string[] | undefined> {
  const box = vscode.window.createQuickPick();
  box.title = heading;
  box.placeholder = vscode.l10n.t('Select tags, or type new ones separated by commas');
  box.canSelectMany = true;
  const all = new Set([...known, ...before]);
  const draw = (): void => {
    const picked = new Set(box.selectedItems.map((item) => item.label));
    const typed = typedTags(box.value);
    // A row of its own, since only an input box can show what is wrong with its text.
    if ('problem' in typed) {
      box.items = [{ label: `$(warning) ${typed.problem}`, alwaysShow: true }];
      return;
    }
    const fresh = typed.filter((tag) => !all.has(tag));
    box.items = [
      ...fresh.map((label) => ({
        label,
        description: vscode.l10n.t('new tag'),
        alwaysShow: true,
      })),
      ...[...all].map((label) => ({ label, alwaysShow: typed.includes(label) })),
    ];
    box.selectedItems = box.items.filter((item) => picked.has(item.label));
  };
  box.items = [...all].map((label) => ({ label }));
  box.selectedItems = box.items.filter((item) => before.includes(item.label));
  let ticked = box.selectedItems.map((item) => item.label);
  return new Promise((resolve) => {
    let answer: string[] | undefined;
    box.onDidChangeValue(draw);
    box.onDidChangeSelection((items) => {
      if ('problem' in typedTags(box.value)) return;
      const added = items.map(({ label }) => label).filter((label) => !ticked.includes(label));
      ticked = items.map(({ label }) => label);
      for (const label of ticked) all.add(label);
      if (added.length === 0 || box.value === '') return;
      box.value = typedAfterTicking(box.value, added);
      draw();
    });
    box.onDidAccept(() => {
      const typed = typedTags(box.value);
      if ('problem' in typed) return;
      // What is typed counts, ticked or not.
      answer = [...new Set([...ticked, ...typed])];
      box.hide();
    });
    box.onDidHide(() => {
      box.dispose();
      resolve(answer);
    });
    box.show();
  });
}

export async function editNote(
  catalogue: Catalogue,
  ids: readonly string[],
  given?: string,
): Promise<void> {
  const [id] = ids;
  if (id === undefined) return;
  const note =
    given ??
    (await vscode.window.showInputBox({
      title: title([id], 'Note'),
      value: catalogue.triageOf(id)?.note ?? '',
      prompt: vscode.l10n.t('Leave empty to delete the note'),
      ignoreFocusOut: true,
    }));
  if (note !== undefined) await changeTriage(catalogue, [id], (entry) => ({ ...entry, note }));
}

/**
 * Asks for the classification of the Agentless paper (section 6.1), with one quick pick for each
 * dimension.
 */
export async function classify(catalogue: Catalogue, ids: readonly string[]): Promise<void> {
  const [id] = ids;
  if (id === undefined) return;
  let made: Classification = catalogue.triageOf(id)?.classification ?? {};
  const steps: [
    string,
    Readonly<Record<string, string>>,
    string | undefined,
    (key?: string) => void,
  ][] = [
    [
      vscode.l10n.t('Description quality'),
      descriptionQualities,
      made.description,
      (key) => (made = put(made, 'description', key)),
    ],
    [
      vscode.l10n.t('Solution in the description'),
      solutionsInDescription,
      made.solution,
      (key) => (made = put(made, 'solution', key)),
    ],
    ...(['line', 'function', 'file'] as const).map((granularity): (typeof steps)[number] => [
      vscode.l10n.t('Location: {0}', granularity),
      locationsGiven,
      made.location?.[granularity],
      (key) => (made = put(made, 'location', put(made.location ?? {}, granularity, key))),
    ]),
  ];
  for (const [index, [dimension, categories, current, take]] of steps.entries()) {
    const unjudged = vscode.l10n.t('not classified');
    const items = [
      ...Object.entries(categories).map(([key, words]) => ({
        label: `${key === current ? '$(check) ' : ''}${words}`,
        key,
      })),
      { label: unjudged, key: undefined },
    ];
    const chosen = await vscode.window.showQuickPick(items, {
      title: `${title([id], dimension)} (${index + 1}/${steps.length})`,
      placeHolder: vscode.l10n.t('Press Escape to keep the answers so far'),
    });
    if (chosen === undefined) break;
    take(chosen.key);
  }
  await changeTriage(catalogue, [id], (entry) => ({ ...entry, classification: made }));
}

/** A copy with the value at the key, or without the key when there is no value. */
function put<T extends object>(object: T, key: keyof T, value: unknown): T {
  const entries = Object.entries(object).filter(([name]) => name !== key);
  return Object.fromEntries(value === undefined ? entries : [...entries, [key, value]]) as T;
}

function title(ids: readonly string[], what: string): string {
  return ids.length === 1 ? `${what}: ${ids[0]}` : `${what}: ${ids.length} instances`;
}
