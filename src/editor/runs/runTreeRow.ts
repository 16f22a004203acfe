import * as l10n from '@vscode/l10n';
import { basename, dirname } from 'node:path';
import { durationText } from '../../batch/progressText';
import { percent } from '../../study/numbers';
import type { Progress } from '../../dashboard/protocol';
import type { RunData } from '../../study/entry';
import { type EvaluatedMethod, summariseMethod } from '../../study/measures';
import { runCommandIds } from '../shell/names';
import type { TreeRow } from '../shell/treeRow';
import { denominatorInWords } from './denominatorChoices';
import type { RepairResults } from '../../study/document';

/** What a row of the Runs view is about. */
export type RunNode =
  | { readonly kind: 'run'; readonly label: string }
  | { readonly kind: 'method'; readonly run: string; readonly id: string }
  | { readonly kind: 'repairs'; readonly path: string }
  | { readonly kind: 'problems' }
  | { readonly kind: 'problem'; readonly text: string };

/** What the Runs view shows. */
export interface ShownRuns {
  readonly runs: readonly RunData[];
  /** What could not be read, one sentence each. Untrusted. */
  readonly problems: readonly string[];
  readonly repairs: readonly ListedRepairs[];
  readonly methodsOf: (run: RunData) => readonly EvaluatedMethod[];
  /** Progress of a run under way; undefined for all others. */
  readonly progressOf: (run: RunData) => Progress | undefined;
}

/** Maximum number of problems that the view lists. */
const mostProblems = 200;

const runOf = ({ runs }: ShownRuns, label: string): RunData | undefined =>
  runs.find((run) => run.label === label);

/** The rows below a row, or at the top without one. */
export function runNodes(shown: ShownRuns, node?: RunNode): RunNode[] {
  const { runs, problems, repairs } = shown;
  if (node === undefined) {
    return [
      ...runs.map(({ label }): RunNode => ({ kind: 'run', label })),
      ...repairs.map(({ path }): RunNode => ({ kind: 'repairs', path })),
      ...(problems.length > 0 ? [{ kind: 'problems' } as const] : []),
    ];
  }
  if (node.kind === 'problems') {
    return problems.slice(0, mostProblems).map((text) => ({ kind: 'problem', text }));
  }
  const run = node.kind === 'run' ? runOf(shown, node.label) : undefined;
  if (run === undefined) return [];
  const methods = shown.methodsOf(run);
  return methods.length < 2
    ? []
    : methods.map(({ id }) => ({ kind: 'method', run: run.label, id }));
}

/** A row as it is shown. */
export function runTreeRow(shown: ShownRuns, node: RunNode): TreeRow {
  switch (node.kind) {
    case 'run':
      return runRow(shown, node.label);
    case 'method':
      return methodRow(shown, node);
    case 'repairs':
      return repairsRow(shown, node.path);
    case 'problems': {
      const count = shown.problems.length;
      return {
        label:
          count === 1 ? l10n.t('1 item cannot be read') : l10n.t('{0} items cannot be read', count),
        icon: { id: 'warning' },
        children: 'folded',
      };
    }
    case 'problem':
      return { label: node.text, tooltip: node.text };
  }
}

function runRow(shown: ShownRuns, label: string): TreeRow {
  const id = `run ${label}`;
  const run = runOf(shown, label);
  if (run === undefined) return { label, id };
  const methods = shown.methodsOf(run);
  const state = stateOf(run, shown.progressOf(run));
  const rates = ratesOfAll(methods);
  const description = [state.words, rates].filter((each) => each !== '').join(' · ');
  const facts = [
    label,
    state.words,
    ...methods.map((method) => `${method.name}: ${ratesInWords(method)}`),
    run.denominator === undefined
      ? l10n.t('{0} instances', run.instances.length)
      : l10n.t('Rates: {0}', denominatorInWords(run)),
    run.dataset ?? '',
    run.created?.slice(0, 16).replace('T', ' ') ?? '',
    run.place ?? run.folder ?? '',
  ];
  return {
    label,
    id,
    description,
    tooltip: facts.filter((each) => each !== '').join('\n'),
    icon: { id: state.icon },
    ...(methods.length > 1 ? { children: 'folded' } : {}),
    contextValue: state.context,
    command: {
      command: runCommandIds.openDashboard,
      title: l10n.t('Open Dashboard'),
      arguments: [{ kind: 'run', label } satisfies RunNode],
    },
    spoken: `${label}, ${description}`,
  };
}

/** State of a run: its icon, its words, and the value that menus test. */
interface RunState {
  readonly icon: string;
  readonly words: string;
  readonly context: string;
}

function stateOf(run: RunData, progress: Progress | undefined): RunState {
  if (progress === undefined) {
    return run.unfinished === true
      ? { icon: 'debug-disconnect', words: l10n.t('not finished'), context: 'run' }
      : { icon: 'graph', words: '', context: 'run' };
  }
  const { done, total, perHour, secondsLeft, controlled } = progress;
  const far = l10n.t('{0} of {1}', done, total);
  if (progress.interrupted) {
    return {
      icon: 'debug-disconnect',
      words: `${far} · ${l10n.t('interrupted')}`,
      context: 'run',
    };
  }
  const mine = controlled ? '.mine' : '';
  if (progress.paused) {
    return {
      icon: 'debug-pause',
      words: `${far} · ${l10n.t('paused')}`,
      context: `run.paused${mine}`,
    };
  }
  const speed = perHour === undefined ? '' : l10n.t('{0} per hour', Math.round(perHour));
  const left = secondsLeft === undefined ? '' : l10n.t('{0} left', durationText(secondsLeft));
  return {
    icon: 'sync~spin',
    words: [far, speed, left].filter((each) => each !== '').join(' · '),
    context: `run.running${mine}`,
  };
}

function methodRow(
  shown: ShownRuns,
  { run: label, id }: Extract<RunNode, { kind: 'method' }>,
): TreeRow {
  const run = runOf(shown, label);
  const method = run && shown.methodsOf(run).find((each) => each.id === id);
  return {
    label: method?.name ?? '',
    id: `method ${id}`,
    icon: { id: 'symbol-method' },
    ...(method === undefined ? {} : { description: ratesInWords(method) }),
  };
}

function repairsRow({ repairs }: ShownRuns, path: string): TreeRow {
  const listed = repairs.find((each) => each.path === path);
  const results = listed?.results;
  const name = results?.name ?? basename(path);
  const count = results?.resolved.length ?? 0;
  const description =
    results === undefined
      ? l10n.t('cannot be read')
      : results.attempted === undefined
        ? l10n.t('code repair · {0} resolved', count)
        : l10n.t('code repair · {0} of {1} resolved', count, results.attempted.length);
  return {
    label: name,
    id: `repairs ${path}`,
    description,
    tooltip: [path, listed?.problem ?? ''].filter((each) => each !== '').join('\n'),
    icon: { id: results === undefined ? 'warning' : 'tools' },
    contextValue: 'repairs',
    spoken: `${name}, ${description}`,
  };
}

/** The name and rates of the only method of a run, or the number of methods. */
export function ratesOfAll(methods: readonly EvaluatedMethod[]): string {
  const [only] = methods;
  if (only === undefined) return '';
  if (methods.length > 1) return l10n.t('{0} methods', methods.length);
  return `${only.name} · ${ratesInWords(only)}`;
}

/** Rates of a method: `S 14.1 % (39 of 276) · ΔC 23.8 %`. */
export function ratesInWords(method: EvaluatedMethod): string {
  const { success, deltaAll, grading, findings, trajectoryFindings, answerSeen } =
    summariseMethod(method);
  const warned = trajectoryFindings?.any ?? 0;
  const share = success.of === 0 ? undefined : success.count / success.of;
  const told = [
    `S ${percent(share)} (${l10n.t('{0} of {1}', success.count, success.of)})`,
    deltaAll.mean === undefined ? '' : `ΔC ${percent(deltaAll.mean)}`,
    findings.any === 0
      ? ''
      : l10n.t('⚠ findings in {0} of {1} with F→P', findings.any, findings.of),
    warned === 0
      ? ''
      : l10n.t('⚠ findings in {0} of {1} trajectories', warned, trajectoryFindings?.of ?? 0),
    answerSeen === undefined ? '' : l10n.t('reads the answer: {0}', answerSeen),
    grading === 'harness' ? l10n.t('harness grading') : '',
  ];
  return told.filter((each) => each !== '').join(' · ');
}

/** Results of code repair from one file. */
export interface ListedRepairs {
  readonly path: string;
  /** With a name that no other file has; undefined when the file is no longer readable. */
  readonly results: RepairResults | undefined;
  /** Why the file is not readable. Untrusted. */
  readonly problem?: string;
}

/** The same files with distinct names: files of one name also show their folder. */
export function withDistinctNames(files: readonly ListedRepairs[]): readonly ListedRepairs[] {
  const times = new Map<string, number>();
  for (const { results } of files) {
    if (results !== undefined) times.set(results.name, (times.get(results.name) ?? 0) + 1);
  }
  return files.map((file) =>
    file.results === undefined || times.get(file.results.name) === 1
      ? file
      : {
          ...file,
          // The leaderboard stores a file of the same name for each method, each in its own folder.
          results: {
            ...file.results,
            name: `${file.results.name} (${basename(dirname(file.path))})`,
          },
        },
  );
}
