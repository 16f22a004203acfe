import { quantileSorted } from 'simple-statistics';
import type { InstanceFacts } from '../entry';
import type { EvaluatedMethod } from './methods';
import { fisherExact, proportionsDiffer } from './significance';
import type { GroupReport, StudyReport, Summary } from '../studyReportSchema';
import { type SummaryOptions, summariseMethod } from './summary';

/**
 * Instances with a common property, with a row for each method in their order, over the instances of
 * the group that the method selected.
 */
export type Group = Omit<GroupReport, 'summaries'> & { readonly summaries: readonly Summary[] };

/** All instances that any of the methods selected, once each. */
function instancesOfMethods(methods: readonly EvaluatedMethod[]): InstanceFacts[] {
  const byId = new Map<string, InstanceFacts>();
  for (const method of methods) {
    for (const instance of method.selected) {
      if (!byId.has(instance.id)) byId.set(instance.id, instance);
    }
  }
  return [...byId.values()];
}

/** A group before its rows are computed. */
interface Members {
  readonly label: string;
  readonly ids: ReadonlySet<string>;
}

/** Rows for disjoint groups. Each method's instances are looked at once, however many groups. */
function groupsOf(
  groups: readonly Members[],
  methods: readonly EvaluatedMethod[],
  options: SummaryOptions,
): Group[] {
  const groupOf = new Map(groups.flatMap(({ ids }, at) => [...ids].map((id) => [id, at] as const)));
  const parts = methods.map((method) => {
    const own = groups.map((): InstanceFacts[] => []);
    for (const instance of method.selected) own[groupOf.get(instance.id) ?? -1]?.push(instance);
    return own;
  });
  return groups.map(({ label, ids }, at) => ({
    label,
    instances: ids.size,
    summaries: methods.map((method, index) =>
      summariseMethod({ ...method, selected: parts[index]?.[at] ?? [] }, options),
    ),
  }));
}

/** By repository, in the order of their names (figure 9). */
export function groupsByRepository(
  methods: readonly EvaluatedMethod[],
  options: SummaryOptions = {},
): Group[] {
  const groups = new Map<string, Set<string>>();
  for (const { id, repo } of instancesOfMethods(methods)) {
    const ids = groups.get(repo);
    if (ids === undefined) groups.set(repo, new Set([id]));
    else ids.add(id);
  }
  const sorted = [...groups]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([repo, ids]): Members => ({ label: repo === '' ? 'unknown' : repo, ids }));
  return groupsOf(sorted, methods, options);
}

/** Groups by length of the issue, unless lengths are equal. */
export const lengthGroups = 5;

/**
 * Groups by length of the issue text (figure 5, which counts tokens). Bounds are quantiles of the
 * lengths, so groups have about equal numbers of instances. Many equal lengths lead to fewer
 * groups. An instance of unknown length (0) is in no group.
 */
export function groupsByIssueLength(
  methods: readonly EvaluatedMethod[],
  { groups = lengthGroups, ...options }: SummaryOptions & { readonly groups?: number } = {},
): (Group & Pick<StudyReport['byIssueLength'][number], 'shortest' | 'longest'>)[] {
  const instances = instancesOfMethods(methods)
    .filter(({ issueLength }) => issueLength > 0)
    .sort((left, right) => left.issueLength - right.issueLength);
  if (instances.length === 0) return [];
  const lengths = instances.map(({ issueLength }) => issueLength);
  const bounds = Array.from({ length: groups }, (_, index) =>
    quantileSorted(lengths, (index + 1) / groups),
  );
  const members = bounds.map((): InstanceFacts[] => []);
  for (const instance of instances) {
    const index = bounds.findIndex((bound) => instance.issueLength <= bound);
    members[index]?.push(instance);
  }
  const bounded = members.flatMap((list) => {
    const shortest = list[0]?.issueLength;
    const longest = list.at(-1)?.issueLength;
    if (shortest === undefined || longest === undefined) return [];
    const label = shortest === longest ? `${shortest}` : `${shortest}–${longest}`;
    return [{ label, ids: new Set(list.map(({ id }) => id)), shortest, longest }];
  });
  return groupsOf(bounded, methods, options).map((group, index) => ({
    ...group,
    shortest: bounded[index]?.shortest ?? 0,
    longest: bounded[index]?.longest ?? 0,
  }));
}

type Split = NonNullable<StudyReport['split']>;

/**
 * Compares the instances before and after a day, such as the knowledge cutoff of a model (Table 7).
 * It takes all instances of both groups. The paper instead draws as many from before as there are
 * after.
 *
 * @param date `YYYY-MM-DD`
 */
export function beforeAndAfter(
  methods: readonly EvaluatedMethod[],
  date: string,
  options: SummaryOptions = {},
): Omit<Split, 'before' | 'after'> & { readonly before: Group; readonly after: Group } {
  const instances = instancesOfMethods(methods);
  const dated = instances.filter(({ created }) => dayOf(created) !== undefined);
  const ids = (keep: (day: string) => boolean): ReadonlySet<string> =>
    new Set(dated.filter(({ created }) => keep(dayOf(created) ?? '')).map(({ id }) => id));
  const [before, after] = groupsOf(
    [
      { label: `before ${date}`, ids: ids((day) => day < date) },
      { label: `from ${date} on`, ids: ids((day) => day >= date) },
    ],
    methods,
    options,
  ) as [Group, Group];
  const tests = methods.map((method, index): Split['tests'][number] => {
    const early = before.summaries[index]?.success ?? { count: 0, of: 0 };
    const late = after.summaries[index]?.success ?? { count: 0, of: 0 };
    return {
      method: method.id,
      exact: fisherExact(early.count, early.of, late.count, late.of),
      oneSided: proportionsDiffer(early.count, early.of, late.count, late.of),
    };
  });
  return { date, before, after, undated: instances.length - dated.length, tests };
}

/** The day in UTC of a date in any ISO 8601 form; undefined if it is not a date. */
function dayOf(created: string): string | undefined {
  const time = Date.parse(created);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString().slice(0, 10);
}
