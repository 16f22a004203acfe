/**
 * One benchmark task: a repository at a commit, an issue, the maintainers' fix (X*) and their tests (T*).
 * Field names are ours; `dataset/` maps every published schema to them.
 */
export interface Instance {
  /** `owner__name-number`, unique in a dataset. */
  readonly id: string;
  /** `owner/name` on GitHub. */
  readonly repo: string;
  /** The commit that R is; 40 hexadecimal digits in published rows. */
  readonly baseCommit: string;
  /** The release line the environment is made for, such as `2.3`; empty when the row has none. */
  readonly version: string;
  /** The issue text as its author wrote it. Untrusted. */
  readonly issue: string;
  /** Discussion after the issue was filed; may give the fix away, so it is never shown to a model. */
  readonly hints: string;
  /** ISO 8601, or empty. */
  readonly createdAt: string;
  /** X*, a unified diff on R. */
  readonly goldenPatch: string;
  /** T*, a unified diff on R. */
  readonly goldenTests: string;
  /** Tests that the dataset says go from failing to passing under T*; undefined when the row does not say. */
  readonly failToPass: readonly string[] | undefined;
  readonly passToPass: readonly string[] | undefined;
}

/** One candidate for one instance, as a line of a predictions file gives it. */
export interface Prediction {
  readonly instanceId: string;
  /** Who or what made it: `model_name_or_path` of the row. */
  readonly model: string;
  /** The patch in whatever format; empty when the method produced nothing. */
  readonly patch: string;
}
