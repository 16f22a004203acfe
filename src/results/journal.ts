import { join } from 'node:path';
import { z } from 'zod';
import { parseForeignJson } from '../files/json';
import { HumanError, messageOf, systemCode, type Immutable } from '../domain/work';
import { entrySchema, type RunEntry } from '../study/entrySchema';
import { openLineJournal, wholeLines } from '../files/lineJournal';
import { readPlainText } from '../files/plainFile';

/** A finished candidate, as a line of `entries.jsonl` of a run over tests keeps it. */
export const journalLine = entrySchema.extend({
  /** Digest of all that the entry depends on: entries with equal keys are equal. */
  key: z.string(),
  /** ISO 8601. */
  finished: z.string(),
  report: z.string(),
});
export type JournalLine = Immutable<z.infer<typeof journalLine>>;

interface Journal<Line = JournalLine> {
  /** The last line of each candidate, in the order in which candidates first finished. */
  readonly lines: readonly Line[];
  /**
   * The lines that cannot be used, one sentence each. A torn last line is not among them, since its
   * candidate was not finished.
   */
  readonly problems: readonly string[];
}

export const journalPath = (folder: string): string => join(folder, 'entries.jsonl');

/** The key of one candidate of a run, for maps. */
export const candidateKey = (of: Pick<RunEntry, 'instance' | 'model' | 'sample'>): string =>
  JSON.stringify([of.instance, of.model, of.sample]);

/** What identifies a finished candidate: of lines that agree in it, the last one counts. */
type Finished = Pick<RunEntry, 'instance' | 'model' | 'sample'>;

/**
 * The finished candidates of a run; none where there is no journal yet.
 *
 * @param folder of the run, `DIR/runs/<run>`
 * @throws HumanError when the journal cannot be read
 */
export const readJournal = (folder: string): Promise<Journal> =>
  readJournalLines(folder, journalLine);

/** As `readJournal`, for a journal whose lines have another shape. */
export async function readJournalLines<Line extends Finished>(
  folder: string,
  shape: z.ZodType<Line>,
): Promise<Journal<Line>> {
  const path = journalPath(folder);
  let text: string;
  try {
    text = await readPlainText(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { lines: [], problems: [] };
    throw new HumanError(
      `The journal ${path} cannot be read (${messageOf(error)})`,
      "Check the folder's permissions",
    );
  }
  return parseLines(text, path, shape);
}

/**
 * As `readJournal`, for text that was already read. A last line without a line end is torn, and
 * left out.
 */
export const parseJournal = (text: string, name: string): Journal =>
  parseLines(text, name, journalLine);

function parseLines<Line extends Finished>(
  text: string,
  name: string,
  shape: z.ZodType<Line>,
): Journal<Line> {
  const lines = new Map<string, Line>();
  const problems: string[] = [];
  for (const { number, line } of wholeLines(text)) {
    const read = parseLine(line, shape);
    if (typeof read === 'string') problems.push(`${name}: line ${number} ${read}`);
    else lines.set(candidateKey(read), read);
  }
  return { lines: [...lines.values()], problems };
}

/** A line, or what is wrong with it. */
function parseLine<Line extends Finished>(line: string, shape: z.ZodType<Line>): Line | string {
  let value: unknown;
  try {
    value = parseForeignJson(line);
  } catch {
    return 'is not JSON';
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `is not an entry of a run (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`;
}

/** An open journal. A line is completely on the disk when `append` returns. */
interface JournalWriter<Line> {
  append(line: Line): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the journal of a run for more lines. A torn last line of a killed process is cut off.
 *
 * @throws what opening and writing throw, such as ENOSPC; a partly written line is removed again
 */
export async function openJournal<Line extends object = JournalLine>(
  folder: string,
): Promise<JournalWriter<Line>> {
  const journal = await openLineJournal(journalPath(folder));
  return {
    append: (line) => journal.append(JSON.stringify(line)),
    close: () => journal.close(),
  };
}
