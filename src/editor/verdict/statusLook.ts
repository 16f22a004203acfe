import * as l10n from '@vscode/l10n';
import type { FirstResult } from '../../evaluation/firstResult';
import { markdownProse } from '../../domain/text';
import { coverageCell } from '../../results/resultTable';
import { whatIsMissing } from '../instance/instanceRows';
import type { EngineProblem } from '../shell/engineReadiness';
import { commandIds, internalCommandIds } from '../shell/names';
import {
  findingsInWords,
  mayRunNow,
  timeOfDay,
  verdictInWords,
  verdictMarkdown,
  verdictSentences,
  type ShownVerdict,
} from './verdictSentences';

/** What the status-bar item shows: its text, its hover, and what a click does. */
export interface StatusLook {
  readonly text: string;
  /** Plain text, or Markdown in which foreign text is escaped. */
  readonly tooltip: string | { readonly markdown: string } | undefined;
  readonly command: string;
  /**
   * A screen reader says this in place of text and tooltip, since VS Code would read names of icons
   * and skip a tooltip with markup.
   */
  readonly label: string;
}

/** What the item shows before the first verdict, or while tests run. */
export interface WithoutVerdict {
  /**
   * The preparation before the tests run; undefined once they run, and when nothing is under way.
   */
  readonly step: string | undefined;
  readonly isRunning: boolean;
  /** Whether all that runs is cancelled and is being stopped. */
  readonly isCancelling: boolean;
  /** Results of the run under way. */
  readonly soFar: { readonly first: FirstResult } | undefined;
  readonly environment: string | undefined;
  /** Whether the workspace differs from R. */
  readonly hasCandidate: boolean;
  readonly revealed: boolean;
}

/**
 * The item while something prevents tests from running: that first, then what was known before. A
 * click looks for it again, and offers the setting.
 */
export function lookWithProblem(
  { text, tooltip, label }: StatusLook,
  problem: EngineProblem,
): StatusLook {
  const missing = whatIsMissing(problem.missing);
  const before = withoutIcons(text);
  const known = typeof tooltip === 'object' ? tooltip.markdown : markdownProse(tooltip ?? '');
  return {
    text: `$(warning) ${missing} · ${before}`,
    tooltip: { markdown: [markdownProse(problem.text), known].join('\n\n') },
    command: internalCommandIds.checkEngine,
    label: `${missing}. ${problem.text}. ${label}`,
  };
}

/** The item before the first verdict and while tests run. */
export function lookWithoutVerdict(state: WithoutVerdict): StatusLook {
  const look = unspokenLook(state);
  const about = look.tooltip.replace(/\n+/g, '. ');
  return { ...look, label: `${withoutIcons(look.text)}. ${about}` };
}

function unspokenLook({
  step,
  isRunning,
  isCancelling,
  soFar,
  environment,
  hasCandidate,
  revealed,
}: WithoutVerdict): Omit<StatusLook, 'label' | 'tooltip'> & { readonly tooltip: string } {
  if (isCancelling) {
    return {
      text: `$(sync~spin) ${l10n.t('SWT-Bench: canceling the run')}`,
      tooltip: l10n.t('Stopping the tests. Click to show the log'),
      command: commandIds.showLog,
    };
  }
  if (step !== undefined) {
    const text = `$(sync~spin) ${l10n.t('SWT-Bench: {0}', step)}`;
    return isRunning
      ? {
          text,
          tooltip: l10n.t('Preparing to run the tests. Click to cancel'),
          command: internalCommandIds.cancelRuns,
        }
      : {
          text,
          tooltip: l10n.t('Preparing to run the tests. Click to show the log'),
          command: commandIds.showLog,
        };
  }
  if (isRunning) {
    const known = soFar?.first.strict?.explanation;
    const about = known ?? environment;
    return {
      text: `$(sync~spin) ${runningText(soFar?.first)}`,
      tooltip: [
        ...(about === undefined ? [] : [about]),
        known === undefined
          ? l10n.t('Click to cancel')
          : l10n.t('Click to show results so far, or to cancel'),
      ].join('\n\n'),
      // With results in the item, a click is often meant for them, so it does not cancel on its own.
      command: known === undefined ? internalCommandIds.cancelRuns : commandIds.showVerdict,
    };
  }
  const runsIn = environment === undefined ? [] : [environment];
  if (!hasCandidate) {
    return {
      text: `$(beaker) ${l10n.t('SWT-Bench: no candidate yet')}${seen(revealed)}`,
      tooltip: [
        l10n.t('Add a test that reproduces the issue. Click to show the issue'),
        ...runsIn,
      ].join('\n\n'),
      command: commandIds.showIssue,
    };
  }
  return {
    text: `$(beaker) ${l10n.t('SWT-Bench: no verdict yet')}${seen(revealed)}`,
    tooltip: [l10n.t('Click to run your tests on R and R∘X*'), ...runsIn].join('\n\n'),
    command: commandIds.reproduce,
  };
}

/** The item with a verdict: success or its reason, ΔC, and what calls for care. */
export function lookOfVerdict(verdict: ShownVerdict): StatusLook {
  const { result } = verdict.evaluated;
  const { strict, changeCoverage, difference, findings } = result;
  const coverage = coverageCell(changeCoverage)
    .trim()
    .replace(/\s{2,}/, ' ');
  const text =
    [
      verdictInWords(result),
      `ΔC ${coverage}`,
      ...(findings.length === 0 ? [] : [findingsInWords(findings)]),
      ...(difference === undefined ? [] : [l10n.t('gradings differ')]),
      ...(verdict.current ? asBefore(verdict) : [l10n.t('out of date')]),
      ...(mayRunNow(verdict) ? [l10n.t('run again')] : []),
    ].join(' · ') + seen(verdict.revealed);
  // A verdict on an older state of the workspace does not count as passed.
  const isOld = !verdict.current || mayRunNow(verdict);
  const icon = isOld ? '$(history)' : strict.success ? '$(pass)' : '$(error)';
  return {
    text: `${icon} ${text}`,
    tooltip: { markdown: verdictMarkdown(verdict) },
    command: commandIds.showVerdict,
    label: [withoutIcons(text), ...verdictSentences(verdict)].join(' '),
  };
}

/** Whoever runs an unchanged test again sees that it ran. */
function asBefore({ evaluated, language }: ShownVerdict): string[] {
  return evaluated.asBefore === true
    ? [l10n.t('unchanged, {0}', timeOfDay(evaluated.evaluatedAt, language))]
    : [];
}

const seen = (revealed: boolean): string => (revealed ? ` · $(eye) ${l10n.t('revealed')}` : '');

/** Text while tests run: what the candidate's own tests did, once that is known. */
function runningText(first: FirstResult | undefined): string {
  if (first?.strict === undefined) return l10n.t('SWT-Bench: running on R and R∘X*');
  const verdict = verdictInWords({ ...first, strict: first.strict });
  return first.whole
    ? l10n.t('{0} · grading', verdict)
    : l10n.t('{0} · running the other tests', verdict);
}

const withoutIcons = (text: string): string => text.replace(/\$\([^)]*\)\s*/g, '');
