import { z } from 'zod';
import type { Immutable } from '../../domain/work';
import { sortKeys, type SortOrder } from '../../dataset/sortOrder';

/** How the user narrowed and sorted the Instances view. */
const listing = z.object({
  /** The dataset that it is about, as in the setting. */
  dataset: z.string(),
  filter: z.string(),
  /** Name of the filter list, if one is in use. */
  list: z.string().exactOptional(),
  /** Absent where a window keeps its own order. */
  order: z
    .object({
      by: z.enum(Object.keys(sortKeys) as SortOrder['by'][]),
      descending: z.boolean(),
    })
    .exactOptional(),
});

export type Listing = Immutable<z.infer<typeof listing>>;

/** A stored listing, if it is one and is about the dataset that the view shows. */
export function storedListing(stored: unknown, dataset: string): Listing | undefined {
  const { data } = listing.safeParse(stored);
  return data?.dataset === dataset && dataset !== '' ? data : undefined;
}

/** Maximum number of folders whose listing waits for their window. */
const mostWaiting = 20;

/**
 * Listings for windows that are about to open, by folder, with one more. A window that never opens
 * leaves its own behind, so only the last ones stay.
 */
export function withListing(
  waiting: unknown,
  folder: string,
  given: Listing,
): Readonly<Record<string, unknown>> {
  const before = z.record(z.string(), z.unknown()).safeParse(waiting).data ?? {};
  const others = Object.entries(before).filter(([other]) => other !== folder);
  return Object.fromEntries([...others, [folder, given] as const].slice(-mostWaiting));
}

/** The listing that waits for a window with these folders, and what waits for others. */
export function takeListing(
  waiting: unknown,
  folders: readonly string[],
): { readonly mine: unknown; readonly others: Readonly<Record<string, unknown>> } {
  const before = z.record(z.string(), z.unknown()).safeParse(waiting).data ?? {};
  const isMine = (folder: string): boolean => folders.includes(folder);
  const [, mine] = Object.entries(before).find(([folder]) => isMine(folder)) ?? [];
  return {
    mine,
    others: Object.fromEntries(Object.entries(before).filter(([folder]) => !isMine(folder))),
  };
}
