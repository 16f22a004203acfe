import { sides } from '../domain/outcome';
import { runsInContainers, type EngineName, type EngineWork } from '../engine/engine';
import { parseUnified } from '../patch/unified/parseUnified';
import type { EnvironmentFault } from './environmentFault';
import type { InstanceSession } from './session';
import type { SetRun } from './testSetRuns';

/** What a person does about an environment that lacks something. */
export const howToMend = (engine: EngineName): string =>
  runsInContainers(engine)
    ? 'choose an image that has it'
    : 'install what R requires there, or make an environment for this instance, with auto as the Python';

/**
 * Why a candidate's tests cannot run because of the environment, for a person: which module, in
 * which interpreter, and what to do. Undefined where tests ran, or where the candidate itself asks
 * for what is not installed.
 *
 * @param others runs of R's and the golden tests; a fault that one shares is not the candidate's
 */
export async function environmentProblem(
  session: InstanceSession,
  { patch, run }: { readonly patch: string; readonly run: SetRun },
  others: readonly (SetRun | undefined)[],
  work: EngineWork,
): Promise<string | undefined> {
  const fault = sides.flatMap((side) => run.faults[side] ?? [])[0];
  if (fault === undefined) return undefined;
  const shared = others.some((other) => sides.some((side) => isSame(other?.faults[side], fault)));
  const byR = await isOfR(session, fault.importedBy, patch);
  if (!shared && !byR) return undefined;
  return describeFault(session, fault, byR, work);
}

/**
 * A fault of the environment for a person: which module, in which interpreter, and what to do.
 *
 * @param byR whether a file of R asks for the module
 */
export async function describeFault(
  session: InstanceSession,
  { module, says, importedBy }: EnvironmentFault,
  byR: boolean,
  work: EngineWork,
): Promise<string> {
  const what =
    module === undefined
      ? `the environment cannot run the tests (${says.slice(0, 300)})`
      : `the environment lacks ${module.slice(0, 100)}, or has a version that does not fit (${says.slice(0, 300)})`;
  const who = byR ? `, which ${importedBy} of R needs` : '';
  return `${what}${who}; ${await ranWith(session, work)}`;
}

/** Where tests ran, and what to do about an environment that does not fit. */
export async function ranWith(session: InstanceSession, work: EngineWork): Promise<string> {
  const { description, interpreter } = await session.environment(work);
  return `tests ran with ${description}, ${interpreter}: ${howToMend(session.engine.name)}`;
}

const isSame = (one: EnvironmentFault | undefined, other: EnvironmentFault): boolean =>
  one !== undefined &&
  (one.module === undefined ? one.says === other.says : one.module === other.module);

/** Whether a file is R's, as it was before the candidate. */
async function isOfR(
  session: InstanceSession,
  path: string | undefined,
  patch: string,
): Promise<boolean> {
  if (path === undefined) return false;
  const edited = parseUnified(patch).files.some(
    ({ oldPath, newPath }) => oldPath === path || newPath === path,
  );
  return !edited && (await session.readFileOfR(path)) !== undefined;
}
