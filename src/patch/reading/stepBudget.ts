/**
 * A limit on the steps, of some nanoseconds each, that one file may take. It bounds the time for
 * repetitive text.
 */
export class StepBudget {
  constructor(private steps = 400_000_000) {}
  /** @returns false once the steps are used up */
  take(steps: number): boolean {
    this.steps -= steps;
    return this.steps > 0;
  }
  /** Whether the steps are used up, so that places may have been missed. */
  get isSpent(): boolean {
    return this.steps <= 0;
  }
}
