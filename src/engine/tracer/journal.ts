import type { TestResult } from '../../domain/outcome';
import {
  parseRecord,
  splitLine,
  type Act,
  type JournalRecord,
  type OutcomeRecord,
  type ProcessRecord,
  type WarmStart,
} from './records';
import type { RecordKey } from './recordKey';

/** The records of one process, checked for contradictions. */
export interface RecordJournal {
  /** Name of its file, without the ending. */
  readonly name: string;
  readonly process: ProcessRecord | undefined;
  /** Whether its records are sealed with the key of the run. */
  readonly isSealed: boolean;
  readonly lastTest: string | null;
  /** The file that its runner was importing at its end; null for none. */
  readonly collecting: string | null;
  /** The tests that began in it, and their classes and files (see `isScope`). */
  readonly begun: ReadonlySet<string>;
  readonly ended: boolean;
  /** Whether it ended itself at once, by os._exit. */
  readonly abrupt: boolean;
  readonly counts: readonly Counted[];
  /** The last outcome of each test. */
  readonly outcomes: ReadonlyMap<string, OutcomeRecord>;
  readonly sessions: readonly { readonly runner: string; readonly version?: string }[];
  readonly collected: readonly string[];
  readonly files: readonly { readonly path: string; readonly how: string; readonly why?: string }[];
  readonly elsewhere: readonly { readonly path: string; readonly loaded: string }[];
  readonly acts: readonly Act[];
  /** Of a run for which a process had been prepared. */
  readonly warm?: WarmStart;
  readonly problems: readonly string[];
  /** Ids of the processes that it started; undefined for one whose id it does not know. */
  readonly started: ReadonlySet<number | undefined>;
  /** Contradictions between its records, a sentence each. */
  readonly contradictions: readonly string[];
}

/** Executions of a changed line, for a test or for none. */
export interface Counted {
  readonly path: string;
  readonly line: number;
  readonly test: string | null;
  readonly count: number;
  /** Whether the record has a seal, so that only the recorder can have written it. */
  readonly isSealed: boolean;
}

/** Rank of each outcome: of two outcomes of the same test, the one with the higher rank counts. */
export const outcomeRank: Readonly<Record<OutcomeRecord['outcome'], number>> = {
  passed: 0,
  xfailed: 1,
  skipped: 2,
  xpassed: 3,
  failed: 4,
  error: 5,
};

/** Kinds of records that only a process with the key of the run writes. */
const sealedOnly: ReadonlySet<JournalRecord['kind']> = new Set([
  'session',
  'outcome',
  'collecting',
  'collected',
  'started',
  'foreign',
  'warm',
]);

/**
 * Reads one journal.
 *
 * @param totals content of its `.counts` file: an unsigned 64-bit little-endian number for each
 * slot
 * @param key of the run; without one nothing is checked, as no record has a seal
 */
export function readRecordJournal(
  name: string,
  text: string,
  totals: Buffer | undefined,
  key?: RecordKey,
): RecordJournal {
  const checks = { key, problems: new Set<string>(), contradictions: new Set<string>() };
  const { problems, contradictions } = checks;
  const { records, isSealed } = recordsOf(name, text, checks);
  const read: ReadRecords = {
    ...{ process: undefined, lastTest: null, collecting: null },
    ...{ ended: false, abrupt: false },
    ...{ begun: new Set(), outcomes: new Map(), started: new Set() },
    ...{ counts: [], sessions: [], collected: [], files: [], elsewhere: [], acts: [] },
  };
  const written: number[] = [];
  const raised: string[] = [];
  for (const record of records) {
    if (record.kind === 'counts') addCounts(record, isSealed, read, written, problems);
    else if (record.kind === 'problem') problems.add(record.text);
    else if (record.kind !== 'foreign') addRecord(record, read, written);
    else if (record.what === 'total') raised.push(record.where ?? 'a line');
    else contradictions.add(foreign(record));
  }
  if (raised.length > 0) contradictions.add(raisedCounts(raised));
  const { process, ended, lastTest, counts } = read;
  if (process !== undefined && totals !== undefined) {
    const more = unwritten(process, written, totals);
    if (key !== undefined) for (const each of more.short) contradictions.add(each);
    // After the end of a process with a key, only the counts in its records are valid.
    if (!isSealed || !ended) {
      counts.push(...more.counts.map((each) => ({ ...each, test: lastTest, isSealed: false })));
    }
  }
  if (isSealed) for (const each of outcomesThatDoNotFit(records)) contradictions.add(each);
  return {
    ...{ name, isSealed, ...read },
    problems: [...problems],
    contradictions: [...contradictions],
  };
}

/** The contents of a journal's records, as far as they have been read. */
interface ReadRecords {
  process: ProcessRecord | undefined;
  lastTest: string | null;
  collecting: string | null;
  ended: boolean;
  abrupt: boolean;
  readonly begun: Set<string>;
  readonly outcomes: Map<string, OutcomeRecord>;
  readonly started: Set<number | undefined>;
  readonly counts: Counted[];
  readonly sessions: { runner: string; version?: string }[];
  readonly collected: string[];
  readonly files: { path: string; how: string; why?: string }[];
  readonly elsewhere: { path: string; loaded: string }[];
  readonly acts: Act[];
  warm?: WarmStart;
}

/** @param written executions that the records count for each slot of the process */
function addCounts(
  { counts, test }: Extract<JournalRecord, { kind: 'counts' }>,
  isSealed: boolean,
  read: ReadRecords,
  written: number[],
  problems: Set<string>,
): void {
  for (const [slot, count] of slotsOf(counts)) {
    const place = read.process?.slots[slot];
    if (place === undefined) {
      problems.add('the trace counts an unknown line');
      continue;
    }
    written[slot] = (written[slot] ?? 0) + count;
    const [path, line] = place;
    read.counts.push({ path, line, test, count, isSealed });
  }
}

function addRecord(
  record: Exclude<JournalRecord, { kind: 'counts' | 'problem' | 'foreign' }>,
  read: ReadRecords,
  written: number[],
): void {
  switch (record.kind) {
    case 'process':
      read.process ??= record;
      written.length = 0;
      break;
    case 'begin':
      read.lastTest = record.test;
      if (record.test !== null) read.begun.add(record.test);
      break;
    case 'file': {
      const { path, how, why } = record;
      read.files.push({ path, how, ...(why === undefined ? {} : { why }) });
      break;
    }
    case 'elsewhere':
      read.elsewhere.push({ path: record.path, loaded: record.loaded });
      break;
    case 'exit':
      read.ended = true;
      read.abrupt = record.abrupt === true;
      break;
    case 'session': {
      const { runner, version } = record;
      read.sessions.push({ runner, ...(version === undefined ? {} : { version }) });
      break;
    }
    case 'outcome':
      read.outcomes.set(record.test, record);
      break;
    case 'collecting':
      read.collecting = record.path;
      break;
    case 'collected':
      // A loop, since there may be more tests than a call takes arguments.
      for (const test of record.tests) read.collected.push(test);
      break;
    case 'act': {
      const { kind: _, ...act } = record;
      read.acts.push(act);
      break;
    }
    case 'warm': {
      const { kind: _, ...warm } = record;
      read.warm = warm;
      break;
    }
    case 'started':
      read.started.add(record.pid ?? undefined);
      break;
  }
}

interface Checks {
  readonly key: RecordKey | undefined;
  readonly problems: Set<string>;
  readonly contradictions: Set<string>;
}

/**
 * The valid records. In a journal with seals, these are the records with correct seals, ordered by
 * number.
 */
function recordsOf(
  name: string,
  text: string,
  { key, problems, contradictions }: Checks,
): { readonly records: readonly JournalRecord[]; readonly isSealed: boolean } {
  const lines = [...completeLines(text)].map((line) => {
    const { text, seal } = splitLine(line);
    return { text, seal, record: parseRecord(text) };
  });
  const first = lines[0]?.record;
  const relay = typeof first === 'object' && first.kind === 'process' ? first.relay : undefined;
  const holds = key?.sealOf(relay);
  const sealed = new Map<number, (typeof lines)[number]>();
  const others: typeof lines = [];
  for (const line of lines) {
    const { text, seal } = line;
    if (seal === undefined || holds?.(name, seal.number, text, seal.digits) !== true) {
      others.push(line);
    } else {
      // A record whose writing was interrupted may be there twice.
      sealed.set(seal.number, line);
    }
  }
  const isSealed = sealed.size > 0;
  const numbers = [...sealed.keys()].sort((a, b) => a - b);
  const used = isSealed ? numbers.flatMap((number) => sealed.get(number) ?? []) : others;
  const records = used.flatMap(({ record }) => {
    if (record === 'broken') problems.add('a trace record could not be read');
    return typeof record === 'string' ? [] : [record];
  });
  if (key === undefined) return { records, isSealed };

  const whose = nameOf(used);
  if (isSealed) {
    const missing = (numbers.at(-1) ?? -1) + 1 - numbers.length;
    if (missing > 0) contradictions.add(`records of ${whose} are missing (${missing})`);
    if (others.length > 0) {
      contradictions.add(`records of ${whose} were not written by it (${others.length})`);
    }
    return { records, isSealed };
  }
  if (others.some(({ seal }) => seal !== undefined)) {
    contradictions.add(`${whose} has records with an invalid key`);
  }
  for (const record of records) {
    if (!sealedOnly.has(record.kind)) continue;
    contradictions.add(
      record.kind === 'outcome'
        ? `${whose} reports ${record.test} as ${record.outcome} without the run's key`
        : `${whose} has a record "${record.kind}" without the run's key`,
    );
    if (contradictions.size > 10) break;
  }
  return { records: records.filter(({ kind }) => !sealedOnly.has(kind)), isSealed };
}

function nameOf(lines: readonly { readonly record: unknown }[]): string {
  const found = lines.find(({ record }) => (record as ProcessRecord).kind === 'process');
  return found === undefined ? 'a process' : processName(found.record as ProcessRecord);
}

/** Describes a process by its number and its command line. */
export function processName({ pid, argv }: Pick<ProcessRecord, 'pid' | 'argv'>): string {
  const command = argv.join(' ').replace(/\s+/g, ' ').trim();
  const short = command.length > 100 ? `${command.slice(0, 100)}…` : command;
  return `process ${pid}${short === '' ? '' : ` (${short})`}`;
}

function foreign({ what, where }: Extract<JournalRecord, { kind: 'foreign' }>): string {
  return what === 'code'
    ? `${where ?? 'a part'} of the recorder was replaced, or called by other code`
    : `${where ?? 'other code'} wrote a record "${what}" instead of the recorder`;
}

function raisedCounts(lines: readonly string[]): string {
  const [first] = lines;
  return lines.length === 1
    ? `the count of ${first} increased without an execution`
    : `the counts of ${first} and ${lines.length - 1} more changed lines increased without an execution`;
}

/** Finds outcomes without a beginning, and tests whose second outcome is better than the first. */
function outcomesThatDoNotFit(records: readonly JournalRecord[]): string[] {
  const found: string[] = [];
  const begun = new Set<string>();
  const collected = new Set<string>();
  const last = new Map<string, OutcomeRecord>();
  // An exception from a signal handler, which is recorded as a problem, may have prevented the
  // record of a beginning.
  const mayLack = records.some(({ kind }) => kind === 'problem');
  let runner: string | undefined;
  for (const record of records) {
    if (record.kind === 'session') runner = record.runner;
    if (record.kind === 'collected') for (const test of record.tests) collected.add(test);
    if (record.kind === 'begin' && record.test !== null) {
      begun.add(record.test);
      last.delete(record.test);
    }
    if (record.kind !== 'outcome') continue;
    const { test, attempt, outcome, phase } = record;
    // Some outcomes have no beginning: those of files and classes, and a skip by a decorator. A
    // plug-in of pytest may also report tests under other names.
    const hasBegun =
      runner === 'pytest'
        ? attempt !== 0 || phase === 'collect' || !collected.has(test)
        : begun.has(test) || phase !== 'call' || outcome === 'skipped';
    if (!hasBegun && !mayLack) {
      found.push(`${test} has the outcome ${outcome} but never started`);
    }
    const before = last.get(test);
    const isSame = before !== undefined && before.attempt === attempt && begun.has(test);
    if (isSame && outcomeRank[outcome] < outcomeRank[before.outcome]) {
      found.push(`${test} has two outcomes: ${before.outcome}, then ${outcome}`);
    }
    last.set(test, record);
  }
  return found.slice(0, 10);
}

/** Complete lines only: a process that is killed while it writes leaves a torn last line. */
function* completeLines(text: string): Generator<string> {
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    if (end > start) yield text.slice(start, end);
    start = end + 1;
  }
}

function slotsOf(counts: Readonly<Record<string, number>>): [number, number][] {
  return Object.entries(counts).map(([key, count]) => [
    /^\d{1,9}$/.test(key) ? Number(key) : -1,
    count,
  ]);
}

/**
 * Counts that a process made but did not live to write, for the test that it was running. Also
 * lists slots for which it wrote more executions than it counted.
 */
function unwritten(
  process: ProcessRecord,
  written: readonly number[],
  totals: Buffer,
): { readonly counts: { path: string; line: number; count: number }[]; readonly short: string[] } {
  const counts: { path: string; line: number; count: number }[] = [];
  const short: string[] = [];
  const slots = Math.min(process.slots.length, Math.floor(totals.length / 8));
  for (let slot = 0; slot < slots; slot++) {
    const total = totals.readBigUInt64LE(8 * slot);
    const place = process.slots[slot];
    if (total > BigInt(Number.MAX_SAFE_INTEGER) || place === undefined) continue;
    const [path, line] = place;
    const missing = Number(total) - (written[slot] ?? 0);
    if (missing > 0) counts.push({ path, line, count: missing });
    // A file that is too short was never complete, because the disk was full when the process
    // began.
    if (missing < 0 && totals.length === 8 * process.slots.length) {
      short.push(
        `${processName(process)} wrote more executions of ${path}:${line} than it counted`,
      );
    }
  }
  return { counts, short: short.slice(0, 3) };
}

/** Converts a recorded outcome for the rest of the program. */
export function resultOf(record: OutcomeRecord): TestResult {
  const { phase, exception, message, details } = record;
  const [expected, actual] = record.comparison ?? [];
  return {
    test: record.test,
    outcome: record.outcome,
    seconds: record.seconds,
    ...(phase === null || phase === undefined ? {} : { phase }),
    ...(exception === undefined ? {} : { exception }),
    ...(message === undefined ? {} : { message }),
    ...(details === undefined ? {} : { details }),
    frames: record.frames.map(([path, line, name]) => ({ path, line, function: name })),
    ...(expected === undefined || actual === undefined ? {} : { comparison: { expected, actual } }),
  };
}
