import type { Finding, TrajectoryFinding } from '../../domain/finding';
import type { StudyDocument } from './document';
import { entryReasons } from '../../domain/verdict';
import type { Survivor } from '../../mutation/mutantSchema';
import type { MakingCost } from '../../domain/instance';
import type { DeltaFraction, InstanceFacts, RunData, RunEntry } from '../entry';

/** One number for each entry; null if the entry has none. */
type Numbers = readonly (number | null)[];

/** The entries of a run, one list for each field. */
interface PackedEntries {
  /** Indices into `PackedStudy.instances`. */
  readonly instance: readonly number[];
  /** Indices into `PackedRun.names`. */
  readonly model: readonly number[];
  readonly sample: readonly number[];
  /** Indices into `PackedStudy.reasons`. */
  readonly reason: readonly number[];
  readonly explanation: readonly string[];
  /** Sum of `flags`. */
  readonly flags: readonly number[];
  readonly counts: Readonly<Record<CountKey, readonly number[]>>;
  readonly covered: Numbers;
  readonly executable: Numbers;
  readonly goldenCovered: Numbers;
  readonly goldenExecutable: Numbers;
  readonly addedFailToPass: Numbers;
  readonly coverage: Numbers;
  readonly coverageDelta: Numbers;
  /** By index of the entry. */
  readonly difference: Readonly<Record<string, string>>;
  /** By index of the entry, for those that have some. */
  readonly findings: Readonly<Record<string, readonly Finding[]>>;
  /** As `findings`. */
  readonly trajectoryFindings: Readonly<Record<string, readonly TrajectoryFinding[]>>;
  readonly mutantsKilled: Numbers;
  readonly mutants: Numbers;
  /** As `findings`. */
  readonly survivors: Readonly<Record<string, readonly Survivor[]>>;
  readonly seconds: readonly number[];
  readonly cost: Readonly<Record<CostKey, Numbers>>;
}

interface PackedRun extends Omit<RunData, 'instances' | 'entries'> {
  /** Indices into `PackedStudy.instances`. */
  readonly selected: readonly number[];
  /** Models of the entries. */
  readonly names: readonly string[];
  readonly packed: PackedEntries;
}

/**
 * A study for the dashboard page that stores each name once. It needs a fifth of the characters and
 * of the time to read them. Paths of reports are left out.
 */
export interface PackedStudy extends Omit<StudyDocument, 'runs'> {
  /** Every instance of any run, once. */
  readonly instances: readonly InstanceFacts[];
  readonly reasons: readonly string[];
  readonly runs: readonly PackedRun[];
}

const flags = {
  evaluated: 1,
  wellFormed: 2,
  success: 4,
  harness: 8,
  resolved: 16,
  cost: 32,
  findings: 64,
  oracle: 128,
  trajectory: 256,
};

const countKeys = [
  'failToPass',
  'failToFail',
  'passToPass',
  'passToFail',
  'failToAny',
  'anyToFail',
] as const satisfies readonly (keyof RunEntry)[];
type CountKey = (typeof countKeys)[number];

const costKeys = [
  'dollars',
  'inputTokens',
  'outputTokens',
  'seconds',
] as const satisfies readonly (keyof MakingCost)[];
type CostKey = (typeof costKeys)[number];

/** No view prints more than six decimals. */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

const orNull = (value: number | null | undefined): number | null =>
  value === undefined || value === null ? null : rounded(value);

export function pack({ runs, ...rest }: StudyDocument): PackedStudy {
  const places = new Map<string, number>();
  const instances: InstanceFacts[] = [];
  const placeOf = (facts: InstanceFacts): number => {
    // Runs may have different facts about an instance, such as a date that one dataset lacks.
    const key = JSON.stringify([facts.id, facts.repo, facts.created, facts.issueLength]);
    const known = places.get(key);
    if (known !== undefined) return known;
    places.set(key, instances.length);
    return instances.push(facts) - 1;
  };
  const packed = runs.map(({ instances: selected, entries, ...run }): PackedRun => {
    const indices = selected.map(placeOf);
    const byId = new Map(selected.map((facts, index) => [facts.id, indices[index] ?? 0]));
    // An entry of an instance that the run did not select has no facts.
    const instanceOf = (id: string): number =>
      byId.get(id) ?? placeOf({ id, repo: '', created: '', issueLength: 0 });
    const names = [...new Set(entries.map(({ model }) => model))];
    const models = new Map(names.map((name, index) => [name, index]));
    return {
      ...run,
      selected: indices,
      names,
      packed: packEntries(entries, instanceOf, (model) => models.get(model) ?? 0),
    };
  });
  return { ...rest, instances, reasons: entryReasons, runs: packed };
}

function packEntries(
  entries: readonly RunEntry[],
  instanceOf: (id: string) => number,
  modelOf: (model: string) => number,
): PackedEntries {
  const reasons = new Map(entryReasons.map((reason, index) => [reason, index]));
  return {
    instance: entries.map(({ instance }) => instanceOf(instance)),
    model: entries.map(({ model }) => modelOf(model)),
    sample: entries.map(({ sample }) => sample),
    reason: entries.map(({ reason }) => reasons.get(reason) ?? 0),
    explanation: entries.map(({ explanation }) => explanation),
    flags: entries.map(
      (entry) =>
        (entry.evaluated ? flags.evaluated : 0) +
        (entry.wellFormed ? flags.wellFormed : 0) +
        (entry.success ? flags.success : 0) +
        (entry.harness === undefined ? 0 : flags.harness) +
        (entry.harness?.resolved === true ? flags.resolved : 0) +
        (entry.cost === undefined ? 0 : flags.cost) +
        (entry.findings === undefined ? 0 : flags.findings) +
        (entry.oracle === true ? flags.oracle : 0) +
        (entry.trajectoryFindings === undefined ? 0 : flags.trajectory),
    ),
    counts: record(countKeys, (key) => entries.map((entry) => entry[key])),
    covered: entries.map(({ delta }) => orNull(delta?.covered)),
    executable: entries.map(({ delta }) => orNull(delta?.executable)),
    goldenCovered: entries.map(({ goldenDelta }) => orNull(goldenDelta?.covered)),
    goldenExecutable: entries.map(({ goldenDelta }) => orNull(goldenDelta?.executable)),
    addedFailToPass: entries.map(({ harness }) => orNull(harness?.addedFailToPass)),
    coverage: entries.map(({ harness }) => orNull(harness?.coverage)),
    coverageDelta: entries.map(({ harness }) => orNull(harness?.coverageDelta)),
    difference: Object.fromEntries(
      entries.flatMap(({ difference }, index) =>
        difference === undefined ? [] : [[String(index), difference]],
      ),
    ),
    findings: byIndex(entries.map(({ findings = [] }) => findings)),
    trajectoryFindings: byIndex(entries.map((entry) => entry.trajectoryFindings ?? [])),
    mutantsKilled: entries.map(({ mutants }) => orNull(mutants?.killed)),
    mutants: entries.map(({ mutants }) => orNull(mutants?.all)),
    survivors: byIndex(entries.map(({ survivors = [] }) => survivors)),
    seconds: entries.map(({ seconds }) => rounded(seconds)),
    cost: record(costKeys, (key) => entries.map(({ cost }) => orNull(cost?.[key]))),
  };
}

/** The lists that are not empty, by their place. */
const byIndex = <Item>(
  lists: readonly (readonly Item[])[],
): Readonly<Record<string, readonly Item[]>> =>
  Object.fromEntries(
    lists.flatMap((list, index) => (list.length === 0 ? [] : [[String(index), list]])),
  );

const record = <Key extends string, Value>(
  keys: readonly Key[],
  value: (key: Key) => Value,
): Readonly<Record<Key, Value>> =>
  Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<Key, Value>;

/** Reverses {@link pack}. */
export function unpack({ instances, reasons, runs, ...rest }: PackedStudy): StudyDocument {
  return {
    ...rest,
    runs: runs.map(({ selected, names, packed, ...run }): RunData => {
      const facts = selected.flatMap((index) => instances[index] ?? []);
      const entries = packed.instance.map((instance, index) =>
        entryAt(packed, index, {
          instance: instances[instance]?.id ?? '',
          model: names[packed.model[index] ?? 0] ?? '',
          reason: reasons[packed.reason[index] ?? 0] as RunEntry['reason'],
        }),
      );
      return { ...run, instances: facts, entries };
    }),
  };
}

function entryAt(
  packed: PackedEntries,
  index: number,
  names: Pick<RunEntry, 'instance' | 'model' | 'reason'>,
): RunEntry {
  const has = (flag: number): boolean => ((packed.flags[index] ?? 0) & flag) !== 0;
  const count = (key: CountKey): number => packed.counts[key][index] ?? 0;
  const delta = fraction(both(packed.covered[index], packed.executable[index]));
  const goldenDelta = fraction(both(packed.goldenCovered[index], packed.goldenExecutable[index]));
  const mutants = both(packed.mutantsKilled[index], packed.mutants[index]);
  const survivors = packed.survivors[index];
  const difference = packed.difference[index];
  const coverage = packed.coverage[index];
  const cost: Partial<Record<CostKey, number>> = {};
  for (const key of costKeys) {
    const value = packed.cost[key][index];
    if (value !== null && value !== undefined) cost[key] = value;
  }
  return {
    ...names,
    sample: packed.sample[index] ?? 1,
    explanation: packed.explanation[index] ?? '',
    evaluated: has(flags.evaluated),
    wellFormed: has(flags.wellFormed),
    success: has(flags.success),
    failToPass: count('failToPass'),
    failToFail: count('failToFail'),
    passToPass: count('passToPass'),
    passToFail: count('passToFail'),
    failToAny: count('failToAny'),
    anyToFail: count('anyToFail'),
    ...(delta === undefined ? {} : { delta }),
    ...(goldenDelta === undefined ? {} : { goldenDelta }),
    ...(mutants && { mutants: { killed: mutants[0], all: mutants[1] } }),
    ...(survivors !== undefined && { survivors }),
    ...(has(flags.harness)
      ? {
          harness: {
            resolved: has(flags.resolved),
            addedFailToPass: packed.addedFailToPass[index] ?? 0,
            ...(coverage === null || coverage === undefined ? {} : { coverage }),
            coverageDelta: packed.coverageDelta[index] ?? null,
          },
        }
      : {}),
    ...(difference === undefined ? {} : { difference }),
    ...(has(flags.findings) ? { findings: packed.findings[index] ?? [] } : {}),
    ...(has(flags.trajectory)
      ? { trajectoryFindings: packed.trajectoryFindings[index] ?? [] }
      : {}),
    seconds: packed.seconds[index] ?? 0,
    ...(has(flags.cost) ? { cost } : {}),
    ...(has(flags.oracle) ? { oracle: true } : {}),
  };
}

/** Both numbers; undefined where one is not known. */
const both = (
  one: number | null | undefined,
  other: number | null | undefined,
): readonly [number, number] | undefined =>
  one === null || one === undefined || other === null || other === undefined
    ? undefined
    : [one, other];

const fraction = (of: readonly [number, number] | undefined): DeltaFraction | undefined =>
  of && { covered: of[0], executable: of[1] };
