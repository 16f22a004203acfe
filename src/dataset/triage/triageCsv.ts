import { stringify } from 'csv-stringify/sync';
import type { InstanceEntry } from '../../domain/instance';
import { candidateOf, type InstanceStatus } from '../../domain/status';
import type { TriageEntry } from '../../domain/triage';
import { withoutEscapes } from '../../domain/withoutControl';
import { soundnessOf, type Validation } from '../../domain/validation';

/** The data of one instance. */
interface TriageCsvRow {
  /** Only the id if no dataset was named. */
  readonly entry: Pick<InstanceEntry, 'id'> & Partial<Pick<InstanceEntry, 'repo' | 'createdAt'>>;
  readonly triage?: TriageEntry | undefined;
  readonly validation?: Pick<Validation, 'reasons' | 'date'> | undefined;
  /** The verdict of the last graded candidate. */
  readonly verdict?: { readonly success: boolean; readonly reason: string } | undefined;
  /** Gives the newest verdict if `verdict` is absent. */
  readonly status?: InstanceStatus | undefined;
}

export const triageCsvColumns = [
  'instance_id',
  'repo',
  'created_at',
  'tags',
  'note',
  'description',
  'solution',
  'location_line',
  'location_function',
  'location_file',
  'validation',
  'validation_reasons',
  'validation_date',
  'last_verdict',
] as const;

/**
 * Writes rows for a spreadsheet: RFC 4180, UTF-8, one row for each instance. Values that a
 * spreadsheet would read as a formula (`=`, `+`, `-`, `@` and their wide forms, tab, carriage
 * return) get a leading `'`.
 */
export function triageCsv(rows: readonly TriageCsvRow[]): string {
  const records = rows.map(({ entry, triage, validation, verdict, status }) => {
    const last = verdict ?? (status && candidateOf(status));
    const { description, solution, location } = triage?.classification ?? {};
    return [
      entry.id,
      entry.repo ?? '',
      entry.createdAt ?? '',
      (triage?.tags ?? []).join(', '),
      triage?.note ?? '',
      description ?? '',
      solution ?? '',
      location?.line ?? '',
      location?.function ?? '',
      location?.file ?? '',
      validation === undefined ? '' : soundnessOf(validation),
      (validation?.reasons ?? []).map((reason) => reason.kind).join(', '),
      validation?.date ?? '',
      last === undefined ? '' : last.success ? 'success' : last.reason,
    ];
  });
  return stringify([[...triageCsvColumns], ...records], {
    record_delimiter: 'windows',
    escape_formulas: true,
    // A lone line feed or carriage return must be quoted too, not only the pair that ends a record.
    quoted_match: /[\r\n]/,
    cast: { string: withoutEscapes },
  });
}
