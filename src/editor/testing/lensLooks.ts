import type * as vscode from 'vscode';
import type { Finding } from '../../domain/finding';
import { namesTestsOf } from '../../evaluation/lostTests';
import { commandIds, inlineCommandIds } from '../shell/names';
import { isFresh, type KnownCases } from '../verdict/evaluated';
import type { ListedTest } from './candidateTests';
import { inlineText, markText, staleText } from './transitionTexts';
import { underWayText, type TestUnderWay } from './underWay/testUnderWay';

/** A lens above a test. */
export interface LensLook {
  /** 1-based line below the lens. */
  readonly line: number;
  readonly title: string;
  readonly tooltip: string;
  readonly command: string;
  /** Id of the test, the argument of the command. */
  readonly test: string;
}

/** What is known of the tests of a file. */
interface KnownStates {
  readonly casesOf: (test: string) => KnownCases;
  readonly underWay: (test: string) => TestUnderWay | undefined;
}

/**
 * The lenses *✓ F→P · Reproduce · R · R∘X\* · Debug* for each test that the candidate adds or
 * changes. The verdict is the first, where a narrow window and a split show it.
 */
export function lensLooks(
  l10n: typeof vscode.l10n,
  tests: readonly Pick<ListedTest, 'id' | 'status' | 'range' | 'text' | 'basis'>[],
  known: KnownStates,
): LensLook[] {
  return tests.filter(hasLenses).flatMap((test) => {
    const { id, range } = test;
    const at = { line: range.startLine, test: id };
    const lens = (title: string, tooltip: string, command: string): LensLook => ({
      ...at,
      title,
      tooltip,
      command,
    });
    const state = stateLens(l10n, test, known);
    return [
      ...(state === undefined ? [] : [{ ...at, ...state }]),
      lens(
        l10n.t('Reproduce'),
        l10n.t('Run this test on R and on R∘X*'),
        inlineCommandIds.reproduce,
      ),
      lens('R', l10n.t('Run this test on R'), inlineCommandIds.runOnR),
      lens('R∘X*', l10n.t('Run this test on R∘X*'), inlineCommandIds.runOnFixed),
      lens(l10n.t('Debug'), l10n.t('Debug this test on R'), inlineCommandIds.debugOnR),
    ];
  });
}

/**
 * The lens above a file in which the candidate removes or disables tests of R, since a test that is
 * gone has no line of its own; undefined where it loses none there.
 */
export function lostTestsLens(
  l10n: typeof vscode.l10n,
  path: string,
  findings: readonly Finding[],
): Omit<LensLook, 'test'> | undefined {
  const evidence = findings
    .filter(({ kind }) => kind === 'removes or disables tests')
    .flatMap((each) => each.evidence);
  return namesTestsOf(evidence, path)
    ? {
        line: 1,
        title: l10n.t('⚠ Last run: tests of R removed or disabled'),
        tooltip: [...evidence, l10n.t('Click for the verdict')].join('\n'),
        command: commandIds.showVerdict,
      }
    : undefined;
}

/** What the test does now, or did in its last run; undefined before it ran. */
function stateLens(
  l10n: typeof vscode.l10n,
  test: Pick<ListedTest, 'id' | 'text' | 'basis'>,
  { casesOf, underWay }: KnownStates,
): Pick<LensLook, 'title' | 'tooltip' | 'command'> | undefined {
  const now = underWay(test.id);
  if (now !== undefined) {
    const icon = now.on === undefined ? '$(clock)' : '$(loading~spin)';
    return {
      title: withIcon(icon, underWayText(l10n, now)),
      tooltip: l10n.t('Click to cancel the runs of this instance'),
      command: commandIds.cancelRuns,
    };
  }
  const known = casesOf(test.id);
  const mark = markText(known.cases);
  const text = inlineText(l10n, known.cases, known.about);
  if (mark === undefined || text === undefined) return undefined;
  const fresh = isFresh(known, test);
  const says = fresh ? text : staleText(l10n, text);
  return {
    title: fresh ? mark : withIcon('$(history)', l10n.t('was {0}', mark)),
    tooltip: `${says}\n${l10n.t('Click to compare the outputs of both sides')}`,
    command: inlineCommandIds.showOutputs,
  };
}

/** With a no-break space: VS Code draws none after an icon that begins a lens. */
const withIcon = (icon: string, text: string): string => `${icon}\u00a0${text}`;

/** Whether a test has lenses: those that R has too have none. */
export const hasLenses = ({ status }: Pick<ListedTest, 'status'>): boolean => status !== 'kept';
