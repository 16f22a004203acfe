import * as l10n from '@vscode/l10n';
import { plural, asLabel } from '../../domain/text';
import { describeProblem } from '../../dataset/dataset';
import type { InstanceEntry } from '../../domain/instance';
import { shortDatasetName } from '../../study/entry';
import {
  candidateOf,
  goldenOf,
  type CandidateStatus,
  type GoldenStatus,
  type InstanceStatus,
  soundnessOf,
} from '../../domain/soundness';
import { inTermsOfSettings } from '../shell/inTermsOfSettings';
import { commandIds, listCommandIds } from '../shell/names';
import type { TreeRow } from '../shell/treeRow';
import type { Catalogue } from './catalogue';

/** What a row of the Instances view is about. */
export type ListNode =
  | { readonly kind: 'repository'; readonly repo: string; readonly ids: readonly string[] }
  | { readonly kind: 'instance'; readonly id: string }
  | { readonly kind: 'problems' }
  | { readonly kind: 'problem'; readonly text: string }
  /** An action offered when there is nothing to list. */
  | {
      readonly kind: 'action';
      readonly label: string;
      readonly icon: string;
      readonly command: string;
    };

/** Rows that the user can scan without folding. */
const fewRows = 60;

/** Maximum number of problems that the view lists. */
const mostProblems = 200;

/** What the Instances view shows. */
export interface ShownInstances {
  readonly catalogue: Pick<
    Catalogue,
    | 'state'
    | 'isFiltered'
    | 'filter'
    | 'filterList'
    | 'datasetName'
    | 'entry'
    | 'statusOf'
    | 'triageOf'
    | 'validationOf'
  >;
  /** Entries that match the filter, by repository, in the order of the list. */
  readonly groups: ReadonlyMap<string, readonly InstanceEntry[]>;
}

/** Entries by repository. Repositories and entries keep their order. */
export function entriesByRepository(
  entries: readonly InstanceEntry[],
): ReadonlyMap<string, readonly InstanceEntry[]> {
  const groups = new Map<string, InstanceEntry[]>();
  for (const entry of entries) {
    const group = groups.get(entry.repo);
    if (group === undefined) groups.set(entry.repo, [entry]);
    else group.push(entry);
  }
  return groups;
}

const countOf = ({ groups }: ShownInstances): number =>
  [...groups.values()].reduce((sum, { length }) => sum + length, 0);

const problemsOf = ({ catalogue: { state } }: ShownInstances) =>
  state.kind === 'loaded' ? state.dataset.problems : [];

/**
 * Description beside the title of the view, and message above its rows; empty when there is none.
 */
export function headOfInstances(shown: ShownInstances): {
  readonly description: string;
  readonly message: string;
} {
  const { state, isFiltered, filter, filterList, datasetName } = shown.catalogue;
  const description = state.kind === 'none' ? '' : shortDatasetName(datasetName);
  if (state.kind === 'failed') return { description, message: state.why };
  if (state.kind !== 'loaded') return { description, message: '' };
  const all = state.dataset.entries.length;
  if (!isFiltered) return { description: `${all} · ${description}`, message: '' };
  const by = [filterList, filter].filter((each) => each !== undefined && each !== '').join(' · ');
  return { description, message: l10n.t('{0} of {1}: {2}', countOf(shown), all, by) };
}

/** The rows below a row, or at the top without one. */
export function instanceNodes(shown: ShownInstances, node?: ListNode): ListNode[] {
  if (node === undefined) {
    if (shown.groups.size === 0) return actions(shown);
    const repositories = [...shown.groups.keys()].sort((a, b) => a.localeCompare(b));
    return [
      ...repositories.map((repo) => repositoryNode(shown, repo)),
      ...(problemsOf(shown).length > 0 ? [{ kind: 'problems' } as const] : []),
    ];
  }
  if (node.kind === 'repository') return node.ids.map((id) => ({ kind: 'instance', id }));
  if (node.kind === 'problems') {
    return problemsOf(shown)
      .slice(0, mostProblems)
      .map((problem) => ({ kind: 'problem', text: describeProblem(problem) }));
  }
  return [];
}

const repositoryNode = ({ groups }: ShownInstances, repo: string): ListNode => ({
  kind: 'repository',
  repo,
  ids: (groups.get(repo) ?? []).map((entry) => entry.id),
});

/** The parent of a row; undefined at the top, and for instances that the dataset lacks. */
export function parentOfInstance(shown: ShownInstances, node: ListNode): ListNode | undefined {
  if (node.kind === 'problem') return { kind: 'problems' };
  if (node.kind !== 'instance') return undefined;
  const repo = shown.catalogue.entry(node.id)?.repo;
  return repo === undefined ? undefined : repositoryNode(shown, repo);
}

/** Actions are rows, since a message above the rows would hide welcome content and its buttons. */
function actions({ catalogue }: ShownInstances): ListNode[] {
  const action = (label: string, icon: string, command: string): ListNode => ({
    kind: 'action',
    label,
    icon,
    command,
  });
  const { state, isFiltered } = catalogue;
  if (state.kind === 'failed') {
    return [
      action(l10n.t('Try Again'), 'refresh', commandIds.refresh),
      action(l10n.t('Choose Another Dataset…'), 'database', listCommandIds.chooseDataset),
    ];
  }
  if (state.kind === 'loaded' && isFiltered) {
    return [
      action(l10n.t('Change Filter…'), 'filter', listCommandIds.filter),
      action(l10n.t('Clear Filter'), 'clear-all', listCommandIds.clearFilter),
    ];
  }
  return [];
}

/** A row as it is shown. */
export function instanceTreeRow(shown: ShownInstances, node: ListNode): TreeRow {
  switch (node.kind) {
    case 'repository':
      return repositoryRow(shown, node);
    case 'instance':
      return instanceRow(shown, node);
    case 'problems': {
      const count = problemsOf(shown).length;
      return {
        label:
          count === 1 ? l10n.t('1 row cannot be used') : l10n.t('{0} rows cannot be used', count),
        icon: { id: 'warning' },
        children: 'folded',
      };
    }
    case 'action': {
      const { label, icon, command } = node;
      return { label, icon: { id: icon }, command: { command, title: label } };
    }
    case 'problem':
      return { label: node.text, tooltip: node.text };
  }
}

function repositoryRow(
  shown: ShownInstances,
  { repo, ids }: Extract<ListNode, { kind: 'repository' }>,
): TreeRow {
  const { catalogue, groups } = shown;
  // Results of a filter should be visible at once. Their own id keeps the folding of the unfiltered
  // list.
  const unfolded = catalogue.isFiltered && countOf(shown) <= fewRows;
  const counts = new Map<string, number>();
  for (const id of ids) {
    for (const word of countedWords(catalogue.statusOf(id))) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const told = [...counts].map(([word, count]) => `${count} ${word}`);
  return {
    label: repo,
    id: `${unfolded ? 'found' : 'repository'} ${repo}`,
    description: [String(ids.length), ...told].join(' · '),
    icon: { id: 'repo' },
    children: unfolded || groups.size === 1 ? 'unfolded' : 'folded',
    contextValue: 'repository',
    spoken: [repo, plural(ids.length, 'instance'), ...told].join(', '),
  };
}

function instanceRow(
  { catalogue }: ShownInstances,
  node: Extract<ListNode, { kind: 'instance' }>,
): TreeRow {
  const { id } = node;
  const entry = catalogue.entry(id);
  const row = { id: `instance ${id}`, contextValue: 'instance' };
  if (entry === undefined) return { ...row, label: id };
  const status = catalogue.statusOf(id);
  const tags = (catalogue.triageOf(id)?.tags ?? []).map((tag) => `#${tag}`);
  return {
    ...row,
    // The row of the repository names the owner already, so `sympy__sympy-24152` shortens to
    // `sympy-24152`.
    label: id.slice(id.indexOf('__') < 0 ? 0 : id.indexOf('__') + 2),
    // The user's own words come first: a row is cut at its end.
    description: [...tags, statusInWords(status), issueTitle(entry)]
      .filter((each) => each !== '')
      .join(' · '),
    icon: statusIcon(status),
    command: {
      command: commandIds.showIssue,
      title: l10n.t('Show Issue'),
      arguments: [{ kind: 'instance', id } satisfies ListNode],
    },
    spoken: [id, ...tags, statusInWords(status, true), issueTitle(entry)].join(', '),
  };
}

/** Facts about an instance for the hover of its row, as paragraphs of plain text. */
export function paragraphsOn(
  catalogue: ShownInstances['catalogue'],
  entry: InstanceEntry,
): string[] {
  const { patch, tests } = entry;
  const validation = catalogue.validationOf(entry.id);
  const triage = catalogue.triageOf(entry.id);
  const files = (count: number): string => (count === 1 ? '1 file' : `${count} files`);
  return [
    entry.id,
    issueTitle(entry),
    [
      entry.version === '' ? '' : `version ${entry.version}`,
      entry.createdAt.slice(0, 10),
      entry.baseCommit.slice(0, 12),
    ]
      .filter((each) => each !== '')
      .join(' · '),
    `X*: ${plural(patch.lines, 'line')} in ${files(patch.files.length)} · ` +
      `T*: ${plural(tests.lines, 'line')} in ${files(tests.files.length)} · ` +
      `issue: ${plural(entry.issue.length, 'character')}`,
    `Status: ${statusInWords(catalogue.statusOf(entry.id), true)}`,
    ...(validation === undefined
      ? []
      : [
          soundnessOf(validation) === 'not validated'
            ? `Tried to validate on ${validation.date.slice(0, 10)}`
            : `Validated ${validation.date.slice(0, 10)}, ${plural(validation.repetitions, 'time')}, ` +
              `${validation.engine}, ${validation.environment}`,
          ...validation.reasons.map((reason) =>
            inTermsOfSettings(`${reason.kind}: ${reason.explanation}`),
          ),
        ]),
    ...(triage === undefined || triage.tags.length === 0
      ? []
      : [`Tags: ${triage.tags.join(', ')}`]),
    ...(triage === undefined || triage.note === '' ? [] : [`Note: ${triage.note}`]),
  ];
}

/** The first line of the issue that has words. Untrusted: show it as plain text only. */
export function issueTitle(entry: Pick<InstanceEntry, 'issue'>): string {
  const line = entry.issue
    .split('\n')
    .map((each) => each.replace(/^[#\s>*-]+/, '').trim())
    .find((each) => each !== '');
  return asLabel(line ?? '');
}

/**
 * The status for the end of a row, the later of validation and verdict first; `all` includes the
 * statuses that a row leaves out.
 */
export function statusInWords(status: InstanceStatus, all = false): string {
  switch (status.kind) {
    case 'not opened':
      return all ? l10n.t('not opened') : '';
    case 'opened':
      return all ? l10n.t('opened') : '';
    case 'golden valid':
    case 'golden invalid':
    case 'not validated':
    case 'candidate': {
      const [golden, candidate] = [goldenOf(status), candidateOf(status)];
      const words = [
        golden === undefined ? '' : goldenInWords(golden),
        candidate === undefined ? '' : candidateInWords(candidate),
      ];
      const ordered = status.kind === 'candidate' ? words.reverse() : words;
      return ordered.filter((each) => each !== '').join(' · ');
    }
  }
}

function goldenInWords(golden: GoldenStatus): string {
  switch (golden.kind) {
    case 'golden valid':
      return l10n.t('valid');
    case 'golden invalid':
      return l10n.t('invalid: {0}', golden.reason);
    case 'not validated':
      return l10n.t('not validated: {0}', golden.reason);
  }
}

const candidateInWords = (candidate: CandidateStatus): string =>
  candidate.success ? l10n.t('reproduces the issue') : l10n.t('candidate: {0}', candidate.reason);

/** The words under which the row of a repository counts an instance. */
function countedWords(status: InstanceStatus): string[] {
  if (status.kind === 'opened') return ['opened'];
  const [golden, candidate] = [goldenOf(status), candidateOf(status)];
  return [
    ...(golden === undefined ? [] : [golden.kind.replace(/^golden /, '')]),
    ...(candidate === undefined ? [] : [candidate.success ? 'success' : 'no success']),
  ];
}

function statusIcon(status: InstanceStatus): NonNullable<TreeRow['icon']> {
  switch (status.kind) {
    case 'not opened':
      return { id: 'circle-outline' };
    case 'opened':
      return { id: 'circle-filled' };
    case 'golden valid':
      return { id: 'verified', colour: 'testing.iconPassed' };
    case 'golden invalid':
      return { id: 'warning', colour: 'list.warningForeground' };
    case 'not validated':
      return { id: 'question' };
    case 'candidate':
      return status.success
        ? { id: 'pass-filled', colour: 'testing.iconPassed' }
        : { id: 'error', colour: 'testing.iconFailed' };
  }
}
