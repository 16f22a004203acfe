import type * as vscode from 'vscode';
import { standing, type Outcome, type Side, letterOf } from '../../../domain/outcome';

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
export function underWayText(l10n: typeof vscode.l10n, test: TestUnderWay): string {
  if (test.on === undefined) return l10n.t('waits for its run');
  if (test.preparing !== undefined) return l10n.t('preparing: {0}', shortened(test.preparing));
  const letters = lettersSoFar(test);
  const running = l10n.t('running on {0}', test.on);
  return letters === undefined ? running : `${letters}  ${running}`;
}

/** Most characters of a step above a test; the status bar has the whole step. */
const mostOfStep = 60;

const shortened = (step: string): string =>
  step.length > mostOfStep ? `${step.slice(0, mostOfStep - 1)}…` : step;
