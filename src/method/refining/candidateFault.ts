import {
  isFailure,
  unrelatedReason,
  type TestResult,
  type UnrelatedReason,
} from '../../domain/outcome';
import { fileOf } from '../../domain/testId';
import { unrelatedFailure } from '../../evaluation/unrelatedFailure';
import { noRunnerFound, noTestFound } from '../view/runOnR';
import type { StepOf } from '../trace';

/** A failing test with the reason that is its own. */
interface BrokenTest {
  readonly test: TestResult;
  readonly reason: UnrelatedReason | 'collection error';
}

/** What is wrong with a candidate itself, whatever the code under test does. */
export type CandidateFault =
  | {
      readonly kind: 'does not apply';
      readonly problem: string;
      readonly diagnostics: StepOf<'patch'>['diagnostics'];
    }
  /** It applies, and has no test, or none that the runner finds. */
  | { readonly kind: 'no test'; readonly problem: string }
  | { readonly kind: 'broken tests'; readonly tests: readonly BrokenTest[] };

/** The part of a candidate that shows its faults. */
export interface Examined {
  readonly patch: StepOf<'patch'>;
  /** What its tests do on R; absent where they did not run. */
  readonly run?: StepOf<'run'> | undefined;
}

/**
 * What is wrong with a candidate itself; undefined where nothing is known to be. It is conservative,
 * since a failure may be the reproduction. A failed assertion is never a fault, nor is what another
 * file than the test's own raises. A run that is stopped or cannot begin is none either.
 */
export function candidateFault({ patch, run }: Examined): CandidateFault | undefined {
  if (!patch.applies) {
    const { problem = 'it is not a patch', diagnostics } = patch;
    return { kind: 'does not apply', problem, diagnostics };
  }
  if (patch.problem !== undefined) return { kind: 'no test', problem: patch.problem };
  if (run === undefined) return undefined;
  const tests = run.tests
    .filter(({ test }) => !run.failingBefore.includes(test))
    .flatMap((test) => {
      const reason = ownReason(test);
      return reason === undefined ? [] : [{ test, reason }];
    });
  if (tests.length > 0) return { kind: 'broken tests', tests };
  // Without a test in it, no runner takes a file.
  const isEmpty = run.problem === noRunnerFound && patch.ownTests.length === 0;
  const isWhole = run.problem === undefined || run.problem === noTestFound || isEmpty;
  return isWhole && run.tests.length === 0 ? { kind: 'no test', problem: noTestFound } : undefined;
}

/** Why a test fails by a fault of its own, undefined where another reason is possible. */
function ownReason(result: TestResult): BrokenTest['reason'] | undefined {
  const { frames, phase, exception } = result;
  if (!isFailure(result)) return undefined;
  const isCollecting = phase === 'collect';
  // Without frames nobody knows where it was raised: traces of earlier versions, unknown runners.
  if (frames === undefined && !isCollecting) return undefined;
  const last = frames?.at(-1);
  if (last !== undefined && last.path !== fileOf(result.test)) return undefined;
  const reason = unrelatedReason(result);
  if (reason !== undefined) return reason;
  // Other set-ups that fail may show the issue. This one is a fixture under unittest.
  const guessed = phase === 'setup' ? undefined : unrelatedFailure(result)?.reason;
  if (guessed === 'fixture error') return guessed;
  const isAsserted = exception?.split('.').at(-1) === 'AssertionError';
  return isCollecting && exception !== undefined && !isAsserted ? 'collection error' : undefined;
}
