import type { TestTransition, Transition } from '../../domain/outcome';
import type { Verdict } from '../../domain/verdict';

export const tones = ['good', 'bad', 'neutral', 'stale'] as const;
export type Tone = (typeof tones)[number];

/**
 * Colours that every theme defines, so that they suit light, dark and high contrast. The colours of
 * test icons do not: as text their green is hard to read on white, and high contrast has no red.
 */
export const colourOfTone: Readonly<Record<Tone, string>> = {
  good: 'charts.green',
  bad: 'errorForeground',
  neutral: 'editorCodeLens.foreground',
  stale: 'editorCodeLens.foreground',
};

/** How the mark of a transition looks: its sign, and its icon in a list. */
interface TransitionLook {
  readonly symbol: string;
  readonly icon: string;
}

const bad: TransitionLook = { symbol: '✗', icon: 'circle-outline' };
const neutral: TransitionLook = { symbol: '–', icon: 'circle-outline' };

export const transitionLook: Readonly<Record<Transition, TransitionLook>> = {
  'F→P': { symbol: '✓', icon: 'pass' },
  'F→F': bad,
  'P→P': { ...neutral, symbol: '○' },
  'P→F': bad,
  'F→-': bad,
  'P→-': neutral,
  '-→P': neutral,
  '-→F': bad,
  '-→-': neutral,
};

/**
 * The tone of one case. It is bad only if it keeps the candidate from success: it fails on R∘X*, or
 * does not reproduce where no other test does. Gutter, Testing view and lens all have this tone, so
 * that none contradicts the verdict.
 *
 * @param status of its test; undefined when the test is not listed any more
 * @param strict the verdict on the candidate; undefined before it is known
 */
export function toneOfCase(
  { test, transition }: Pick<TestTransition, 'test' | 'transition'>,
  status: 'added' | 'changed' | 'kept' | undefined,
  strict: Pick<Verdict, 'failToPass' | 'anyToFail'> | undefined,
): Exclude<Tone, 'stale'> {
  if (strict?.anyToFail.includes(test) === true) return 'bad';
  if (transition === 'F→P' || (status === 'kept' && transition === 'P→P')) return 'good';
  if (transition === '-→-') return 'neutral';
  // A test of R answers only for what the candidate changes.
  if (status === 'kept' && strict !== undefined) return 'neutral';
  return strict !== undefined && strict.failToPass.length > 0 ? 'neutral' : 'bad';
}
