import type { RunData } from './entry';

export type { Grading } from './grading';

/** Raised when a key of the document changes its meaning. */
export const studyVersion = 1;

/**
 * Everything that a report or the dashboard shows, as data: runs with their entries, and what they
 * are compared with. Tables and plots are not in it: they are computed from it by the functions of this
 * folder, since a filter changes the selection that they are over.
 */
export interface StudyDocument {
  readonly version: typeof studyVersion;
  /** When it was put together, ISO 8601. */
  readonly created: string;
  /** Version of the product that did. */
  readonly product: string;
  readonly runs: readonly RunData[];
  /** Rows from publications, to be shown marked as published; empty unless asked for. */
  readonly published: readonly PublishedRow[];
  /** Results of code repair to compare with (Table 6). */
  readonly repairs: readonly RepairResults[];
  /** What was asked for when the report was made; a reader may choose otherwise. */
  readonly asked: StudyRequest;
  /** What could not be read, one sentence each. Untrusted: may quote file names. */
  readonly problems: readonly string[];
}

/** What a reader asked to see. */
export interface StudyRequest {
  /** Names of methods (`EvaluatedMethod.name`) that are compared with each other; the first is the baseline. */
  readonly compare?: readonly string[];
  /** `YYYY-MM-DD`: instances are split into those created before this day and from this day on. */
  readonly splitDate?: string;
}

/** Which instances some code repair method resolved. */
export interface RepairResults {
  /** Name for people: of the method, or of the file. */
  readonly name: string;
  /** Ids of the resolved instances. */
  readonly resolved: readonly string[];
  /** Ids of all instances it was tried on; absent where the file does not say. */
  readonly attempted?: readonly string[];
}

/** A row of a published table or leaderboard. Shares and ΔC are from 0 to 1; absent where not published. */
export interface PublishedRow {
  readonly method: string;
  /** `Lite`, `Verified` or `Full`. */
  readonly split: string;
  /** Instances of that split. */
  readonly selected: number;
  /** Language model underneath, where it is published. */
  readonly model?: string;
  /** Where it is published: table of the paper, or leaderboard with its year. */
  readonly source: string;
  readonly wellFormed?: number;
  readonly success: number;
  readonly failToAny?: number;
  readonly failToPass?: number;
  readonly passToPass?: number;
  readonly deltaAll?: number;
  readonly deltaSuccess?: number;
  readonly deltaFailure?: number;
  /** US dollars for all instances (Table 10). */
  readonly dollars?: number;
  /** Seconds per instance (Table 11). */
  readonly seconds?: number;
}
