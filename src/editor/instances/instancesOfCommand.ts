import type { ListNode } from './instanceTreeRow';

/** Some instances that a command may be about, and what they are in the window. */
export interface PossibleInstances {
  readonly are: 'clicked' | 'open' | 'selected' | 'listed';
  readonly ids: readonly string[];
}

/** The instances that a command may be about. */
interface InstancesOfCommand {
  /** Whether the user has to choose one of several lists. */
  readonly asks: boolean;
  /** The likeliest first; none where nothing is open, clicked or selected. */
  readonly possible: readonly PossibleInstances[];
}

/**
 * The instances that a command is about. Clicked rows win. From the palette it is the open instance
 * and not a selection that may be out of sight; where others are selected too, the user chooses.
 */
export function instancesOfCommand(from: {
  readonly clicked: readonly ListNode[];
  readonly selected: readonly ListNode[];
  readonly open: string | undefined;
}): InstancesOfCommand {
  const [clicked, selected] = [idsOf(from.clicked), idsOf(from.selected)];
  if (clicked.length > 0) return { asks: false, possible: [{ are: 'clicked', ids: clicked }] };
  const { open } = from;
  const isSame = selected.length === 0 || (selected.length === 1 && selected[0] === open);
  const possible: readonly PossibleInstances[] = [
    { are: 'open', ids: open === undefined ? [] : [open] },
    { are: 'selected', ids: open !== undefined && isSame ? [] : selected },
  ];
  const some = possible.filter(({ ids }) => ids.length > 0);
  return { asks: some.length > 1, possible: some };
}

/**
 * The instances that a command about the list may be about: the clicked rows, else the open instance
 * and the selected rows, which may be out of sight; or all that are listed. The user chooses, also
 * where only all are possible.
 */
export function instancesOfView(from: {
  readonly clicked: readonly ListNode[];
  readonly selected: readonly ListNode[];
  readonly listed: readonly string[];
  readonly open: string | undefined;
}): readonly PossibleInstances[] {
  const { listed } = from;
  const { possible: first } = instancesOfCommand(from);
  const possible: readonly PossibleInstances[] = [
    ...first
      .map(({ are, ids }) => ({
        are,
        ids: are === 'open' ? ids : ids.filter((id) => listed.includes(id)),
      }))
      .filter(({ ids }) => ids.length < listed.length),
    { are: 'listed', ids: listed },
  ];
  return possible.filter(({ ids }) => ids.length > 0);
}

const idsOf = (nodes: readonly ListNode[]): string[] => [
  ...new Set(
    nodes.flatMap((node) =>
      node.kind === 'instance' ? [node.id] : node.kind === 'repository' ? node.ids : [],
    ),
  ),
];
