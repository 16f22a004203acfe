import * as l10n from '@vscode/l10n';
import { syntaxErrorOf, standing, type Outcome, type Side, letterOf } from '../../domain/outcome';
import type { Verdict } from '../../domain/verdict';
import { isFresh, type KnownCases } from '../verdict/evaluated';
import type { ListedTest } from './candidateTests';
import { toneOfCase, type Tone } from './transitionLook';
import { causeText, inlineText, markText, staleText, tellingCase } from './transitionTexts';
import type { Finding } from '../../domain/finding';
import { namesTestsOf } from '../../evaluation/lostTests';
import { commandIds, inlineCommandIds, internalCommandIds } from '../shell/names';

/** The text after the definition of a test. */
export interface InlineLook {
  readonly text: string;
  readonly tone: Tone;
}

/** What is known of a test where it is written. */
interface KnownOfTest {
  readonly known: KnownCases;
  /** The verdict that the cases belong to. */
  readonly strict: Verdict | undefined;
  readonly underWay: TestUnderWay | undefined;
  readonly lensesAreShown: boolean;
  /** Characters of the line that the text follows. */
  readonly column: number;
}

/**
 * Columns that an editor shows beside a side bar in a window of usual width. In a narrower one the
 * edge hides the end of the text, which says least.
 */
const defaultColumns = 120;

/** Characters that the text may have, so that neither the minimap nor the edge hides its end. */
const roomAfter = (column: number): number =>
  Math.min(100, Math.max(40, defaultColumns - marginBefore - column));

/** The margin before the text, in characters. */
const marginBefore = 4;

/**
 * What a test did, or that it runs. Where its lens says so first, only the cause is left to say. A
 * test of R is silent unless the candidate changes its result.
 */
export function inlineLook(
  test: Pick<ListedTest, 'id' | 'status' | 'text' | 'basis'>,
  { known, strict, underWay, lensesAreShown, column }: KnownOfTest,
): InlineLook | undefined {
  const hasLens = lensesAreShown && hasLenses(test);
  if (underWay !== undefined) {
    return hasLens ? undefined : { text: underWayText(underWay), tone: 'stale' };
  }
  const { cases } = known;
  const telling = tellingCase(cases);
  const mark = markText(cases);
  if (telling === undefined || mark === undefined) return undefined;
  const tone = toneOfCase(telling, test.status, strict);
  const fault = syntaxErrorOf(telling.base) ?? syntaxErrorOf(telling.fixed);
  const isSilent = telling.transition === 'P→P' || tone === 'neutral' || fault !== undefined;
  if (test.status === 'kept' && isSilent) return undefined;
  // The lens and the hover have the cause, which may be none any more.
  if (!isFresh(known, test)) return { text: staleText(mark), tone: 'stale' };
  if (fault !== undefined) {
    return { text: `✗ ${l10n.t('did not run: syntax error at line {0}', fault.line)}`, tone };
  }
  const saying = hasLens ? causeText : inlineText;
  return { text: saying(cases, known.about, roomAfter(column)) ?? mark, tone };
}

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
    const state = stateLens(test, known);
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
        tooltip: [...evidence, l10n.t('Click to show the verdict')].join('\n'),
        command: commandIds.showVerdict,
      }
    : undefined;
}

/** What the test does now, or did in its last run; undefined before it ran. */
function stateLens(
  test: Pick<ListedTest, 'id' | 'text' | 'basis'>,
  { casesOf, underWay }: KnownStates,
): Pick<LensLook, 'title' | 'tooltip' | 'command'> | undefined {
  const now = underWay(test.id);
  if (now !== undefined) {
    const icon = now.on === undefined ? '$(clock)' : '$(loading~spin)';
    return {
      title: withIcon(icon, underWayText(now)),
      tooltip: l10n.t('Click to cancel the test run'),
      command: internalCommandIds.cancelRuns,
    };
  }
  const known = casesOf(test.id);
  const mark = markText(known.cases);
  const text = inlineText(known.cases, known.about);
  if (mark === undefined || text === undefined) return undefined;
  const fresh = isFresh(known, test);
  const says = fresh ? text : staleText(text);
  return {
    title: fresh ? mark : withIcon('$(history)', l10n.t('was {0}', mark)),
    tooltip: `${says}\n${l10n.t('Click to show the test output of both sides')}`,
    command: inlineCommandIds.showOutputs,
  };
}

/** With a no-break space: VS Code draws none after an icon that begins a lens. */
const withIcon = (icon: string, text: string): string => `${icon}\u00a0${text}`;

/** Whether a test has lenses: those that R has too have none. */
const hasLenses = ({ status }: Pick<ListedTest, 'status'>): boolean => status !== 'kept';

/** A test that waits for its run, or that runs now. */
export interface TestUnderWay {
  /** Where it runs, as a person reads it; undefined while it waits for earlier runs. */
  readonly on: string | undefined;
  /** What is made before it can run, such as an environment; undefined once it runs. */
  readonly preparing?: string | undefined;
  /** Its outcome on each side so far. */
  readonly seen: Readonly<Partial<Record<Side, Outcome>>>;
}

/** `F→…` once a side is known; undefined before. */
export function lettersSoFar({ seen }: Pick<TestUnderWay, 'seen'>): string | undefined {
  const letter = (of: Outcome | undefined): string =>
    of === undefined ? '…' : letterOf[standing(of)];
  return seen.base === undefined && seen.fixed === undefined
    ? undefined
    : `${letter(seen.base)}→${letter(seen.fixed)}`;
}

/** What a test says where it is written, until its run has a result. */
function underWayText(test: TestUnderWay): string {
  if (test.on === undefined) return l10n.t('queued');
  if (test.preparing !== undefined) return l10n.t('preparing: {0}', shortened(test.preparing));
  const letters = lettersSoFar(test);
  const running = l10n.t('running on {0}', test.on);
  return letters === undefined ? running : `${letters}  ${running}`;
}

/** Most characters of a step above a test; the status bar has the whole step. */
const mostOfStep = 60;

const shortened = (step: string): string =>
  step.length > mostOfStep ? `${step.slice(0, mostOfStep - 1)}…` : step;
