import { sha256 } from '../files/digest';
import type { Instance, Prediction } from '../domain/instance';
import { sides, type Side } from '../domain/outcome';
import { isTestPath } from '../patch/testFiles';

/** One run of a batch, or the environment of runs, with the steps that it needs first. */
interface PlannedRun {
  readonly id: string;
  readonly kind: 'environment' | 'base' | 'golden' | 'candidate';
  /** `owner/name@version`, or the image that the row names. */
  readonly environment: string;
  /** Absent for an environment. */
  readonly instance?: string;
  readonly side?: Side;
  /**
   * Files of a base run, as far as the patch itself names them. For a candidate in another format
   * than a unified diff, they are known only after conversion.
   */
  readonly files?: readonly string[];
  /** Ids of the steps that come first. */
  readonly needs: readonly string[];
  /** How many candidates need it for their grade. */
  readonly serves: number;
}

/** Candidates of one instance, which one worker evaluates in one pair of sandboxes. */
export interface PlannedWork {
  readonly environment: string;
  readonly instance: string;
  /** Indices in the list of predictions. */
  readonly candidates: readonly number[];
}

/** Figures that the user sees before a batch begins. Runs are counted by side. */
export interface PlanCounts {
  readonly candidates: number;
  readonly instances: number;
  readonly environments: number;
  readonly base: number;
  readonly golden: number;
  readonly candidate: number;
  /** All runs at most; fewer where candidates do not apply, or their runs are kept. */
  readonly runs: number;
}

/** The runs of a batch as a graph, and the order in which workers take them up. */
export interface BatchPlan {
  /** Each step comes before the steps that need it. */
  readonly runs: readonly PlannedRun[];
  readonly work: readonly PlannedWork[];
  readonly counts: PlanCounts;
}

/** The environment of an instance's tests, as far as its row names it. */
const environmentKey = (instance: Pick<Instance, 'repo' | 'version' | 'environment'>) =>
  instance.environment?.image ?? `${instance.repo}@${instance.version}`;

/**
 * Plans a batch: the runs at most, each once, and their order. Instances of one repository and
 * version follow one another. The others then use what was built for the first, before the disk
 * budget forces its removal.
 *
 * @param predictions those of instances outside `instances` are ignored
 * @param workers where there are fewer instances, the candidates of each are divided among them
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

/** A run, with the last candidate that needs it, since candidates come one after the other. */
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
      // Candidates with the same text share one run.
      const id = of(`candidate ${sha256(patch).slice(0, 12)}`, side);
      add({ id, kind: 'candidate', ...common, needs: [...needs, of(base, side)] }, index);
    }
  }
}

/** Grouped by repository, then version, in the order in which these first appear. */
export function inGroups(instances: readonly Instance[]): Instance[] {
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

/** Test files among the new paths of a unified diff, sorted; none for another format. */
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

/** Splits a list into up to `count` parts of about the same size, each in order. */
function parted(list: readonly number[], count: number): number[][] {
  const size = Math.ceil(list.length / count);
  const parts: number[][] = [];
  for (let start = 0; start < list.length; start += size) {
    parts.push(list.slice(start, start + size));
  }
  return parts;
}
