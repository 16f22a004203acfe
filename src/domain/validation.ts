import type { Outcome } from './outcome';
import type { Transition } from './transition';

/** Why an instance is not sound. */
export type UnsoundKind =
  | 'golden patch does not apply'
  | 'golden fails after the fix'
  | 'no F→P'
  | 'flaky'
  | 'environment failed'
  | 'timed out';

export interface UnsoundReason {
  readonly kind: UnsoundKind;
  /** One sentence for a person. */
  readonly explanation: string;
  /** The tests it is about; empty when it is about the instance as a whole. */
  readonly tests: readonly string[];
}

/** A test whose outcome differs between repetitions. */
export interface FlakyTest {
  readonly test: string;
  readonly tests: 'golden' | 'base';
  readonly side: 'base' | 'fixed';
  /** By repetition. */
  readonly outcomes: readonly Outcome[];
}

/** What `validate` found out about an instance, as it is kept. Sound when there are no reasons. */
export interface Validation {
  readonly id: string;
  readonly reasons: readonly UnsoundReason[];
  readonly repetitions: number;
  /** ISO 8601. */
  readonly date: string;
  readonly engine: string;
  /** Such as `CPython 3.11.7`. */
  readonly environment: string;
  /** How R was made, in words, when it is not the base commit itself. */
  readonly source?: string;
  readonly flaky: readonly FlakyTest[];
  /** Tests by transition in the first repetition, of T* and of T^R in the files of T*. */
  readonly golden: Readonly<Partial<Record<Transition, number>>>;
  readonly base: Readonly<Partial<Record<Transition, number>>>;
  /** Tests that T* adds and removes. */
  readonly added: number;
  readonly removed: number;
  /** Share of the executable changed lines that T^R runs, 0 to 1; undefined when none is executable. */
  readonly baseCoverage?: number;
  /** Seconds that all repetitions took. */
  readonly seconds: number;
}
