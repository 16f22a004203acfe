import type { ListNode } from './instanceTreeRow';

/** The instances that a command may be about. */
export interface InstancesOfCommand {
  /** Whether a person has to choose one of several lists. */
  readonly asks: boolean;
  /** Lists of ids, the likeliest first; none where nothing is open, clicked or selected. */
  readonly ids: readonly (readonly string[])[];
}

/**
 * The instances that a command is about. Clicked rows win. From the palette it is the open instance
 * and not a selection that may be out of sight; where others are selected too, a person chooses.
 */
export function instancesOfCommand(from: {
  readonly clicked: readonly ListNode[];
  readonly selected: readonly ListNode[];
  readonly open: string | undefined;
}): InstancesOfCommand {
  const clicked = idsOf(from.clicked);
  if (clicked.length > 0) return { asks: false, ids: [clicked] };
  const selected = idsOf(from.selected);
  const { open } = from;
  if (open === undefined) return { asks: false, ids: selected.length === 0 ? [] : [selected] };
  const isSame = selected.length === 0 || (selected.length === 1 && selected[0] === open);
  return isSame ? { asks: false, ids: [[open]] } : { asks: true, ids: [[open], selected] };
}

const idsOf = (nodes: readonly ListNode[]): string[] => [
  ...new Set(
    nodes.flatMap((node) =>
      node.kind === 'instance' ? [node.id] : node.kind === 'repository' ? node.ids : [],
    ),
  ),
];
