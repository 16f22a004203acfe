import { z } from 'zod';
import { parseForeignJson } from '../../files/json';
import { outcomes, phases } from '../../domain/outcome';

/**
 * The records of a journal, one JSON object a line, as the Python files in ../tracer write them.
 * Tested code can write to that folder too, so nothing here is trusted: sizes are bounded, and
 * invalid values are dropped. A tab, a number and a seal may follow a record.
 */

/** Kinds of acts, as swt_audit.py explains them. */
const actKinds = [
  ...(['open', 'list', 'look', 'link', 'compile', 'code', 'change'] as const),
  ...(['git', 'proc', 'recorder', 'run'] as const),
  ...(['trace', 'frames', 'objects', 'memory', 'hook'] as const),
] as const;

const id = z.string().min(1).max(20_000);
const path = z.string().min(1).max(4_096);
const pid = z.number().int().nonnegative();
const count = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER);
const line = z.number().int().positive().max(100_000_000);
const optionalText = (limit: number) =>
  z
    .string()
    .nullish()
    .transform((text) => text?.slice(0, limit));

const processRecord = z.object({
  kind: z.literal('process'),
  pid,
  ppid: pid,
  argv: z.array(z.string()).catch([]),
  python: z.string().max(100).catch('unknown'),
  implementation: z.string().max(100).catch('unknown'),
  technique: z.string().max(100).nullish(),
  slots: z.array(z.tuple([path, line])),
  // Number of the derived key that the process has.
  relay: z.number().int().positive().max(1_000_000).optional().catch(undefined),
  // Name of the journal of the process that it was forked from.
  forked: z.string().max(100).optional().catch(undefined),
  // Process ids of its ancestors when it began, the parent first.
  above: z.array(pid).max(100).optional().catch(undefined),
});

const beginRecord = z.object({ kind: z.literal('begin'), test: id.nullable() });

const countsRecord = z.object({
  kind: z.literal('counts'),
  test: id.nullable(),
  counts: z.record(z.string(), count),
});

const fileRecord = z.object({
  kind: z.literal('file'),
  path,
  how: z.string().max(100),
  why: optionalText(2_000),
});

const elsewhereRecord = z.object({ kind: z.literal('elsewhere'), path, loaded: path });

const problemRecord = z.object({
  kind: z.literal('problem'),
  text: z.string().transform((text) => text.slice(0, 4_000)),
});

const exitRecord = z.object({
  kind: z.literal('exit'),
  // os._exit ended the process.
  abrupt: z.boolean().optional().catch(undefined),
});

const sessionRecord = z.object({
  kind: z.literal('session'),
  runner: z.string().max(100),
  version: optionalText(100),
});

const outcomeRecord = z.object({
  kind: z.literal('outcome'),
  test: id,
  outcome: z.enum(outcomes).exclude(['missing']),
  seconds: z.number().nonnegative().catch(0),
  phase: z.enum(phases).nullish().catch(null),
  // How often pytest has begun the test; other runners do not report it.
  attempt: z.number().int().nonnegative().optional().catch(undefined),
  exception: optionalText(500).catch(undefined),
  message: optionalText(4_000).catch(undefined),
  details: optionalText(40_000).catch(undefined),
  frames: z
    .array(z.tuple([path, z.number().int().nonnegative(), z.string().max(1_000)]))
    .max(200)
    .catch([]),
  // Length of the output that the runner captured, where it is long.
  printed: z.number().int().nonnegative().optional().catch(undefined),
  // [expected, actual]
  comparison: z
    .tuple([z.string(), z.string()])
    .nullish()
    .transform((pair) => pair?.map((text) => text.slice(0, 4_000)))
    .catch(undefined),
});

/**
 * The process has started another one. Its id is unknown when the system's C library started it.
 */
const startedRecord = z.object({ kind: z.literal('started'), pid: pid.nullable() });

/** Something other than the recorder tried to write: a record of the kind `what`, or a total. */
const foreignRecord = z.object({
  kind: z.literal('foreign'),
  what: z.string().max(100),
  where: optionalText(1_000),
});

/** The runner imports a file, or has ended with one. */
const collectingRecord = z.object({ kind: z.literal('collecting'), path: path.nullable() });

const collectedRecord = z.object({ kind: z.literal('collected'), tests: z.array(id) });

/** What code of tests did apart from running the code under test; see swt_audit.py. */
const actRecord = z.object({
  kind: z.literal('act'),
  what: z.enum(actKinds),
  path: z.string().max(4_096).optional(),
  by: z.string().max(200).optional(),
  at: z.array(z.tuple([path, line])).max(10),
  test: id.nullable(),
});

/** The process had loaded R before its run, in so many seconds; or why a fresh one runs instead. */
const warmRecord = z.object({
  kind: z.literal('warm'),
  seconds: z.number().nonnegative().optional(),
  why: z
    .string()
    .transform((text) => text.slice(0, 1_000))
    .optional(),
});

const journalRecord = z.discriminatedUnion('kind', [
  processRecord,
  beginRecord,
  countsRecord,
  fileRecord,
  elsewhereRecord,
  problemRecord,
  exitRecord,
  sessionRecord,
  outcomeRecord,
  collectingRecord,
  collectedRecord,
  startedRecord,
  foreignRecord,
  actRecord,
  warmRecord,
]);

export type JournalRecord = z.infer<typeof journalRecord>;
export type ProcessRecord = z.infer<typeof processRecord>;
export type OutcomeRecord = z.infer<typeof outcomeRecord>;
export type WarmStart = Omit<z.infer<typeof warmRecord>, 'kind'>;
export type Act = Omit<z.infer<typeof actRecord>, 'kind'>;

const kinds: ReadonlySet<unknown> = new Set(
  journalRecord.options.map((option) => option.shape.kind.value),
);

/**
 * Parses one line of a journal.
 *
 * @returns the record; `unknown` for a kind that a later version may write; `broken` for anything
 * that is not a record
 */
export function parseRecord(text: string): JournalRecord | 'unknown' | 'broken' {
  let value: unknown;
  try {
    value = parseForeignJson(text);
  } catch {
    return 'broken';
  }
  if (typeof value !== 'object' || value === null) return 'broken';
  const kind: unknown = 'kind' in value ? value.kind : undefined;
  if (!kinds.has(kind)) return typeof kind === 'string' ? 'unknown' : 'broken';
  const parsed = journalRecord.safeParse(value);
  return parsed.success ? parsed.data : 'broken';
}

/** The seal of a line as it was written. */
interface WrittenSeal {
  readonly number: number;
  readonly digits: string;
}

/** Splits a line of a journal into its record and its seal, if it has one. */
export function splitLine(line: string): { readonly text: string; readonly seal?: WrittenSeal } {
  // JSON allows a tab only as white space between tokens, and the recorder writes none.
  const at = line.indexOf('\t');
  if (at < 0) return { text: line };
  const [, number, digits] = /^(\d{1,10}) ([0-9a-f]{32})$/.exec(line.slice(at + 1)) ?? [];
  return number === undefined || digits === undefined
    ? { text: line }
    : { text: line.slice(0, at), seal: { number: Number(number), digits } };
}
