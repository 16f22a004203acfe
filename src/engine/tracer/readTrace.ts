import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestResult } from '../../domain/outcome';
import { isScope } from '../../domain/testId';
import {
  outcomeRank,
  processName,
  readRecordJournal,
  resultOf,
  type Counted,
  type RecordJournal,
} from './journal';
import type { Act, OutcomeRecord, WarmStart } from './records';
import type { RecordKey } from './recordKey';

export type { Act };

/** The contents of one run's trace folder, with all its processes combined. */
export interface ExecutionTrace {
  readonly processes: ProcessInfo[];
  /** How lines were counted, over all processes: `monitoring`, `bytecode`, `settrace`. */
  readonly techniques: string[];
  readonly counts: TracedLine[];
  /** One for each test with an outcome, and for files and classes: the last and worst outcome. */
  readonly outcomes: RecordedOutcome[];
  /** Ids of the tests that the runner found, if it reports them. */
  readonly collected: string[];
  /** Files whose import never ended, or ended the run. */
  readonly collecting: string[];
  /** The test whose captured output is the longest, where that is long. */
  readonly mostPrinted?: string | undefined;
  readonly sessions: { runner: string; version?: string }[];
  /** How each changed file was counted, and the reason when not in the normal way. */
  readonly files: { path: string; how: string; why?: string }[];
  /** Changed files whose module was loaded from outside the tree. */
  readonly elsewhere: { path: string; loaded: string }[];
  /** What code did apart from running the code under test, each once. */
  readonly acts: Act[];
  /** Whether a process that had loaded R was this run, or why not; absent where none was prepared. */
  readonly warm?: WarmStart | undefined;
  readonly problems: string[];
  /** Contradictions between the records, a sentence each. Any of them makes the run unsound. */
  readonly contradictions: string[];
  /**
   * Processes that ended inside a test without an outcome. With `lastTest` null: test runners that
   * were killed outside of any test.
   */
  readonly unfinished: { pid: number; argv: string[]; lastTest: string | null }[];
}

interface ProcessInfo {
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
export interface TracedLine {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  /**
   * Executions by test. Those of set-up and tear-down are listed by class or file of tests (see
   * `isScope`).
   */
  readonly byTest: Map<string, number>;
  /**
   * Executions that belong to no test, class or file, such as those during import and collection.
   */
  readonly shared: number;
}

type RecordedOutcome = TestResult;

const limits = {
  /** Number of journals of one run. */
  files: 50_000,
  /** Bytes of one journal, and of all of them. */
  journal: 128 * 1024 * 1024,
  all: 512 * 1024 * 1024,
  /** Number of distinct texts of problems, and of ids of collected tests. */
  problems: 200,
  contradictions: 50,
  collected: 500_000,
  acts: 5_000,
  arguments: 200,
};

/**
 * Reads the journals and totals that a run left in `folder`. Files that are torn, missing or not
 * ours are skipped; `problems` names whatever may make counts wrong. A missing folder gives an
 * empty trace.
 *
 * @param key of the run, which its first process took. Outcomes that it does not seal are ignored,
 * and contradictions between records are listed in `contradictions`. Without a key nothing of this
 * is checked.
 */
export async function readTrace(folder: string, key?: RecordKey): Promise<ExecutionTrace> {
  const trace = startTrace();
  const listed = await readdir(folder).catch(() => []);
  let names = listed.filter((name) => name.endsWith('.jsonl')).sort();
  if (names.length > limits.files) {
    trace.problems.add(`only ${limits.files} of ${names.length} journals were read`);
    names = names.slice(0, limits.files);
  }
  let left = limits.all;
  const journals: RecordJournal[] = [];
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
    const stem = name.slice(0, -'.jsonl'.length);
    journals.push(readRecordJournal(stem, journal.content.toString('utf8'), totals?.content, key));
  }
  const explained = key === undefined ? undefined : explainedJournals(journals);
  for (const journal of journals) {
    for (const each of journal.contradictions) addContradiction(trace, each);
    if (explained === undefined || explained.has(journal)) addJournal(trace, journal);
    else if (journal.process !== undefined) {
      const name = processName(journal.process);
      addProblem(trace, `no process of the run reports starting ${name}, so it is not counted`);
    }
  }
  if (key !== undefined) {
    if (!journals.some(isFirst)) {
      addContradiction(trace, 'the first process of the run wrote no records');
    }
    remarkOnCounts(trace);
    remarkOnCollection(trace);
    remarkOnLostOutcomes(trace, journals);
  }
  return finishTrace(trace);
}

/** Whether a journal is that of the process that took the key of the run. */
const isFirst = ({ isSealed, process }: RecordJournal): boolean =>
  isSealed && process !== undefined && process.relay === undefined && process.forked === undefined;

/**
 * The journals of processes that the run is known to have started. These are processes with a key,
 * those that one with a key reports as started, and descendants of these. Where the system does not
 * report parents (no /proc), these are all journals.
 */
function explainedJournals(journals: readonly RecordJournal[]): ReadonlySet<RecordJournal> {
  const knowsParents = journals.some((each) => isFirst(each) && hasParents(each));
  if (!knowsParents) return new Set(journals);
  const started = new Set<number>();
  for (const { isSealed, process, started: pids } of journals) {
    if (!isSealed) continue;
    for (const pid of pids) {
      // For a process that the C library starts, only the parent is known.
      if (pid !== undefined) started.add(pid);
      else if (process !== undefined) started.add(process.pid);
    }
  }
  const byName = new Map(journals.map((each) => [each.name, each]));
  const isExplained = (journal: RecordJournal | undefined, depth = 0): boolean => {
    if (journal?.isSealed === true) return true;
    const process = journal?.process;
    if (process === undefined) return journal !== undefined;
    if ([process.pid, ...(process.above ?? [])].some((pid) => started.has(pid))) return true;
    return (
      process.forked !== undefined &&
      depth < 100 &&
      isExplained(byName.get(process.forked), depth + 1)
    );
  };
  return new Set(journals.filter((each) => isExplained(each)));
}

const hasParents = ({ process }: RecordJournal): boolean => (process?.above?.length ?? 0) > 0;

/**
 * Reads at most `limit` bytes of a regular file. Links are refused, and so are pipes, which might
 * never end.
 */
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
export const emptyTrace = (): ExecutionTrace => finishTrace(startTrace());

interface CountedLine {
  readonly path: string;
  readonly line: number;
  readonly byTest: Map<string, number>;
  shared: number;
  /** The tests that executed the line according to records with a seal; null stands for no test. */
  readonly sealed: Set<string | null>;
}

interface Found {
  readonly info: ProcessInfo;
  readonly lastTest: string | null;
  /** The tests that began in it. */
  readonly begun: ReadonlySet<string>;
  readonly abrupt: boolean;
  readonly hasSession: boolean;
}

interface Building {
  readonly found: Found[];
  readonly techniques: Set<string>;
  readonly counts: Map<string, CountedLine>;
  readonly outcomes: Map<string, OutcomeRecord>;
  readonly collected: Set<string>;
  readonly collecting: Set<string>;
  readonly sessions: { runner: string; version?: string }[];
  readonly files: Map<string, { path: string; how: string; why?: string }>;
  readonly elsewhere: Map<string, { path: string; loaded: string }>;
  readonly acts: Map<string, Act>;
  warm?: WarmStart | undefined;
  readonly problems: Set<string>;
  readonly contradictions: Set<string>;
}

function startTrace(): Building {
  return {
    found: [],
    techniques: new Set(),
    counts: new Map(),
    outcomes: new Map(),
    collected: new Set(),
    collecting: new Set(),
    sessions: [],
    files: new Map(),
    elsewhere: new Map(),
    acts: new Map(),
    problems: new Set(),
    contradictions: new Set(),
  };
}

/** Adds the journal of one process. */
function addJournal(trace: Building, journal: RecordJournal): void {
  for (const each of journal.counts) addCount(trace, each);
  for (const { path, how, why } of journal.files) noteFile(trace, path, how, why);
  for (const each of journal.elsewhere) {
    trace.elsewhere.set(`${each.path}\0${each.loaded}`, each);
  }
  for (const each of journal.acts) {
    // Each of many processes may have done the same.
    const by = each.at.length > 0 ? each.at : each.test;
    const key = JSON.stringify([each.what, each.path, each.by, by]);
    if (trace.acts.size < limits.acts && !trace.acts.has(key)) trace.acts.set(key, each);
  }
  trace.warm ??= journal.warm;
  for (const each of journal.problems) addProblem(trace, each);
  trace.sessions.push(...journal.sessions);
  for (const test of journal.collected) {
    if (trace.collected.size < limits.collected) trace.collected.add(test);
  }
  // When two processes recorded the same test, the worse outcome counts. Of equal outcomes, the
  // longer one counts: the process that ran the test took longer than the one that passed the
  // result on.
  for (const [test, outcome] of journal.outcomes) {
    const other = trace.outcomes.get(test);
    const worse =
      other === undefined ? 1 : outcomeRank[outcome.outcome] - outcomeRank[other.outcome];
    if (worse > 0 || (worse === 0 && outcome.seconds > (other?.seconds ?? 0))) {
      trace.outcomes.set(test, outcome);
    }
  }
  if (journal.collecting !== null) trace.collecting.add(journal.collecting);
  const { process, ended, abrupt, lastTest, begun } = journal;
  if (process === undefined) return;
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
    ...{ lastTest, begun, abrupt },
    hasSession: journal.sessions.length > 0,
  });
}

function addCount(trace: Building, { path, line, test, count, isSealed }: Counted): void {
  const key = `${line}:${path}`;
  let counted = trace.counts.get(key);
  if (counted === undefined) {
    counted = { path, line, byTest: new Map(), shared: 0, sealed: new Set() };
    trace.counts.set(key, counted);
  }
  if (test === null) counted.shared += count;
  else counted.byTest.set(test, (counted.byTest.get(test) ?? 0) + count);
  if (isSealed) counted.sealed.add(test);
}

/** When several processes report the same file, a report that gives a reason takes precedence. */
function noteFile(trace: Building, path: string, how: string, why: string | undefined): void {
  const known = trace.files.get(path);
  if (known !== undefined && (known.why !== undefined || why === undefined)) return;
  trace.files.set(path, { path, how, ...(why === undefined ? {} : { why }) });
}

function addProblem(trace: Building, text: string): void {
  if (trace.problems.size < limits.problems) trace.problems.add(text);
}

function addContradiction(trace: Building, text: string): void {
  if (trace.contradictions.size < limits.contradictions) trace.contradictions.add(text);
}

/**
 * Any program can write counts for a process without a key, or for one that was killed before it
 * wrote its own. Honest tests start such processes too.
 */
function remarkOnCounts(trace: Building): void {
  const open = [...trace.counts.values()].filter(
    ({ byTest, shared, sealed }) =>
      [...byTest.keys()].some((test) => !sealed.has(test)) || (shared > 0 && !sealed.has(null)),
  );
  const [first] = open;
  if (first === undefined) return;
  const more = open.length === 1 ? '' : ` and ${open.length - 1} more of the changed lines`;
  addProblem(
    trace,
    `executions of ${first.path}:${first.line}${more} are not verified: they come from programs that tests started, or from killed processes`,
  );
}

/** Plug-ins may rename tests during a run, so this is a problem and not a contradiction. */
function remarkOnCollection(trace: Building): void {
  if (!trace.sessions.every(({ runner }) => runner === 'pytest') || trace.collected.size === 0) {
    return;
  }
  const strange = [...trace.outcomes.values()].filter(
    ({ test, phase }) => phase !== 'collect' && !trace.collected.has(test),
  );
  const [first] = strange;
  if (first === undefined || trace.collected.size >= limits.collected) return;
  addProblem(trace, `${first.test} has an outcome, but pytest did not collect it`);
}

/**
 * A test can prevent the recorder from recording its end. A runner that is not notified of the end
 * has the same effect, so this is a problem and not a contradiction.
 */
function remarkOnLostOutcomes(trace: Building, journals: readonly RecordJournal[]): void {
  const lost = journals
    .filter(({ isSealed, sessions }) => isSealed && sessions.length > 0)
    .flatMap(({ begun, lastTest, ended, abrupt }) => {
      const tests = [...begun].filter(isTest);
      // It ended in the last one, also where this was in work that several tests share.
      const last = ended && !abrupt ? lastTest : tests.at(-1);
      return tests.filter((test) => test !== last && !trace.outcomes.has(test));
    });
  const [first] = lost;
  if (first === undefined) return;
  const more = lost.length === 1 ? '' : ` and ${lost.length - 1} more`;
  addProblem(trace, `${first}${more} has no outcome, although the run continued after it`);
}

function finishTrace(trace: Building): ExecutionTrace {
  return {
    processes: trace.found.map(({ info }) => info),
    techniques: [...trace.techniques].sort(),
    counts: [...trace.counts.values()]
      .map(({ path, line, byTest, shared }) => ({ path, line, byTest, shared }))
      .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.line - b.line),
    outcomes: [...trace.outcomes.values()].map(resultOf),
    collected: [...trace.collected],
    collecting: [...trace.collecting],
    mostPrinted: mostPrinted(trace),
    sessions: trace.sessions,
    files: [...trace.files.values()],
    elsewhere: [...trace.elsewhere.values()],
    acts: [...trace.acts.values()],
    ...(trace.warm !== undefined && { warm: trace.warm }),
    problems: [...trace.problems],
    contradictions: [...trace.contradictions],
    unfinished: unfinished(trace),
  };
}

function unfinished(trace: Building): ExecutionTrace['unfinished'] {
  const pids = new Set(trace.found.map(({ info }) => info.pid));
  const anySession = trace.sessions.length > 0;
  return trace.found
    .filter((found) => {
      const { info, lastTest, hasSession } = found;
      // This also holds after a clean end, because a test may call os._exit.
      if (isTest(lastTest)) return !trace.outcomes.has(lastTest);
      if (found.abrupt && interrupted(trace, found) !== null) return true;
      return !info.ended && (anySession ? hasSession : !pids.has(info.ppid));
    })
    .map((found) => ({
      pid: found.info.pid,
      argv: [...found.info.argv],
      lastTest: isTest(found.lastTest) ? found.lastTest : interrupted(trace, found),
    }));
}

/**
 * The test that had begun when its runner was killed in work that several tests share, such as the
 * set-up of a class.
 */
function interrupted(trace: Building, { begun, hasSession }: Found): string | null {
  if (!hasSession) return null;
  return [...begun].findLast((test) => isTest(test) && !trace.outcomes.has(test)) ?? null;
}

function mostPrinted(trace: Building): string | undefined {
  let most: OutcomeRecord | undefined;
  for (const outcome of trace.outcomes.values()) {
    if ((outcome.printed ?? 0) > (most?.printed ?? 0)) most = outcome;
  }
  return most?.test;
}

/**
 * A process, such as a server that a class starts, may well end during the set-up of the class,
 * which has no outcome.
 */
function isTest(running: string | null): running is string {
  return running !== null && !isScope(running);
}
