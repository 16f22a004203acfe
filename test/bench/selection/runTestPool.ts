import { isFailure } from '../../../src/domain/outcome';
import type { Instance } from '../../../src/domain/instance';
import { stackPatches } from '../../../src/evaluation/prepareCandidate';
import type { InstanceSession } from '../../../src/evaluation/session';
import type { ModelView } from '../../../src/method/modelView';
import type { Steps } from '../../../src/method/steps/steps';
import { failsOnR, runOnR } from '../../../src/method/steps/candidateRun';
import { surrogateRuns } from '../../../src/method/surrogate/surrogateRuns';
import { mutantsOf } from '../../../src/mutation/mutantsOf';
import { applyPatch } from '../../../src/patch/applyPatch';
import { makeUnified } from '../../../src/patch/makeUnified';
import { parseUnified } from '../../../src/patch/parseUnified';
import { faultyTestsOf, type FaultyTest, type GoldenTestFile } from './faultyTests';
import type { TestPool } from './testPool';

/** What the tests of a pool run in. */
export interface PoolParts {
  readonly instance: Instance;
  /** For the golden patch and its mutants. */
  readonly session: InstanceSession;
  /** For the runs of tests, as `surrogate` makes them. */
  readonly view: ModelView;
  readonly steps: Steps;
  readonly runOptions: Parameters<typeof mutantsOf>[2];
}

/** A test as a unified diff on R. */
interface TestPatch {
  readonly kind: string;
  readonly patch: string;
}

/**
 * Runs T* and faulty forms of it on R, and on R with each fix: X*, mutants of X*, and no change. The
 * trace of the steps has what ran, so that a second call goes on there.
 *
 * @param most tests and fixes
 */
export async function runTestPool(
  parts: PoolParts,
  most: { readonly tests: number; readonly fixes: number },
): Promise<TestPool> {
  const { view, steps, instance } = parts;
  const tests = await testPatchesOf(parts, most.tests);
  const fixes = await fixesOf(parts, most.fixes);
  const onR = [];
  for (const { kind, patch } of tests) {
    const { ownTests } = await view.read(patch, { format: 'unified' });
    const step = { step: 'patch', key: '', at: '', instance: instance.id, applies: true } as const;
    const run = await runOnR(steps, { ...step, patch, ownTests: [...ownTests], diagnostics: [] });
    const failing = run.tests
      .filter((each) => isFailure(each) && !run.failingBefore.includes(each.test))
      .map(({ test }) => test);
    onR.push({ kind, patch, failing, fails: failsOnR(run), tests: ownTests.length });
  }
  const failing = onR.filter(({ fails }) => fails);
  const runs = await surrogateRuns(steps, failing, fixes);
  const votes = new Map(
    failing.map((each, at) => [each, (runs[at] ?? []).map(({ accepts }) => accepts)]),
  );
  const pool = onR.map((each) => {
    const { kind, fails, tests: count } = each;
    const accepts = votes.get(each) ?? fixes.map(() => false);
    // The first fix is X*.
    return {
      ...{ kind, applies: true, fails, accepts, tests: count },
      isRight: accepts[0] === true,
    };
  });
  const [golden] = pool;
  if (golden?.isRight !== true) throw new Error(`the golden tests of ${instance.id} go not F→P`);
  return { id: instance.id, tests: pool, rightFixes: golden.accepts };
}

/** T*, whole tests and assertions of it, and as many with small faults as there is room for. */
async function testPatchesOf({ session }: PoolParts, most: number): Promise<TestPatch[]> {
  const { goldenTests } = session.instance;
  const read = (path: string): Promise<string | undefined> => session.readFileOfR(path);
  const parsed = parseUnified(goldenTests);
  const applied = await applyPatch(parsed, read);
  if (!applied.ok) throw new Error(`the golden tests of ${session.instance.id} do not apply`);
  const files = [...applied.files].flatMap(([path, source]): GoldenTestFile[] => {
    const file = parsed.files.find(({ newPath }) => newPath === path);
    if (source === undefined || file === undefined || !path.endsWith('.py')) return [];
    const added = file.hunks.flatMap(({ lines }) =>
      lines.flatMap(({ kind, newLine }) =>
        kind === 'added' && newLine !== undefined ? [newLine] : [],
      ),
    );
    return [{ path, source, added: new Set(added) }];
  });
  const { whole, small } = faultyTestsOf(session.python, files);
  const chosen = [...whole, ...spread(small, most - 1 - whole.length)].slice(0, most - 1);
  const patchOf = async ({ kind, sources }: FaultyTest): Promise<TestPatch> => {
    const edits = [...applied.files].map(async ([path, after]) => ({
      ...{ path, before: await read(path), after: sources.get(path) ?? after },
    }));
    return { kind, patch: makeUnified(await Promise.all(edits)) };
  };
  return [{ kind: 'golden', patch: goldenTests }, ...(await Promise.all(chosen.map(patchOf)))];
}

/** As many as there is room for, at equal distances. */
const spread = <T>(all: readonly T[], most: number): T[] =>
  all.filter(
    (_, at) =>
      Math.floor(((at + 1) * most) / all.length) > Math.floor((at * most) / all.length) ||
      most >= all.length,
  );

/** X*, mutants of it, and no change, as unified diffs on R. */
async function fixesOf(parts: PoolParts, most: number): Promise<string[]> {
  const { session, runOptions } = parts;
  const made = await mutantsOf(session, most - 2, runOptions);
  if ('failure' in made) throw new Error(made.failure);
  const { goldenPatch } = session.instance;
  const mutants = await Promise.all(
    made.mutants.map(({ patch }) => stackPatches(session, goldenPatch, patch, {})),
  );
  return [goldenPatch, ...mutants.filter((fix) => typeof fix === 'string'), ''];
}
