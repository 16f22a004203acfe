import { sha256 } from '../files/sha256';
import type { Instance, Prediction } from '../domain/instance';
import { sides, type Side } from '../domain/outcome';
import { isTestPath } from '../patch/testFiles';

/** One run of a batch, or the environment that runs happen in, with what has to be done before. */
export interface PlannedRun {
  readonly id: string;
  readonly kind: 'environment' | 'base' | 'golden' | 'candidate';
  /** `owner/name@version`, or the image that the row names. */
  readonly environment: string;
  /** Absent for an environment. */
  readonly instance?: string;
  readonly side?: Side;
  /**
   * Files of a base run, as far as the patch itself tells them: those of a candidate in another format
   * than a unified diff turn out when it is converted.
   */
  readonly files?: readonly string[];
  /** Ids of what is to be done first. */
  readonly needs: readonly string[];
  /** How many candidates are graded with it. */
  readonly serves: number;
}

/** Candidates of one instance, which one worker evaluates in one pair of sandboxes. */
export interface PlannedWork {
  readonly environment: string;
  readonly instance: string;
  /** Places in the list of predictions. */
  readonly candidates: readonly number[];
}

/** What a person is told before a batch begins. Runs are counted by side. */
export interface PlanCounts {
  readonly candidates: number;
  readonly instances: number;
  readonly environments: number;
  readonly base: number;
  readonly golden: number;
  readonly candidate: number;
  /** All runs; fewer where candidates turn out not to apply, or their runs are kept. */
  readonly runs: number;
}

/** The runs of a batch as a graph, and the order in which workers take them up. */
export interface BatchPlan {
  /** What is needed comes before what needs it. */
  readonly runs: readonly PlannedRun[];
  readonly work: readonly PlannedWork[];
  readonly counts: PlanCounts;
}

/** The environment that an instance's tests run in, as far as its row tells. */
const environmentKey = (instance: Pick<Instance, 'repo' | 'version' | 'environment'>) =>
  instance.environment?.image ?? `${instance.repo}@${instance.version}`;

/**
 * Plans a batch: which runs there are at most, each once, and in which order. Instances of one
 * repository and version follow one another, so that what was built for the first serves the others
 * before the budget of the disk asks for its place.
 *
 * @param predictions those of instances that are not among `instances` are passed over
 * @param workers where there are fewer instances, the candidates of each are parted among them
 */
export function planBatch(
  instances: readonly Instance[],
  predictions: readonly Prediction[],
  workers = 1,
): BatchPlan {
  const ofInstance = new Map<string, number[]>(instances.map(({ id }) => [id, []]));
  for (const [index, { instanceId }] of predictions.entries()) {
    ofInstance.get(instanceId)?.push(index);
  }
  const used = instances.filter(({ id }) => (ofInstance.get(id) ?? []).length > 0);
  const runs = new Map<string, Growing>();
  const work: PlannedWork[] = [];
  const parts = used.length === 0 ? 1 : Math.max(1, Math.floor(workers / used.length));
  for (const instance of inGroups(used)) {
    const environment = environmentKey(instance);
    const candidates = ofInstance.get(instance.id) ?? [];
    planInstance(runs, instance, predictions, candidates);
    for (const part of parted(candidates, parts)) {
      work.push({ environment, instance: instance.id, candidates: part });
    }
  }
  const planned = [...runs.values()].map(({ run }) => run);
  const count = (kind: PlannedRun['kind']): number =>
    planned.filter((run) => run.kind === kind).length;
  const candidates = work.reduce((sum, each) => sum + each.candidates.length, 0);
  return {
    runs: planned,
    work,
    counts: {
      candidates,
      instances: used.length,
      environments: count('environment'),
      base: count('base'),
      golden: count('golden'),
      candidate: count('candidate'),
      runs: count('base') + count('golden') + count('candidate'),
    },
  };
}

/** A run, with the last candidate that was found to need it: they come one after the other. */
interface Growing {
  readonly run: { -readonly [Key in keyof PlannedRun]: PlannedRun[Key] };
  last: number;
}

function planInstance(
  runs: Map<string, Growing>,
  instance: Instance,
  predictions: readonly Prediction[],
  candidates: readonly number[],
): void {
  const environment = environmentKey(instance);
  const add = (run: Omit<PlannedRun, 'serves'>, candidate: number): void => {
    const known = runs.get(run.id);
    if (known === undefined) runs.set(run.id, { run: { ...run, serves: 1 }, last: candidate });
    else if (known.last !== candidate) {
      known.run.serves += 1;
      known.last = candidate;
    }
  };
  const place = `environment ${environment}`;
  const of = (what: string, side: Side): string => `${what} of ${instance.id} on ${side}`;
  const goldenFiles = filesNamed(instance.goldenTests);
  const baseOf = (files: readonly string[]): string => `base ${files.join(' ')}`;
  for (const index of candidates) {
    const patch = predictions[index]?.patch ?? '';
    const isEmpty = patch.trim() === '';
    const files = filesNamed(patch);
    const base = files.length > 0 ? baseOf(files) : `base for candidate ${index}`;
    add({ id: place, kind: 'environment', environment, needs: [] }, index);
    for (const side of sides) {
      const common = { environment, instance: instance.id, side };
      const needs = [place];
      const goldenBase = of(baseOf(goldenFiles), side);
      add({ id: goldenBase, kind: 'base', ...common, files: goldenFiles, needs }, index);
      add({ id: of('golden', side), kind: 'golden', ...common, needs }, index);
      if (isEmpty) continue;
      const known = files.length > 0 ? { files } : {};
      add({ id: of(base, side), kind: 'base', ...common, ...known, needs }, index);
      // Candidates that are the same text are one run.
      const id = of(`candidate ${sha256(patch).slice(0, 12)}`, side);
      add({ id, kind: 'candidate', ...common, needs: [...needs, of(base, side)] }, index);
    }
  }
}

/** By repository, then version, in the order in which these first appear. */
function inGroups(instances: readonly Instance[]): Instance[] {
  const repositories = new Map<string, Map<string, Instance[]>>();
  for (const instance of instances) {
    const versions = repositories.get(instance.repo) ?? new Map<string, Instance[]>();
    repositories.set(instance.repo, versions);
    const key = environmentKey(instance);
    const same = versions.get(key);
    if (same === undefined) versions.set(key, [instance]);
    else same.push(instance);
  }
  return [...repositories.values()].flatMap((versions) => [...versions.values()].flat());
}

/** Test files that a unified diff names as its new ones, sorted; none of another format. */
function filesNamed(patch: string): string[] {
  const paths = new Set<string>();
  const mark = '+++ ';
  for (let at = patch.indexOf(mark); at >= 0; at = patch.indexOf(mark, at + mark.length)) {
    if (at > 0 && patch[at - 1] !== '\n') continue;
    const end = patch.indexOf('\n', at);
    const line = patch.slice(at + mark.length, end < 0 ? undefined : end);
    const path = (line.split('\t')[0] ?? '').trim().replace(/^b\//, '');
    if (path.endsWith('.py') && isTestPath(path)) paths.add(path);
  }
  return [...paths].sort();
}

/** In up to `count` parts of about the same size, each in order. */
function parted(list: readonly number[], count: number): number[][] {
  const size = Math.ceil(list.length / count);
  const parts: number[][] = [];
  for (let start = 0; start < list.length; start += size) {
    parts.push(list.slice(start, start + size));
  }
  return parts;
}
