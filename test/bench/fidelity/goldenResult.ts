import { join } from 'node:path';
import { z } from 'zod';
import { environments } from '../../../src/environments/environments';
import {
  harnessResolution,
  harnessTransitions,
  type TransitionLists,
} from '../../../src/domain/harness';
import type { Instance } from '../../../src/domain/instance';
import { silent } from '../../../src/domain/work';
import { gradeStrict } from '../../../src/domain/verdict';
import type { DockerSettings } from '../../../src/engine/docker/dockerSettings';
import type { Environment } from '../../../src/engine/engine';
import { engines } from '../../../src/engine/engines';
import { withEngine } from '../../../src/engine/sandbox';
import { goldenSetOf } from '../../../src/evaluation/goldenTests';
import {
  environmentProblem,
  harnessRuns,
  runBase,
  runSet,
  strictEvidence,
  type SetRun,
} from '../../../src/evaluation/testSetRuns';
import { ownTestsOf } from '../../../src/evaluation/prepareCandidate';
import { whyNotRunnable } from '../../../src/evaluation/results';
import { runStore } from '../../../src/evaluation/testRun';
import { openSession, type InstanceSession } from '../../../src/evaluation/session';
import { createPythonParser } from '../../../src/python/parser';
import { sourceOf, parseSources } from '../../../src/repository/source';
import { prepareTrees } from '../../../src/repository/trees';

/** How golden tests are run, the same for all rows. */
export interface GoldenOptions {
  /** Folder of the project, whose `dist` is built. */
  readonly root: string;
  readonly storage: string;
  readonly timeoutSeconds: number;
  /** Settings of the docker engine. */
  readonly docker: DockerSettings;
}

/** Where the golden tests of a row run. */
export interface GoldenPlan {
  readonly instance: Instance;
  readonly engine: 'local' | 'docker';
  /** For `--source`. */
  readonly source: string;
  /** Interpreter of the local engine, or `auto`. */
  readonly python: string;
}

const names = z.array(z.string());

/** What a run of the golden tests shows. */
export const goldenResultSchema = z.object({
  /** Why nothing can be said about the lists; the rest is absent then. */
  notRun: z.string().optional(),
  environment: z.object({ description: z.string(), interpreter: z.string() }).optional(),
  packageDay: z.object({ wanted: z.string(), taken: z.string() }).optional(),
  lists: z
    .object({
      FAIL_TO_PASS: names,
      PASS_TO_PASS: names,
      FAIL_TO_FAIL: names,
      PASS_TO_FAIL: names,
      UNMATCHED: names,
    })
    .optional(),
  /** By harness grading. */
  resolved: z.boolean().optional(),
  strictSuccess: z.boolean().optional(),
  /** Output of the tests on R and on R∘X*. */
  logs: z.object({ base: z.string(), fixed: z.string() }).optional(),
});
export type GoldenResult = z.infer<typeof goldenResultSchema>;

/**
 * Runs the golden tests of a row on both sides and grades them, as `evaluate --predictions gold`
 * does. The tests of R alone run only where something fails on R∘X*: else they cannot change the
 * grade, and ΔC is not asked for.
 *
 * @throws HumanError when the environment or the trees cannot be made
 */
export function goldenResult(plan: GoldenPlan, options: GoldenOptions): Promise<GoldenResult> {
  return withGoldenSession(plan, options, async (session, runOf) => {
    const golden = await runOf(0, true);
    const work = { reporter: silent };
    const about = aboutEnvironment(await session.environment(work));
    const set = { patch: session.instance.goldenTests, run: golden };
    const problem = await environmentProblem(session, set, [golden], work);
    const notRun = problem ?? whyNothingRan(golden);
    const { records } = golden;
    if (notRun !== undefined || records === undefined) return { ...about, notRun };
    const logs = { base: records.base.log, fixed: records.fixed.log };
    const lists = listsOf(session, golden);
    const graded = await gradeOf(session, golden, options);
    if (lists.FAIL_TO_PASS.length + lists.PASS_TO_PASS.length === 0) {
      return { ...about, logs, notRun: whyEmpty(lists, graded.explanation) };
    }
    const { resolved, strictSuccess } = graded;
    return { ...about, logs, lists, resolved, strictSuccess };
  });
}

function aboutEnvironment(environment: Environment): GoldenResult {
  const { description, interpreter, movedDay } = environment;
  return {
    environment: { description, interpreter },
    ...(movedDay && { packageDay: movedDay }),
  };
}

function whyNothingRan({ records, notes }: SetRun): string | undefined {
  if (records === undefined) return `could not run: ${notes.join('; ')}`;
  return whyNotRunnable(records.base) ?? whyNotRunnable(records.fixed);
}

/** Early releases of pytest leave passed tests out of their summary, which the harness reads. */
function whyEmpty({ FAIL_TO_FAIL, PASS_TO_FAIL }: TransitionLists, explanation: string): string {
  return FAIL_TO_FAIL.length + PASS_TO_FAIL.length > 0
    ? `no test passes on R∘X*: ${explanation}`
    : `the summary of the log, which the harness reads, names no test; by other lines of it: ${explanation}`;
}

async function gradeOf(
  session: InstanceSession,
  golden: SetRun,
  { timeoutSeconds }: GoldenOptions,
): Promise<{ resolved: boolean; strictSuccess: boolean; explanation: string }> {
  const { patch, files } = await goldenSetOf(session);
  const own = await ownTestsOf(session, patch, files);
  const lists = listsOf(session, golden);
  const graded = (base: SetRun) => {
    const strict = gradeStrict(strictEvidence(golden, base, own));
    const { resolved } = harnessResolution(lists, listsOf(session, base));
    return { resolved, strictSuccess: strict.success, explanation: strict.explanation };
  };
  const alone = graded({ ...golden, records: undefined });
  return alone.resolved && alone.strictSuccess
    ? alone
    : graded(await runBase(session, own, { timeoutSeconds, reuse: true, reporter: silent }));
}

/** The lists of a run, as the harness reads its log. */
export function listsOf(session: InstanceSession, run: SetRun): NonNullable<GoldenResult['lists']> {
  const { pre, post } = harnessRuns(session, run);
  return harnessTransitions(pre.statuses, post.statuses);
}

/** Runs the golden tests with a hash seed; `reuse` takes a kept run with it. */
export type RunGolden = (hashSeed: number, reuse?: boolean) => Promise<SetRun>;

/** Opens a session of a row for some work, and ends it after that. */
export async function withGoldenSession<T>(
  { instance, engine: name, source, python }: GoldenPlan,
  { root, storage, timeoutSeconds, docker }: GoldenOptions,
  work: (session: InstanceSession, golden: RunGolden) => Promise<T>,
): Promise<T> {
  const assets = join(root, 'dist');
  return withEngine(
    { engines, environments, name, storage, assets, values: { local: { python }, docker } },
    async (engine) => {
      const sources = parseSources([`${instance.repo}=${source}`]);
      const reporter = silent;
      const from = await sourceOf(instance, sources);
      const trees = await prepareTrees(instance, from, storage, { reporter });
      const parser = await createPythonParser((file) => join(root, 'dist', file));
      const store = runStore(storage);
      const session = await openSession({ instance, trees, engine, python: parser, store });
      try {
        const set = await goldenSetOf(session);
        return await work(session, (hashSeed, reuse = false) =>
          runSet(session, set, { timeoutSeconds, hashSeed, reuse, reporter }),
        );
      } finally {
        await session.dispose();
      }
    },
  );
}
