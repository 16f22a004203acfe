import type { RunEntry } from '../study/entry';
import { type StudyDocument, pack, unpack, type PackedStudy } from '../study/document';

/** What the host can open about one candidate. `source`: the dialog for a folder that has R. */
export const openable = [
  ...(['source', 'log', 'diff', 'gutters', 'survivors'] as const),
  ...(['trajectory', 'issue', 'instance'] as const),
] as const;
export type Openable = (typeof openable)[number];

/** One candidate: a cell of the matrix. */
export interface CellName {
  /** Label of the run. */
  readonly run: string;
  readonly model: string;
  readonly sample: number;
  readonly instance: string;
}

/** The progress of a running batch. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  /** Texts for people that name the candidates under evaluation. */
  readonly running: readonly string[];
  readonly paused: boolean;
  /** Instances an hour; absent until it can be estimated. */
  readonly perHour?: number;
  readonly secondsLeft?: number;
  /** Whether this window started it, and can pause and cancel it. */
  readonly controlled: boolean;
  /** Whether its process is gone although the batch has not ended. */
  readonly interrupted: boolean;
}

/** Messages from the page to the host. */
export type ToHost =
  | { readonly do: 'ready' }
  | { readonly do: 'filter'; readonly text: string }
  | { readonly do: 'open'; readonly what: Openable; readonly cell: CellName }
  /** `content` is base64. */
  | { readonly do: 'save'; readonly name: string; readonly content: string }
  /** Ids of the methods that the user hides. */
  | { readonly do: 'hidden'; readonly methods: readonly string[] }
  | { readonly do: 'addRepairs' }
  | {
      readonly do: 'batch';
      readonly action: 'pause' | 'resume' | 'cancel';
      readonly run: string;
    };

/** Messages from the host to the page. */
export type ToPage =
  /** `PackedStudy` as JSON in UTF-8. Bytes pass through the window's own thread unchanged. */
  | { readonly type: 'document'; readonly document: Uint8Array }
  /** New lines of a run's journal. */
  | { readonly type: 'entries'; readonly run: string; readonly entries: readonly RunEntry[] }
  /** Labels of the runs that have trajectories to open. */
  | { readonly type: 'trajectories'; readonly runs: readonly string[] }
  /** Undefined once the batch has ended. */
  | { readonly type: 'progress'; readonly run: string; readonly progress: Progress | undefined }
  /**
   * The filter of the Instances view and the ids that it keeps; null for all. `problem` is set when
   * a filter cannot be read; the previous filter then stays.
   */
  | {
      readonly type: 'filter';
      readonly text: string;
      readonly ids: readonly string[] | null;
      readonly problem?: string;
    };

export const toBytes = (study: StudyDocument): Uint8Array =>
  new TextEncoder().encode(JSON.stringify(pack(study)));

export const fromBytes = (bytes: Uint8Array): StudyDocument =>
  unpack(JSON.parse(new TextDecoder().decode(bytes)) as PackedStudy);
