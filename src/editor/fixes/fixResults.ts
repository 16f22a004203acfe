import type * as vscode from 'vscode';
import type { Standing } from '../../domain/outcome';
import type { StandingsOnRepair } from '../../repair/testOnRepairs';

/** One of the author's tests: on R, and on R with a fix. */
export interface TestOnFix {
  readonly test: string;
  /** Undefined when it did not run there. */
  readonly base: Standing | undefined;
  readonly fixed: Standing | undefined;
}

/** The author's tests on a fix, or why they did not run. */
export type TestsOnFix = { readonly tests: readonly TestOnFix[] } | { readonly problem: string };

/** The last result of the author's tests on a fix. */
export interface KnownTestsOnFix {
  readonly found: TestsOnFix;
  /** Whether it is about the author's changes as they are saved now. */
  readonly isCurrent: boolean;
}

/** What a view shows of the author's tests on a fix. */
export function testsOnFix(
  l10n: typeof vscode.l10n,
  { base = {}, standings, failure }: StandingsOnRepair,
): TestsOnFix {
  const names = Object.keys({ ...base, ...standings });
  if (standings === undefined || names.length === 0) {
    return { problem: failure ?? l10n.t('no test ran') };
  }
  return {
    tests: names.map((test) => ({ test, base: base[test], fixed: standings[test] })),
  };
}

/** The last result of the author's tests on each fix. */
export class FixResults {
  private readonly last = new Map<string, { readonly edits: string; readonly found: TestsOnFix }>();
  private now = '';

  /**
   * @param fix a code patch
   * @param edits digest of the author's changes that ran
   */
  keep(fix: string, edits: string, found: TestsOnFix): void {
    // Edits are followed only while there are results.
    if (this.isEmpty) this.now = edits;
    this.last.set(fix, { edits, found });
  }

  /**
   * Says what the author's changes are now.
   *
   * @param edits their digest
   * @returns whether other results are current than before
   */
  follow(edits: string): boolean {
    const isOther = edits !== this.now && this.last.size > 0;
    this.now = edits;
    return isOther;
  }

  get isEmpty(): boolean {
    return this.last.size === 0;
  }

  of(fix: string): KnownTestsOnFix | undefined {
    const known = this.last.get(fix);
    return known && { found: known.found, isCurrent: known.edits === this.now };
  }
}
