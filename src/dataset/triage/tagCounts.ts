import { layOut } from '../../domain/layOut';
import type { TriageEntry } from '../../domain/triage';

/** How many of the selected instances have each tag. An instance with two tags counts for both. */
export interface TagCounts {
  /** The most frequent first, those of the same number by name. */
  readonly tags: readonly { readonly tag: string; readonly instances: number }[];
  /** Instances without a tag. */
  readonly untagged: number;
}

/** @param judgements of the selected instances; undefined for one that has none */
export function tagCounts(judgements: readonly (TriageEntry | undefined)[]): TagCounts {
  const counts = new Map<string, number>();
  for (const judgement of judgements) {
    for (const tag of new Set(judgement?.tags)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  const tags = [...counts].map(([tag, instances]) => ({ tag, instances }));
  tags.sort((a, b) => b.instances - a.instances || (a.tag < b.tag ? -1 : 1));
  const untagged = judgements.filter((each) => (each?.tags ?? []).length === 0).length;
  return { tags, untagged };
}

/** The counts as a table; empty where no instance has a tag. */
export function tagCountsText({ tags, untagged }: TagCounts): string {
  if (tags.length === 0) return '';
  const rows = tags.map(({ tag, instances }) => [`#${tag}`, String(instances)]);
  return `${layOut([['Tag', 'Instances'], ...rows, ['none', String(untagged)]])}\n`;
}
