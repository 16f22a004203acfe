import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isScope, type TestResult } from '../../domain/outcome';
import { parseRecord, type OutcomeRecord, type ProcessRecord } from './records';

/** What one run of tests left in its trace folder, all its processes taken together. */
export interface Trace {
  readonly processes: ProcessInfo[];
  /** `monitoring`, `bytecode`, `settrace`: how lines were counted, over all processes. */
  readonly techniques: string[];
  readonly counts: LineCounts[];
  /** One for each test that got an outcome, the last and worst; also for files and classes. */
  readonly outcomes: RecordedOutcome[];
  /** Ids of the tests that the runner found, where it says. */
  readonly collected: string[];
  readonly sessions: { runner: string; version?: string }[];
  /** How each changed file was counted, and why when not in the usual way. */
  readonly files: { path: string; how: string; why?: string }[];
  /** Changed files whose module was loaded from outside the tree. */
  readonly elsewhere: { path: string; loaded: string }[];
  readonly problems: string[];
  /**
   * Processes that ended inside a test which has no outcome, or, with `lastTest` null, test runners
   * that were killed outside any test.
   */
  readonly unfinished: { pid: number; argv: string[]; lastTest: string | null }[];
}

export interface ProcessInfo {
  readonly pid: number;
  readonly ppid: number;
  readonly argv: string[];
  readonly python: string;
  readonly implementation: string;
  readonly technique?: string;
  /** False when the process was killed or crashed. */
  readonly ended: boolean;
}

/** Executions of one changed line, summed over processes. */
export interface LineCounts {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /** By test, and by class or file of tests for their set-up and tear-down (see `isScope`). */
  readonly byTest: Map<string, number>;
  /** During import, collection and everything else that belongs to none of these. */
  readonly shared: number;
}

export type RecordedOutcome = TestResult;

const limits = {
  /** Journals of one run. */
  files: 50_000,
  /** Bytes of one journal, and of all of them. */
  journal: 128 * 1024 * 1024,
  all: 512 * 1024 * 1024,
  /** Distinct texts of problems, and ids of collected tests. */
  problems: 200,
  collected: 500_000,
  arguments: 200,
};

const badness: Record<OutcomeRecord['outcome'], number> = {
  passed: 0,
  xfailed: 1,
  skipped: 2,
  xpassed: 3,
  failed: 4,
  error: 5,
};

/**
 * Reads the journals and totals that a run left in `folder`. Whatever is torn, missing or not ours is
 * passed over; what may make counts wrong is named in `problems`. A folder that is not there gives
 * an empty trace.
 */
export async function readTrace(folder: string): Promise<Trace> {
  const trace = startTrace();
  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl')).sort();
  } catch {
    return finishTrace(trace);
  }
  if (names.length > limits.files) {
    trace.problems.add(`only ${limits.files} of ${names.length} journals were read`);
    names = names.slice(0, limits.files);
  }
  let left = limits.all;
  for (const name of names) {
    const path = join(folder, name);
    const journal = await readBounded(path, Math.min(limits.journal, left));
    if (journal === undefined) {
      trace.problems.add('a journal could not be read');
      continue;
    }
    left -= journal.content.length;
    if (journal.cut) trace.problems.add('a journal was too long and only its start was read');
    const totals = await readBounded(path.replace(/\.jsonl$/, '.counts'), limits.journal);
    readJournal(trace, journal.content.toString('utf8'), totals?.content);
  }
  return finishTrace(trace);
}

/** A regular file, at most `limit` bytes of it: not a link, nor a pipe that would never end. */
async function readBounded(
  path: string,
  limit: number,
): Promise<{ content: Buffer; cut: boolean } | undefined> {
  try {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    const file = await open(path, flags);
    try {
      const info = await file.stat();
      if (!info.isFile()) return undefined;
      const size = Math.min(info.size, limit);
      const content = Buffer.alloc(size);
      let at = 0;
      while (at < size) {
        const { bytesRead } = await file.read(content, at, size - at, at);
        if (bytesRead === 0) break;
        at += bytesRead;
      }
      return { content: content.subarray(0, at), cut: info.size > limit };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/** The trace of a run that never began. */
export const emptyTrace = (): Trace => finishTrace(startTrace());

interface Counted {
  readonly path: string;
  readonly line: number;
  readonly byTest: Map<string, number>;
  shared: number;
}

interface Found {
  readonly info: ProcessInfo;
  readonly lastTest: string | null;
  readonly hasSession: boolean;
}

interface Building {
  readonly found: Found[];
  readonly techniques: Set<string>;
  readonly counts: Map<string, Counted>;
  readonly outcomes: Map<string, OutcomeRecord>;
  readonly collected: Set<string>;
  readonly sessions: { runner: string; version?: string }[];
  readonly files: Map<string, { path: string; how: string; why?: string }>;
  readonly elsewhere: Map<string, { path: string; loaded: string }>;
  readonly problems: Set<string>;
}

function startTrace(): Building {
  return {
    found: [],
    techniques: new Set(),
    counts: new Map(),
    outcomes: new Map(),
    collected: new Set(),
    sessions: [],
    files: new Map(),
    elsewhere: new Map(),
    problems: new Set(),
  };
}

/** Adds one process; `totals` is the content of its `.counts` file. */
function readJournal(trace: Building, text: string, totals: Buffer | undefined): void {
  let process: ProcessRecord | undefined;
  let lastTest: string | null = null;
  let ended = false;
  let hasSession = false;
  let written: number[] = [];
  const outcomes = new Map<string, OutcomeRecord>();

  for (const line of completeLines(text)) {
    const record = parseRecord(line);
    if (record === 'unknown') continue;
    if (record === 'broken') {
      addProblem(trace, 'a record of the trace could not be read');
      continue;
    }
    switch (record.kind) {
      case 'process':
        process ??= record;
        written = new Array<number>(process.slots.length).fill(0);
        break;
      case 'begin':
        lastTest = record.test;
        break;
      case 'counts':
        for (const [key, count] of Object.entries(record.counts)) {
          const slot = /^\d{1,9}$/.test(key) ? Number(key) : -1;
          const place = process?.slots[slot];
          if (place === undefined) {
            addProblem(trace, 'the trace counts a line that it does not name');
            continue;
          }
          written[slot] = (written[slot] ?? 0) + count;
          addCount(trace, place, record.test, count);
        }
        break;
      case 'file':
        noteFile(trace, record.path, record.how, record.why);
        break;
      case 'elsewhere':
        trace.elsewhere.set(`${record.path}\0${record.loaded}`, {
          path: record.path,
          loaded: record.loaded,
        });
        break;
      case 'problem':
        addProblem(trace, record.text);
        break;
      case 'exit':
        ended = true;
        break;
      case 'session':
        hasSession = true;
        trace.sessions.push({
          runner: record.runner,
          ...(record.version === undefined ? {} : { version: record.version }),
        });
        break;
      case 'outcome':
        outcomes.set(record.test, record);
        break;
      case 'collected':
        for (const test of record.tests) {
          if (trace.collected.size < limits.collected) trace.collected.add(test);
        }
        break;
    }
  }

  // Two processes recorded the same test: the worse stands, and of two alike the one that ran it,
  // which took longer than to pass the result on.
  for (const [test, outcome] of outcomes) {
    const other = trace.outcomes.get(test);
    const worse = other === undefined ? 1 : badness[outcome.outcome] - badness[other.outcome];
    if (worse > 0 || (worse === 0 && outcome.seconds > (other?.seconds ?? 0))) {
      trace.outcomes.set(test, outcome);
    }
  }
  if (process === undefined) return;
  addUnwritten(trace, process, written, totals, lastTest);
  if (typeof process.technique === 'string') trace.techniques.add(process.technique);
  trace.found.push({
    info: {
      pid: process.pid,
      ppid: process.ppid,
      argv: process.argv.slice(0, limits.arguments).map((part) => part.slice(0, 4_096)),
      python: process.python,
      implementation: process.implementation,
      ...(typeof process.technique === 'string' ? { technique: process.technique } : {}),
      ended,
    },
    lastTest,
    hasSession,
  });
}

/** Lines that end: a process that was killed while it wrote leaves a torn last one. */
function* completeLines(text: string): Generator<string> {
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
    if (end > start) yield text.slice(start, end);
    start = end + 1;
  }
}

/** Counts that a process made and did not live to write belong to the test it was in. */
function addUnwritten(
  trace: Building,
  process: ProcessRecord,
  written: readonly number[],
  totals: Buffer | undefined,
  lastTest: string | null,
): void {
  if (totals === undefined) return;
  const slots = Math.min(process.slots.length, Math.floor(totals.length / 8));
  for (let slot = 0; slot < slots; slot++) {
    const total = totals.readBigUInt64LE(8 * slot);
    const place = process.slots[slot];
    if (total > BigInt(Number.MAX_SAFE_INTEGER) || place === undefined) continue;
    const missing = Number(total) - (written[slot] ?? 0);
    if (missing > 0) addCount(trace, place, lastTest, missing);
  }
}

function addCount(
  trace: Building,
  [path, line]: readonly [string, number],
  test: string | null,
  count: number,
): void {
  const key = `${line}:${path}`;
  let counted = trace.counts.get(key);
  if (counted === undefined) {
    counted = { path, line, byTest: new Map(), shared: 0 };
    trace.counts.set(key, counted);
  }
  if (test === null) counted.shared += count;
  else counted.byTest.set(test, (counted.byTest.get(test) ?? 0) + count);
}

/** The same file in several processes: what is out of the ordinary in one of them stands. */
function noteFile(trace: Building, path: string, how: string, why: string | undefined): void {
  const known = trace.files.get(path);
  if (known !== undefined && (known.why !== undefined || why === undefined)) return;
  trace.files.set(path, { path, how, ...(why === undefined ? {} : { why }) });
}

function addProblem(trace: Building, text: string): void {
  if (trace.problems.size < limits.problems) trace.problems.add(text);
}

function finishTrace(trace: Building): Trace {
  return {
    processes: trace.found.map(({ info }) => info),
    techniques: [...trace.techniques].sort(),
    counts: [...trace.counts.values()].sort(
      (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.line - b.line,
    ),
    outcomes: [...trace.outcomes.values()].map(resultOf),
    collected: [...trace.collected],
    sessions: trace.sessions,
    files: [...trace.files.values()],
    elsewhere: [...trace.elsewhere.values()],
    problems: [...trace.problems],
    unfinished: unfinished(trace),
  };
}

function unfinished(trace: Building): Trace['unfinished'] {
  const pids = new Set(trace.found.map(({ info }) => info.pid));
  const anySession = trace.sessions.length > 0;
  return trace.found
    .filter(({ info, lastTest, hasSession }) => {
      // Also after a clean end: os._exit in a test is one.
      if (isTest(lastTest)) return !trace.outcomes.has(lastTest);
      return !info.ended && (anySession ? hasSession : !pids.has(info.ppid));
    })
    .map(({ info, lastTest }) => ({
      pid: info.pid,
      argv: [...info.argv],
      lastTest: isTest(lastTest) ? lastTest : null,
    }));
}

/** A process may well end in the set-up of a class, which has no outcome: a server that it starts. */
function isTest(running: string | null): running is string {
  return running !== null && !isScope(running);
}

function resultOf(record: OutcomeRecord): RecordedOutcome {
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
