import type { Transition } from '../../domain/transition';

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

/** How the mark of a test looks: its sign, its tone, and its icon in a list. */
interface TransitionLook {
  readonly symbol: string;
  readonly tone: Tone;
  readonly icon: string;
}

const bad: TransitionLook = { symbol: '✗', tone: 'bad', icon: 'circle-outline' };
const neutral: TransitionLook = { symbol: '–', tone: 'neutral', icon: 'circle-outline' };

export const transitionLook: Readonly<Record<Transition, TransitionLook>> = {
  'F→P': { symbol: '✓', tone: 'good', icon: 'pass' },
  'F→F': bad,
  'P→P': { ...neutral, symbol: '○' },
  'P→F': bad,
  'F→-': bad,
  'P→-': neutral,
  '-→P': neutral,
  '-→F': bad,
  '-→-': neutral,
};
