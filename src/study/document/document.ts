import type { RunData } from '../entry';
import type { PublishedRow, studyVersion } from '../studyReportSchema';
import type { RepairRun } from '../resolution/judgedRepair';

/**
 * Everything that a report or the dashboard shows, as data: runs with their entries, and what to
 * compare them with. It contains no tables and plots. The functions of this folder compute these
 * from it, since a filter changes the selection.
 */
export interface StudyDocument {
  readonly version: typeof studyVersion;
  /** When the document was made, ISO 8601. */
  readonly created: string;
  /** Version of the product that made it. */
  readonly product: string;
  readonly runs: readonly RunData[];
  /** Rows from publications, which readers mark as published; empty unless requested. */
  readonly published: readonly PublishedRow[];
  /** Results of code repair to compare with (Table 6). */
  readonly repairs: readonly RepairResults[];
  /** Judged code patches (Table 1 of the Agentless paper); absent where there are none. */
  readonly repairRuns?: readonly RepairRun[];
  /** The choices made with the request for the report. A reader may choose otherwise. */
  readonly asked: StudyRequest;
  /** Sources that could not be read, one sentence each. Untrusted: may quote file names. */
  readonly problems: readonly string[];
}

/** What a reader wants to see. */
export interface StudyRequest {
  /** Names of methods (`EvaluatedMethod.name`) that are compared with each other; the first is the baseline. */
  readonly compare?: readonly string[];
  /** `YYYY-MM-DD`: instances are split into those created before this day and from this day on. */
  readonly splitDate?: string;
  /** The filter that a page begins with. */
  readonly filter?: AskedFilter;
}

/** A filter of the Instances view, which a page without that view cannot evaluate. */
export interface AskedFilter {
  readonly text: string;
  /** Ids of the instances that it keeps. */
  readonly ids: readonly string[];
}

/** The instances that one code repair method resolved. */
export interface RepairResults {
  /** Name for people, from the method or the file. */
  readonly name: string;
  /** Ids of the resolved instances. */
  readonly resolved: readonly string[];
  /** Ids of all instances that the method was tried on; absent if the file does not say. */
  readonly attempted?: readonly string[];
}
