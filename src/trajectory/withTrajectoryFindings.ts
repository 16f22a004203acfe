import { access, lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { HumanError, type Reporter } from '../domain/work';
import type { Prediction } from '../domain/instance';
import type { Redact } from '../engine/keysInUse';
import { isInspectLogAt } from '../files/inspectLog';
import { plainLines } from '../files/plainFile';
import { readTrajectories } from './readTrajectories';
import type { Trajectory } from './trajectory';
import { costOfTrajectory } from './withTrajectoryCosts';
import { candidateFindings } from './scan/candidateFindings';

interface FindingOptions {
  /** Removes keys from what is quoted. */
  readonly redact: Redact;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/**
 * Predictions with the findings of their trajectories, where a trajectory lies beside their file:
 * the trace of `generate`, the files of SWE-agent and mini-SWE-agent and ATIF, which have the name of the
 * instance, the rows of OpenHands, which have both, or ATIF in the trial of Harbor that the prediction is from. A prediction that says nothing of its cost
 * gets that of its trajectory. What cannot be read is logged, and the prediction stays as it is.
 *
 * @param origins for each prediction its file; undefined where it has none
 * @throws Cancelled
 */
export async function withTrajectoryFindings(
  predictions: readonly Prediction[],
  origins: readonly (string | undefined)[],
  options: FindingOptions,
): Promise<Prediction[]> {
  const found = [...predictions];
  const files = new Map<string, Map<string, number[]>>();
  for (const [index, { instanceId }] of predictions.entries()) {
    const file = origins[index];
    if (file === undefined) continue;
    const ofInstance = files.get(file) ?? new Map<string, number[]>();
    files.set(file, ofInstance);
    ofInstance.set(instanceId, [...(ofInstance.get(instanceId) ?? []), index]);
  }
  for (const [file, ofInstance] of files) {
    for await (const trajectory of trajectoriesBeside(file, new Set(ofInstance.keys()), options)) {
      const indices = ofInstance.get(trajectory.instance) ?? [];
      for (const index of indices) {
        const prediction = found[index];
        if (prediction === undefined) continue;
        const findings = candidateFindings(trajectory, prediction, {
          isOnly: indices.length === 1,
          redact: options.redact,
        });
        if (findings !== undefined) {
          const cost = isPriced(prediction)
            ? prediction.cost
            : { ...costOfTrajectory(trajectory), ...prediction.cost };
          found[index] = {
            ...prediction,
            trajectoryFindings: findings,
            ...(cost !== undefined && Object.keys(cost).length > 0 && { cost }),
          };
        }
      }
    }
  }
  return found;
}

/** Whether a prediction says what was paid; seconds alone do not. */
const isPriced = ({ cost }: Prediction): boolean =>
  cost?.dollars !== undefined ||
  cost?.inputTokens !== undefined ||
  cost?.outputTokens !== undefined;

/** Lines of one file that are named in the log; a damaged file may have many. */
const mostNamed = 5;

async function* trajectoriesBeside(
  file: string,
  instances: ReadonlySet<string>,
  { signal, reporter }: FindingOptions,
): AsyncGenerator<Trajectory, void> {
  const isTrial = (await stat(file).catch(() => undefined))?.isDirectory() === true;
  for (const path of isTrial ? await ofTrial(file) : await filesBeside(file, [...instances])) {
    reporter.progress(`searching ${path} for signs of cheating`);
    let problems = 0;
    const told = (problem: string): void => {
      problems += 1;
      if (problems <= mostNamed) reporter.log(problem);
    };
    try {
      for await (const { trajectory } of readTrajectories(path, {
        ...{ ...(isTrial ? {} : { instance: instances }), signal, told },
      })) {
        // A trial has one task, whose name may have other letters than the instance.
        const [instance = trajectory.instance] = isTrial ? instances : [];
        yield { ...trajectory, instance };
      }
    } catch (error) {
      if (!(error instanceof HumanError)) throw error;
      told(error.message);
    }
    if (problems > mostNamed) {
      reporter.log(`${path}: ${problems - mostNamed} more lines were skipped`);
    }
  }
}

/** The trajectory of a trial of Harbor; of a task of several steps, one of each. */
async function ofTrial(folder: string): Promise<string[]> {
  const steps = await readdir(join(folder, 'steps')).catch((): string[] => []);
  const places = ['agent', ...steps.sort().map((step) => join('steps', step, 'agent'))];
  const found: string[] = [];
  for (const place of places) {
    const path = join(folder, place, 'trajectory.json');
    // An agent may have left a link there, to a file of this machine.
    if ((await lstat(path).catch(() => undefined))?.isFile() === true) found.push(path);
  }
  return found;
}

async function filesBeside(file: string, instances: readonly string[]): Promise<string[]> {
  const trace = `${file}.trace.jsonl`;
  if (await isThere(trace)) return [trace];
  // A log of inspect_ai has both.
  const rows = (await isInspectLogAt(file)) ? file : await openHandsRows(file);
  return rows === undefined ? agentFilesBeside(dirname(file), instances) : [rows];
}

/** Where SWE-agent and mini-SWE-agent put the trajectory of an instance, beside their predictions. */
const namesOf = (instance: string): readonly string[] => [
  join(instance, `${instance}.traj`),
  join(instance, `${instance}.traj.json`),
  `${instance}.traj`,
  `${instance}.traj.json`,
  `${instance}.atif.json`,
];

/** Folders of trajectories beside predictions, as submissions to leaderboards have them. */
const foldersBeside = ['', 'trajs', 'trajectories'];

/**
 * The file with the rows of OpenHands that predictions are: their own file, or the one from which
 * OpenHands made it (`output.swtbench.jsonl` from `output.jsonl`).
 */
async function openHandsRows(file: string): Promise<string | undefined> {
  const made = /^(.*)\.(?:swtbench|swebench)\.jsonl$/.exec(file);
  const path = made === null ? file : `${made[1]}.jsonl`;
  if (!path.endsWith('.jsonl') || !(await isThere(path))) return undefined;
  for await (const { line } of plainLines(path, { named: true }))
    return isOpenHandsRow(line) ? path : undefined;
  return undefined;
}

function isOpenHandsRow(line: string): boolean {
  try {
    const row: unknown = JSON.parse(line);
    return typeof row === 'object' && row !== null && 'history' in row && 'instance_id' in row;
  } catch {
    return false;
  }
}

async function agentFilesBeside(folder: string, instances: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const instance of instances) {
    const names = foldersBeside.flatMap((beside) =>
      namesOf(instance).map((name) => join(folder, beside, name)),
    );
    for (const path of names) {
      if (!(await isThere(path))) continue;
      found.push(path);
      break;
    }
  }
  return found;
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
