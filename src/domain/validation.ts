import type { Outcome, Side } from './outcome';
import type { Transition } from './transition';

/** Why an instance is not sound. */
export const unsoundKinds = [
  'golden patch does not apply',
  'golden fails after the fix',
  'no F→P',
  'flaky',
  'environment failed',
  'timed out',
] as const;
export type UnsoundKind = (typeof unsoundKinds)[number];

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
  readonly side: Side;
  /** By repetition. */
  readonly outcomes: readonly Outcome[];
}

/** Names are those of the row, which are the ones that the reference harness reads from a log. */
export interface ListDisagreement {
  /** In FAIL_TO_PASS, but not seen to go from failing to passing. */
  readonly listedOnly: readonly string[];
  /** Seen to go from failing to passing, but not in FAIL_TO_PASS. */
  readonly seenOnly: readonly string[];
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
  /** Of `golden`, the tests that T* adds; absent in what older versions kept. */
  readonly goldenAdded?: Readonly<Partial<Record<Transition, number>>>;
  /** Tests that T* adds and removes. */
  readonly added: number;
  readonly removed: number;
  /** Share of the executable changed lines that T^R runs, 0 to 1; undefined when none is executable. */
  readonly baseCoverage?: number;
  /** Tests that go F→P under T* in every repetition, as strict grading counts them. */
  readonly failToPass?: readonly string[];
  /**
   * Where FAIL_TO_PASS of the row differs from what was seen; absent when they agree, the row has no
   * list, or nothing could be seen. No reason by itself: rows were made on other machines.
   */
  readonly disagreement?: ListDisagreement;
  /** What a reader should know besides, such as how an unfit golden patch went in. */
  readonly remarks?: readonly string[];
  /** Seconds that all repetitions took. */
  readonly seconds: number;
}
