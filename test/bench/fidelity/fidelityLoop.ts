import type { Instance } from '../../../src/domain/instance';
import { fidelityRowSchema, type FidelityRow } from './fidelityRow';

/**
 * The state of a journal: about each row its last line, with the seconds of all its lines, since a
 * row may take several calls, and with the most bytes, since storage may be cleared between two
 * calls. A line that is no row is passed over.
 *
 * @param text lines of JSON; one without an end is torn, and left out
 */
export function readFidelityJournal(text: string): Map<string, FidelityRow> {
  const rows = new Map<string, FidelityRow>();
  for (const line of text.split('\n').slice(0, -1)) {
    const { data: row } = fidelityRowSchema.safeParse(JSON.parse(line));
    if (row === undefined) continue;
    const known = rows.get(row.id);
    const seconds = row.seconds + (known?.seconds ?? 0);
    const bytes = Math.max(row.bytes, known?.bytes ?? 0);
    rows.set(row.id, { ...row, seconds, bytes });
  }
  return rows;
}

/** Rows in the order of `ids`; else those of a version beside each other, since they share much. */
export function fidelityOrder<T extends Pick<Instance, 'id' | 'repo' | 'version' | 'createdAt'>>(
  rows: readonly T[],
  ids: readonly string[] | undefined,
): T[] {
  if (ids !== undefined) return rows.toSorted((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
  const place = ({ repo, version, createdAt }: T): string => [repo, version, createdAt].join(' ');
  return rows.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

/** What a call asks for. */
export interface FidelityAsked {
  /** Run rows again that ran. */
  readonly fresh: boolean;
  /** Tell causes again. */
  readonly causes: boolean;
  /** Tell causes by logs alone. */
  readonly quick: boolean;
}

/** Whether a line of the journal still says what a call would find out. */
export function isSettled(
  known: FidelityRow | undefined,
  key: string,
  { fresh, causes, quick }: FidelityAsked,
): boolean {
  if (known?.key !== key || known.notRun !== undefined || fresh || causes) return false;
  const { differing = [], tried = [] } = known;
  return quick || tried.length > 0 || differing.every(({ cause }) => cause !== 'unexplained');
}

/** Releases that are tried for a row: X* may fit one whose code lacks what X* uses. */
const releasesTried = 3;

/**
 * Tries a row on releases, the nearest first, until it runs.
 *
 * @param tryOn tries it without the releases that are passed over; undefined where nothing is to do
 */
export async function onReleases(
  tryOn: (passedOver: readonly string[]) => Promise<FidelityRow | undefined>,
): Promise<FidelityRow | undefined> {
  const passedOver: string[] = [];
  let best: FidelityRow | undefined;
  for (;;) {
    const row = await tryOn(passedOver);
    const release = row?.source.release;
    if (row?.notRun === undefined) return row;
    // The last answer is that no further release fits, which says less than the first failure.
    best ??= row;
    if (release === undefined || passedOver.push(release) >= releasesTried) return best;
  }
}

/** Does some work on all rows, several at once. */
export async function forEachRow<T>(
  rows: readonly T[],
  workers: number,
  work: (row: T, left: number) => Promise<void>,
): Promise<void> {
  const left = [...rows];
  const one = async (): Promise<void> => {
    for (let row = left.shift(); row !== undefined; row = left.shift()) {
      await work(row, left.length);
    }
  };
  await Promise.all(Array.from({ length: workers }, one));
}

/** One line about a row, for whoever watches. */
export function fidelityLine(row: FidelityRow, left: number): string {
  const { id, notRun, differing = [], seconds } = row;
  const causes = [...new Set(differing.map(({ cause }) => cause))].join(', ');
  const said =
    notRun !== undefined
      ? `did not run: ${notRun.slice(0, 160)}`
      : differing.length === 0
        ? 'lists equal'
        : `${differing.length} differ: ${causes}`;
  return `${id}: ${said} (${Math.round(seconds)} s, ${left} left)`;
}
