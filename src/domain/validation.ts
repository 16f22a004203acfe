import type { Outcome, Side } from './outcome';
import type { Transition } from './transition';

/** Why an instance is unsound. */
export const unsoundKinds = [
  'golden patch does not apply',
  'golden fails after the fix',
  'no F→P',
  'flaky',
  'timed out',
] as const;
export type UnsoundKind = (typeof unsoundKinds)[number];

/** Why an instance could not be validated here. It says nothing about its soundness. */
export const unvalidatedKinds = ['source not available', 'environment failed'] as const;
export type UnvalidatedKind = (typeof unvalidatedKinds)[number];

export interface UnsoundReason {
  readonly kind: UnsoundKind | UnvalidatedKind;
  /** One sentence for a person. */
  readonly explanation: string;
  /** The tests concerned; empty when the reason concerns the whole instance. */
  readonly tests: readonly string[];
}

/** A test whose outcome differs between repetitions. */
export interface FlakyTest {
  readonly test: string;
  readonly tests: 'golden' | 'base';
  readonly side: Side;
  /** In the order of the repetitions. */
  readonly outcomes: readonly Outcome[];
}

/**
 * How FAIL_TO_PASS of the row differs from the runs. Names are those of the row, as the reference
 * harness reads them from a log.
 */
export interface ListDisagreement {
  /** In FAIL_TO_PASS, but not seen to go from failing to passing. */
  readonly listedOnly: readonly string[];
  /** Seen to go from failing to passing, but not in FAIL_TO_PASS. */
  readonly seenOnly: readonly string[];
}

/** The stored result of `validate` for an instance; see {@link soundnessOf}. */
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
  /** Of `golden`, the tests that T* adds; absent in results of older versions. */
  readonly goldenAdded?: Readonly<Partial<Record<Transition, number>>>;
  /** Numbers of tests that T* adds and removes. */
  readonly added: number;
  readonly removed: number;
  /** Share of the executable changed lines that T^R runs, 0 to 1; undefined when none is executable. */
  readonly baseCoverage?: number;
  /** Tests that go F→P under T* in every repetition, as strict grading counts them. */
  readonly failToPass?: readonly string[];
  /**
   * How FAIL_TO_PASS of the row differs from what was seen. Absent when they agree, the row has no
   * list, or no test ran. It is no reason by itself, since rows were made on other machines.
   */
  readonly disagreement?: ListDisagreement;
  /** Further facts for the reader, such as how a damaged golden patch was applied. */
  readonly remarks?: readonly string[];
  /** Seconds of all repetitions together. */
  readonly seconds: number;
}

/** What a validation says of its instance. */
export type Soundness = 'sound' | 'not sound' | 'not validated';

/**
 * An instance without reasons is sound. One whose R could not be had, or whose tests cannot run in
 * this environment, is not validated.
 */
export function soundnessOf({ reasons }: Pick<Validation, 'reasons'>): Soundness {
  if (reasons.length === 0) return 'sound';
  return reasons.some(({ kind }) => isUnvalidated(kind)) ? 'not validated' : 'not sound';
}

/** Whether an instance was not validated for this reason. */
export const isUnvalidated = (kind: UnsoundKind | UnvalidatedKind): kind is UnvalidatedKind =>
  unvalidatedKinds.some((each) => each === kind);
