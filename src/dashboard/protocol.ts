import type { RunEntry } from '../domain/study/entry';
import type { StudyDocument } from '../domain/study/document';
import { pack, unpack, type PackedStudy } from '../domain/study/packed';

/** What of one candidate the host can open. */
export const openable = ['log', 'diff', 'gutters', 'issue', 'instance'] as const;
export type Openable = (typeof openable)[number];

/** One candidate: a cell of the matrix. */
export interface CellName {
  /** Label of the run. */
  readonly run: string;
  readonly model: string;
  readonly sample: number;
  readonly instance: string;
}

/** How far a batch is that is still running. */
export interface Progress {
  readonly done: number;
  readonly total: number;
  /** Candidates that are evaluated now, for people. */
  readonly running: readonly string[];
  readonly paused: boolean;
  /** Instances an hour; absent before anything can be said. */
  readonly perHour?: number;
  readonly secondsLeft?: number;
  /** It was begun in this window, which can pause and cancel it. */
  readonly controlled: boolean;
  /** Its process is gone without having ended it. */
  readonly interrupted: boolean;
}

/** From the page to the host. */
export type ToHost =
  | { readonly do: 'ready' }
  | { readonly do: 'filter'; readonly text: string }
  | { readonly do: 'open'; readonly what: Openable; readonly cell: CellName }
  /** `content` is base64. */
  | { readonly do: 'save'; readonly name: string; readonly content: string }
  /** Ids of the methods that a person has hidden. */
  | { readonly do: 'hidden'; readonly methods: readonly string[] }
  | { readonly do: 'addRepairs' }
  | {
      readonly do: 'batch';
      readonly action: 'pause' | 'resume' | 'cancel';
      readonly run: string;
    };

/** From the host to the page. */
export type ToPage =
  /** `PackedStudy` as JSON in UTF-8: bytes pass through the window's own thread as they are. */
  | { readonly type: 'document'; readonly document: Uint8Array }
  /** Lines that the journal of a run has gained. */
  | { readonly type: 'entries'; readonly run: string; readonly entries: readonly RunEntry[] }
  /** Undefined once it has ended. */
  | { readonly type: 'progress'; readonly run: string; readonly progress: Progress | undefined }
  /**
   * The filter of the Instances view and the instances that it keeps; null for all of them.
   * With `problem`, a filter that cannot be read: the one before stays.
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
