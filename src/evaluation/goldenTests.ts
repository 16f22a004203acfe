import type { Instance } from '../domain/instance';
import { fileOf } from '../domain/testId';
import { testFilesOf } from '../patch/testFiles';
import { parseUnified } from '../patch/parseUnified';
import { GoldenPatchUnfit, plainApply, goldenTestsFor, type Trees } from '../repository/trees';

/** T* as it can be run on both sides, or why it cannot. */
export type GoldenTests =
  | {
      /** Unified diff that applies to both sides. */
      readonly patch: string;
      /** Test files of T*; empty where it has none. */
      readonly files: readonly string[];
      /** The command that applied T* as it is in the row, where it is not `git apply`. */
      readonly appliedWith?: string;
    }
  | {
      /** For people who know T*: quotes git, which names files of it. */
      readonly problem: string;
    };

/** The files of T*, those of the row's lists where T* has only data. */
export async function goldenTestsOf(
  { goldenTests, failToPass = [], passToPass = [] }: Instance,
  trees: Trees,
  read: (path: string) => Promise<string | undefined>,
  signal?: AbortSignal,
): Promise<GoldenTests> {
  if (goldenTests.trim() === '') return { patch: '', files: [] };
  const found = await goldenTestsFor(trees, goldenTests, read, signal);
  if ('problem' in found) return found;
  const { patch, appliedWith } = found;
  const files = testFilesOf(parseUnified(patch));
  const isData = files.length === 0 && parseUnified(patch).files.length > 0;
  return {
    patch,
    files: isData ? await filesOfTests([...failToPass, ...passToPass], read) : files,
    ...(appliedWith !== plainApply && { appliedWith }),
  };
}

/**
 * T* and its files, where nothing can be done without them.
 *
 * @throws GoldenPatchUnfit where T* does not apply
 */
export async function goldenSetOf(
  {
    instance,
    goldenTests,
  }: {
    readonly instance: Pick<Instance, 'id'>;
    readonly goldenTests: (signal?: AbortSignal) => Promise<GoldenTests>;
  },
  signal?: AbortSignal,
): Promise<{ readonly patch: string; readonly files: readonly string[] }> {
  const tests = await goldenTests(signal);
  if (!('problem' in tests)) return { patch: tests.patch, files: tests.files };
  throw new GoldenPatchUnfit(
    `The golden tests of ${instance.id} do not apply ${tests.problem}`,
    "Check that the row's test_patch belongs to its base_commit",
  );
}

/** The files of R that hold listed tests, in the order of the list. */
async function filesOfTests(
  tests: readonly string[],
  read: (path: string) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const found = new Map<string, boolean>();
  for (const path of tests.flatMap(pathsOf)) {
    if (!found.has(path)) found.set(path, (await read(path)) !== undefined);
  }
  return [...found].flatMap(([path, isThere]) => (isThere ? [path] : []));
}

/** Where a test may be: `tests/test_a.py::test_x`, or `test_x (package.module.Class)` of Django. */
function pathsOf(test: string): string[] {
  const dotted = /^\S+ \(([\w.]+)\)$/.exec(test)?.[1];
  if (dotted === undefined) return [fileOf(test)].filter((path) => path.endsWith('.py'));
  const parts = dotted.split('.');
  return parts.flatMap((_, at) => {
    const path = `${parts.slice(0, at + 1).join('/')}.py`;
    return [path, `tests/${path}`];
  });
}
