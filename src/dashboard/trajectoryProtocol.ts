import type { ShownTrajectory, TrajectoryRow } from '../trajectory/trajectoryPages';

/** What VS Code keeps of a viewer for the next window. */
export interface TrajectoryState {
  /** Of the host, which reads it again; the page only keeps it. */
  readonly origin?: unknown;
  /** The row of the index that is open. */
  readonly row?: { readonly at: number; readonly instance: string } | undefined;
}

/** Messages from the viewer of trajectories to its host. */
export type TrajectoryToHost =
  /** Asks for the index, also after a problem. */
  | { readonly do: 'ready' }
  /** Asks for the trajectory of a row, by its place in the index. */
  | { readonly do: 'load'; readonly at: number };

/** Messages from the host to the viewer. */
export type TrajectoryToPage =
  | { readonly type: 'index'; readonly rows: readonly TrajectoryRow[] }
  /** Nothing can be shown: why, and what the user can do. */
  | { readonly type: 'problem'; readonly what: string; readonly next: string }
  /** `ShownTrajectory` as JSON in UTF-8. Bytes pass through the window's own thread unchanged. */
  | { readonly type: 'trajectory'; readonly at: number; readonly shown: Uint8Array };

export const trajectoryBytes = (shown: ShownTrajectory): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(shown));

export const trajectoryOf = (bytes: Uint8Array): ShownTrajectory =>
  JSON.parse(new TextDecoder().decode(bytes)) as ShownTrajectory;
