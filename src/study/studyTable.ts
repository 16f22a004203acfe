/** A table for people: the first row of `rows` is the head. */
export interface StudyTable {
  readonly title: string;
  readonly rows: readonly (readonly string[])[];
  readonly notes: readonly string[];
}
