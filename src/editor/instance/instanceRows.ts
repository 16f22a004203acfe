import * as l10n from '@vscode/l10n';
import { lineStates, type ChangeCoverage } from '../../domain/changeCoverage';
import { asLabel } from '../../domain/text';
import type { CandidateResult } from '../../evaluation/candidateResult';
import { findingSentences } from '../../domain/finding';
import { coverageCell } from '../../results/resultTable';
import type { EngineProblem } from '../shell/engineReadiness';
import { commandIds, internalCommandIds } from '../shell/names';
import type { TreeRow } from '../shell/treeRow';
import { successInWords } from '../testing/transitionTexts';
import { findingsInWords, verdictInWords } from '../verdict/verdictSentences';

/** What the view of the open instance shows. */
export interface InstanceAtAGlance {
  /** Text of the issue; the view shows its first line. */
  readonly issue: string;
  /** What prevents tests from running. */
  readonly problem: EngineProblem | undefined;
  readonly isRunning: boolean;
  /** Whether all that runs is cancelled and is being stopped. */
  readonly isCancelling: boolean;
  /** What is prepared before the tests run; undefined once they run. */
  readonly step: string | undefined;
  readonly environment: {
    /** Engine and environment of the tests; undefined before their first use. */
    readonly runsWith: string | undefined;
    /** Whether tests run in containers, each of which brings its Python. */
    readonly isContainer: boolean;
    /** How far its making is; undefined while none is made. */
    readonly step: string | undefined;
    /** The last outcome, with the time. */
    readonly last: string | undefined;
  };
  /** The last verdict, if any. */
  readonly result: CandidateResult | undefined;
  /** Whether the last verdict, if any, is about the current workspace. */
  readonly current: boolean;
  /** Whether the workspace differs from R. */
  readonly hasCandidate: boolean;
  readonly revealed: boolean;
}

/** The parts that every row of this view sets; `instanceRows` adds the rest. */
type Glance = Required<Pick<TreeRow, 'label' | 'description' | 'tooltip' | 'icon'>> & {
  /** Id of the command that a click runs. */
  readonly runs: string;
};

/**
 * The open instance at a glance: the problem, issue, candidate, change coverage, golden patch,
 * environment.
 */
export function instanceRows(about: InstanceAtAGlance): TreeRow[] {
  return [
    ...(about.problem === undefined ? [] : [hindrance(about.problem)]),
    issueRow(about.issue),
    candidateRow(about),
    coverageRow(about),
    goldenRow(about.revealed),
    environmentRow(about.environment),
  ].map(({ runs, ...row }) => ({
    ...row,
    command: { command: runs, title: row.label },
    // A screen reader cannot read the icon, which shows the verdict.
    spoken: `${row.label}: ${row.description}. ${row.tooltip}`,
  }));
}

/** The row at the top that says what prevents tests from running. */
const hindrance = ({ missing, text }: EngineProblem): Glance => ({
  label: whatIsMissing(missing),
  description: l10n.t('tests cannot run; click to check again'),
  tooltip: text,
  icon: { id: 'warning', colour: 'list.warningForeground' },
  runs: internalCommandIds.checkEngine,
});

/** What prevents tests from running, in few words. */
export function whatIsMissing(missing: EngineProblem['missing']): string {
  if (missing === 'docker') return l10n.t('No container engine');
  return missing === 'storage' ? l10n.t('No storage folder') : l10n.t('No Python');
}

const issueRow = (issue: string): Glance => ({
  label: l10n.t('Issue'),
  description: asLabel(issue.trimStart().split('\n')[0] ?? ''),
  tooltip: l10n.t('Shows what the tests should reproduce'),
  icon: { id: 'issues' },
  runs: commandIds.showIssue,
});

/** Note of a row whose verdict is not about the current workspace. */
const outdated = (was: string): Pick<Glance, 'description' | 'tooltip' | 'icon'> => ({
  description: l10n.t('out of date: run again'),
  tooltip: l10n.t('Was: {0}', was),
  icon: { id: 'history' },
});

function candidateRow({
  isRunning,
  isCancelling,
  step,
  result,
  current,
  hasCandidate,
}: InstanceAtAGlance): Glance {
  const row = { label: l10n.t('Candidate'), runs: commandIds.reproduce };
  const strict = result?.strict;
  if (isCancelling) {
    return {
      ...row,
      description: l10n.t('canceling the run'),
      tooltip: l10n.t('Stopping the tests'),
      icon: { id: 'sync~spin' },
    };
  }
  if (isRunning) {
    return {
      ...row,
      description:
        step === undefined ? l10n.t('running on R and R∘X*') : l10n.t('preparing: {0}', step),
      tooltip:
        (current ? strict?.explanation : undefined) ?? l10n.t('The verdict will appear here'),
      icon: { id: 'sync~spin' },
    };
  }
  if (strict === undefined && !hasCandidate) {
    return {
      label: row.label,
      description: l10n.t('none yet: add a test'),
      tooltip: l10n.t('Write a test that fails on R for the reason in the issue'),
      icon: { id: 'beaker' },
      runs: commandIds.showIssue,
    };
  }
  if (strict === undefined) {
    return {
      ...row,
      description: l10n.t('no verdict yet: run the tests'),
      tooltip: l10n.t('Write a test that fails on R, then run it'),
      icon: { id: 'beaker' },
    };
  }
  if (!current) return { ...row, ...outdated(strict.explanation) };
  const { ownTests = [], findings = [] } = result ?? {};
  return {
    ...row,
    description: [
      // At the front, since the view is narrow.
      ...(findings.length === 0 ? [] : [findingsInWords(findings)]),
      strict.success ? successInWords() : verdictInWords({ strict, ownTests }),
    ].join(' · '),
    tooltip: [
      strict.explanation,
      ...findings.map(({ kind }) => `⚠ ${findingSentences[kind]}`),
    ].join('\n'),
    icon: strict.success
      ? { id: 'pass', colour: 'testing.iconPassed' }
      : { id: 'error', colour: 'testing.iconFailed' },
  };
}

function coverageRow({ result, current }: Pick<InstanceAtAGlance, 'result' | 'current'>): Glance {
  const coverage = result?.changeCoverage;
  const row = { label: l10n.t('Change coverage'), runs: commandIds.showChangeCoverage };
  const inWords = coverage === undefined ? undefined : `ΔC ${coverageCell(coverage).trim()}`;
  if (inWords !== undefined && !current) return { ...row, ...outdated(inWords) };
  const states = coverage === undefined ? [] : countedStates(coverage);
  return {
    ...row,
    description:
      inWords ??
      (result === undefined || !current
        ? l10n.t('available after a run')
        : l10n.t('not available from the last run')),
    tooltip:
      states.length === 0 ? l10n.t('Lines of the fix that your tests cover') : states.join(', '),
    icon: { id: 'checklist' },
  };
}

/** `12 newly covered`, for each state that a line has. */
const countedStates = ({ lines }: ChangeCoverage): string[] =>
  lineStates
    .map((state) => ({ state, n: lines.filter((line) => line.state === state).length }))
    .filter(({ n }) => n > 0)
    .map(({ state, n }) => `${n} ${state}`);

const goldenRow = (revealed: boolean): Glance => ({
  label: l10n.t('Fix, golden tests, hints'),
  description: revealed ? l10n.t('revealed') : l10n.t('hidden'),
  tooltip: revealed
    ? l10n.t('Hides the fix, golden tests and later hints again')
    : l10n.t('Reveals the fix, golden tests and later hints'),
  icon: { id: revealed ? 'eye' : 'eye-closed' },
  runs: revealed ? commandIds.hideGolden : commandIds.reveal,
});

/**
 * `CPython 3.9 · local engine` for `local engine, CPython 3.9, pytest 8`: the view is narrow, and
 * the tooltip has all of it.
 */
function shortEnvironment(runsWith: string): string {
  const [engine, version] = runsWith.split(', ');
  return version === undefined ? runsWith : `${version} · ${engine}`;
}

/** Notifications go away; this row keeps the outcome of making the environment or looking again. */
const environmentRow = ({
  runsWith,
  isContainer,
  step,
  last,
}: InstanceAtAGlance['environment']): Glance => ({
  label: l10n.t('Environment'),
  description:
    step === undefined
      ? ((runsWith && shortEnvironment(runsWith)) ?? last ?? l10n.t('available after a run'))
      : l10n.t('being created: {0}', step),
  tooltip: [
    ...[runsWith, last].filter((each) => each !== undefined),
    isContainer ? l10n.t('Detect again') : l10n.t('Select the environment of the tests'),
  ].join('\n'),
  icon: { id: step === undefined ? 'server-environment' : 'sync~spin' },
  runs: isContainer ? internalCommandIds.checkEngine : commandIds.environment,
});
