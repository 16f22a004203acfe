import { standing, type TestResult } from '../../domain/outcome';
import { limits, type Limit } from '../../domain/verdict';

/** Why a code patch resolves its issue by the recorded outcomes, or why it does not. */
export const strictReasons = [
  'resolved',
  'empty patch',
  'does not apply',
  'edits only tests',
  'still fails',
  'breaks a test',
  'could not run',
  ...limits,
  'unsound',
  'golden tests unknown',
] as const;
export type StrictReason = (typeof strictReasons)[number];

/** The judgement of a code patch by the outcomes that were recorded while the golden tests ran. */
export interface StrictResolution {
  /** Null where the golden tests do not show what a right patch would do. */
  readonly resolved: boolean | null;
  readonly reason: StrictReason;
  /** For the user. Untrusted: may quote names of tests. */
  readonly explanation: string;
}

/** The outcomes of the golden tests: on R, on R∘X*, and on R with the patch. */
interface GoldenOutcomes {
  readonly base: readonly TestResult[];
  readonly fixed: readonly TestResult[];
  readonly patched: readonly TestResult[];
}

/** Why the run with the patch does not count. */
export interface Disqualified {
  readonly reason: Extract<StrictReason, 'could not run' | Limit | 'unsound'>;
  readonly explanation: string;
}

/**
 * A code patch resolves its issue if every test that passes on R∘X* passes with it too. A test that
 * is skipped with it, or that disappears, does not pass.
 */
export function strictResolution({ base, fixed, patched }: GoldenOutcomes): StrictResolution {
  const wanted = passingTests(fixed);
  if (wanted.size === 0) {
    return {
      resolved: null,
      reason: 'golden tests unknown',
      explanation: 'no golden test passes on R∘X*',
    };
  }
  const found = new Map(patched.map(({ test, outcome }) => [test, outcome]));
  const before = passingTests(base);
  const lacking = [...wanted].filter((test) => {
    const outcome = found.get(test);
    return outcome === undefined || standing(outcome) !== 'passes';
  });
  const unfixed = lacking.filter((test) => !before.has(test));
  const [first] = unfixed.length > 0 ? unfixed : lacking;
  if (first === undefined) {
    return { resolved: true, reason: 'resolved', explanation: `all ${wanted.size} pass` };
  }
  const count = unfixed.length > 0 ? unfixed.length : lacking.length;
  const more = count > 1 ? ` and ${count - 1} more` : '';
  return {
    resolved: false,
    reason: unfixed.length > 0 ? 'still fails' : 'breaks a test',
    explanation: `${first} (${found.get(first) ?? 'missing'})${more}`,
  };
}

const passingTests = (results: readonly TestResult[]): ReadonlySet<string> =>
  new Set(results.filter(({ outcome }) => standing(outcome) === 'passes').map(({ test }) => test));
