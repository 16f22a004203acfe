import { z } from 'zod';
import type { TrajectoryFinding } from './finding';
import type { RankedPatch } from './ranking';
import { HumanError, type Immutable } from './work';

/**
 * One benchmark task: a repository at a commit, an issue, the maintainers' fix (X*) and their tests (T*).
 * Field names are ours; `dataset/` maps every published schema to them.
 */
export interface Instance {
  /** `owner__name-number`, unique in a dataset. */
  readonly id: string;
  /** `owner/name` on GitHub. */
  readonly repo: string;
  /** The commit of R; 40 hexadecimal digits in published rows. */
  readonly baseCommit: string;
  /** The release line the environment is made for, such as `2.3`; empty when the row has none. */
  readonly version: string;
  /** The issue text as its author wrote it. Untrusted. */
  readonly issue: string;
  /** Discussion after the issue was filed; may reveal the fix, so no model ever sees it. */
  readonly hints: string;
  /** ISO 8601, or empty. */
  readonly createdAt: string;
  /** X*, a unified diff on R. */
  readonly goldenPatch: string;
  /** T*, a unified diff on R. */
  readonly goldenTests: string;
  /**
   * Tests that fail before the fix and pass under T*, by the dataset; undefined when the row has no
   * list.
   */
  readonly failToPass: readonly string[] | undefined;
  readonly passToPass: readonly string[] | undefined;
  /** How the row says its tests are run; undefined when it says nothing. */
  readonly environment?: RowEnvironment;
  /** What was repaired while the row was read, as sentences for the user. */
  readonly remarks?: readonly string[];
}

/** The container that the tests run in, as rows of SWE-bench 5, Live and Pro describe it. */
export interface RowEnvironment {
  /** Container image with its tag, such as `swebench/sweb.eval.x86_64.psf_1776_requests-863:latest`. */
  readonly image?: string;
  /** Folder of the repository in the image, `/testbed` unless the row says otherwise. */
  readonly folder?: string;
  readonly evalScript?: string;
  readonly logParser?: string;
  readonly evalType?: string;
  readonly testCommands?: readonly string[];
  /** Test files, or names of tests, that a run is limited to. */
  readonly testFiles?: readonly string[];
  /** Commit that the environment was set up for. */
  readonly setupCommit?: string;
}

/** Files and changed lines (added plus removed) of a patch. */
const patchSize = z.object({ files: z.array(z.string()), lines: z.number() });
export type PatchSize = Immutable<z.infer<typeof patchSize>>;

/** What a list keeps of an instance: everything but the patches, hints and lists of tests. */
export const instanceEntrySchema = z.object({
  id: z.string(),
  repo: z.string(),
  version: z.string(),
  baseCommit: z.string(),
  /** ISO 8601, or empty. */
  createdAt: z.string(),
  /** The issue text. Untrusted. */
  issue: z.string(),
  /** Size of X*. */
  patch: patchSize,
  /** Size of T*. */
  tests: patchSize,
});
export type InstanceEntry = Immutable<z.infer<typeof instanceEntrySchema>>;

/** What making a candidate cost, as far as its prediction says so. */
export const costSchema = z.object({
  /** US dollars. */
  dollars: z.number().exactOptional(),
  inputTokens: z.number().exactOptional(),
  outputTokens: z.number().exactOptional(),
  seconds: z.number().exactOptional(),
});
export type MakingCost = Readonly<z.infer<typeof costSchema>>;

/** The steps of localisation (table 2 of the Agentless paper), in their order. */
export const localisationSteps = [
  'files',
  'retrieval',
  'combined',
  'elements',
  'locations',
] as const;
export type LocalisationStep = (typeof localisationSteps)[number];

/** The code that a step keeps. */
export interface KeptCode {
  readonly step: LocalisationStep;
  /** Number of the set of edit locations, from 1; absent for all of them together. */
  readonly set?: number;
  readonly files: readonly {
    readonly path: string;
    /** 1-based lines, both ends included; absent for the whole file. */
    readonly intervals?: readonly (readonly [first: number, last: number])[];
  }[];
}

/** What is known of the stages that led to the code patches of an instance. */
export interface TracedStages {
  readonly kept: readonly KeptCode[];
  /** Dollars of the requests of each stage, by its name; absent where no price is known. */
  readonly dollars?: Readonly<Record<string, number>>;
}

/** One candidate for one instance, as a line of a predictions file gives it. */
export interface Prediction {
  readonly instanceId: string;
  /** Who or what made it: `model_name_or_path` of the row. */
  readonly model: string;
  /** The patch in any format; empty when the method produced nothing. */
  readonly patch: string;
  /**
   * The number of this candidate among several of one model for this instance, from 1 on; 1 when
   * absent.
   */
  readonly sample?: number;
  /** What making it cost, if the row says so. */
  readonly cost?: MakingCost;
  /** Why making it failed, in the words of the program that made it. Untrusted. */
  readonly failure?: string;
  /** The method and the language model, if the row names both. */
  readonly madeBy?: { readonly method: string; readonly model: string };
  /** Set where making it used the answer (`domain/answerSeen.ts`). */
  readonly oracle?: true;
  /** What it was ranked by among the code patches of its instance, if the row says so. */
  readonly ranked?: RankedPatch;
  /** The stages that led to it, where a trace has them. */
  readonly stages?: TracedStages;
  /** What was found in its trajectory; absent where none is known. */
  readonly trajectoryFindings?: readonly TrajectoryFinding[];
}

/**
 * Whether a text can be the id of an instance. Every such id is also a valid name of one file or
 * folder on all systems.
 */
export const isInstanceId = (text: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9_.+-]{0,199}$/.test(text);

/**
 * Checks ids from a command line, a state file or a triage file. Ids of rows are checked on import.
 *
 * @returns the id
 * @throws HumanError when the text cannot be the id of an instance
 */
export function checkedId(id: string): string {
  if (isInstanceId(id)) return id;
  throw new HumanError(
    `${JSON.stringify(id.slice(0, 80))} is not a valid instance ID`,
    'Use letters, digits and _ . + - only, as in sympy__sympy-23117',
  );
}

/**
 * Whether a version equals the given one, or is inside `FIRST-LAST`, `FIRST-` or `-LAST`. Versions
 * are compared by their numbers.
 */
export function isInVersionRange(version: string, range: string): boolean {
  const [first = '', last = first] = range.split('-');
  return (
    (first === '' || compareVersions(version, first) >= 0) &&
    (last === '' || compareVersions(version, last) <= 0)
  );
}

function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((text) => text.split('.').map(Number));
  for (let at = 0; at < Math.max(left?.length ?? 0, right?.length ?? 0); at++) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
