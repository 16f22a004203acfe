import * as vscode from 'vscode';
import { functionOf } from '../../domain/outcome';
import type { TestTransition } from '../../domain/transition';
import type { VerdictReason } from '../../domain/reason';
import {
  coverageInWords,
  findingsToShow,
  harnessGrade,
  notesToShow,
} from '../../evaluation/gradings';
import { prose } from '../../evaluation/markdownText';
import type { OpenInstance } from '../instance/openInstance';
import type { Evaluated } from './evaluated';

/** A verdict with what the window knows besides. */
export interface ShownVerdict {
  readonly evaluated: Evaluated;
  /** The workspace is what the verdict is about, saved. */
  readonly current: boolean;
  readonly environment: string | undefined;
  readonly revealed: boolean;
  readonly wasRevealed: boolean;
}

/** The last verdict of an instance; undefined before the first. */
export function shownVerdict(open: OpenInstance, current: boolean): ShownVerdict | undefined {
  const { last: evaluated, environment, revealed, wasRevealed } = open;
  if (evaluated === undefined) return undefined;
  return { evaluated, current, environment, revealed, wasRevealed };
}

/**
 * A verdict explained, one sentence an entry, the most important first: success or what is missing,
 * both gradings, W, transitions, ΔC beside that of the golden tests, and what ran when.
 */
export function verdictSentences(verdict: ShownVerdict): string[] {
  const { evaluated, current, environment, revealed, wasRevealed } = verdict;
  const { result } = evaluated;
  return [
    ...(current
      ? []
      : [vscode.l10n.t('Edited since: this is about what was saved before. Run it again.')]),
    ...outcome(evaluated),
    ...findings(evaluated),
    harness(evaluated),
    result.strict.wellFormed
      ? vscode.l10n.t('W: the candidate applies to R.')
      : vscode.l10n.t('Not W: the candidate does not apply to R.'),
    transitions(evaluated),
    vscode.l10n.t(
      'ΔC {0}; golden tests {1}.',
      coverageInWords(result.changeCoverage),
      coverageInWords(result.goldenCoverage),
    ),
    ...time(evaluated),
    ...notesToShow(result, revealed),
    ...(environment === undefined ? [] : [environment]),
    ...(wasRevealed
      ? [vscode.l10n.t('Golden patch, golden tests and hints were revealed for this instance.')]
      : []),
  ];
}

/** The same for a hover. What tests and files are called has no markup and no links. */
export function verdictHover(verdict: ShownVerdict): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  markdown.appendMarkdown(
    [...verdictSentences(verdict), vscode.l10n.t('Click for what to do next.')]
      .map(prose)
      .join('\n\n'),
  );
  return markdown;
}

/** Sentences of evidence of each finding that fit into a hover; the verdict's document has all. */
const mostEvidence = 3;

function findings({ result }: Evaluated): string[] {
  return findingsToShow(result).flatMap(({ says, evidence }) => {
    const more = evidence.length - mostEvidence;
    return [
      vscode.l10n.t('⚠ Finding: {0}', says),
      ...evidence.slice(0, mostEvidence),
      ...(more > 0 ? [vscode.l10n.t('And {0} more: click for the verdict.', more)] : []),
    ];
  });
}

function outcome({ result }: Evaluated): string[] {
  const { strict } = result;
  if (strict.success) return [vscode.l10n.t('✓ Success: {0}.', strict.explanation)];
  const missing = whatIsMissing(strict.reason);
  return [
    vscode.l10n.t('✗ No success: {0}.', strict.explanation),
    ...(missing === undefined ? [] : [vscode.l10n.t('Missing: {0}.', missing)]),
  ];
}

/** What a candidate lacks that is no success for a reason; undefined where there is nothing to add. */
function whatIsMissing(reason: VerdictReason): string | undefined {
  switch (reason) {
    case 'success':
      return undefined;
    case 'no candidate':
    case 'no test found':
      return vscode.l10n.t('a test, added or changed in a test file');
    case 'does not apply':
      return vscode.l10n.t('a candidate that applies to R and to R∘X*');
    case 'could not run':
      return vscode.l10n.t('an environment that runs the tests; the log tells what went wrong');
    case 'timed out':
    case 'too much output':
    case 'out of memory':
    case 'disk full':
      return vscode.l10n.t('a run that comes to its end');
    case 'unsound':
      return vscode.l10n.t('a run whose records fit together; the verdict lists what does not');
    case 'breaks a test':
      return vscode.l10n.t('that no test fails on R∘X* which did not without the candidate');
    case 'unrelated failure':
      return vscode.l10n.t('a failure on R that comes from the issue, not from the test itself');
    case 'fails on both sides':
      return vscode.l10n.t('a test that passes once the issue is fixed; ask only for what it says');
    case 'passes on R':
      return vscode.l10n.t('a test that fails on R, with what the issue describes');
    case 'no test ran':
      return vscode.l10n.t('a test that runs on both sides and is not skipped');
  }
}

/** Both gradings where they differ, with the reason; that they agree otherwise. */
function harness({ result }: Evaluated): string {
  if (result.affected !== undefined) {
    return vscode.l10n.t('Harness grading: not known, since it looks at a run of all tests.');
  }
  const grade = harnessGrade(result);
  if (grade === 'not available') return vscode.l10n.t('Harness grading: not available.');
  if (result.difference !== undefined) {
    const strict = result.strict.success ? vscode.l10n.t('success') : vscode.l10n.t('no success');
    return vscode.l10n.t('The gradings differ: strict {0}, {1}.', strict, result.difference);
  }
  return grade === 'resolved'
    ? vscode.l10n.t('Harness grading agrees: resolved.')
    : vscode.l10n.t('Harness grading agrees: not resolved.');
}

function transitions({ result }: Evaluated): string {
  const own = new Set(result.ownTests);
  const mine = result.tests.filter((each: TestTransition) => own.has(functionOf(each.test)));
  const counts = new Map<string, number>([['F→P', 0]]);
  for (const { transition } of mine) counts.set(transition, (counts.get(transition) ?? 0) + 1);
  const listed = [...counts].map(([transition, count]) => `${count} ${transition}`).join(', ');
  return vscode.l10n.t('Tests of the candidate: {0}.', listed);
}

function time({ result, evaluatedAt, milliseconds, keptFrom, restored }: Evaluated): string[] {
  const clock = (date: Date): string =>
    date.toLocaleTimeString(vscode.env.language, { hour: '2-digit', minute: '2-digit' });
  const seconds = (milliseconds / 1000).toFixed(1);
  const took =
    restored === true
      ? vscode.l10n.t('Took {0} s, before the reload, at {1}.', seconds, clock(evaluatedAt))
      : vscode.l10n.t('Took {0} s, at {1}.', seconds, clock(evaluatedAt));
  if (result.affected === undefined) return [took];
  const { ran, kept } = result.affected;
  return [
    took,
    keptFrom === undefined
      ? vscode.l10n.t('Tests run now: {0}; kept from the run before: {1}.', ran, kept)
      : vscode.l10n.t(
          'Tests run now: {0}; kept from the run at {1}: {2}.',
          ran,
          clock(keptFrom),
          kept,
        ),
  ];
}
