import { standing, type Side, type TestResult } from '../domain/outcome';
import { ungraded, type Verdict } from '../domain/verdict';
import { inTurns, turnsOf, type Turns } from '../domain/work';
import type { RunRecord } from '../engine/engine';
import { applyPatch } from '../patch/applyPatch';
import type { Diagnostic } from '../patch/diagnostic';
import { formatFilePatch, makeUnified } from '../patch/makeUnified';
import { parseUnified } from '../patch/parseUnified';
import type { ParsedPatch } from '../patch/parsedPatch';
import { isTestPath, renamedFiles, testFilesOf, splitTestEdits } from '../patch/testFiles';
import { toUnified, type Conversion } from '../patch/toUnified';
import { checkPatchPaths } from '../patch/unsafePath';
import { changedTestsSteps, isEmptyTest, movedTests } from '../python/changedTests';
import { findTests, type PythonTest } from '../python/tests';
import { GitError } from '../repository/git';
import { whyNotApply } from '../repository/trees';
import { resultsOf, whyIncomplete, whyNotRunnable, withNamesOf } from './results';
import { contentsWith, type InstanceSession, type RunOptions } from './session';

export interface CandidateRequest {
  readonly model: string;
  /** The candidate as it was handed in. */
  readonly text: string;
  /** `auto`, or the name of a format of the session. */
  readonly format: string;
  /** Leave out edits outside tests before the run. */
  readonly testsOnly?: boolean;
  /** Tests that a runner finds, or one script whose exit status is the outcome. */
  readonly mode: Mode;
}

export type Mode = 'unit-test' | 'reproduction-script';

/** A candidate that can be run: it applies to both sides and has test files. */
export interface ReadCandidate {
  readonly diagnostics: readonly Diagnostic[];
  /** Unified diff that `git apply` takes on R and on R∘X*. */
  readonly patch: string;
  /** Test files that it changes or adds. */
  readonly files: readonly string[];
  readonly own: OwnTests;
  readonly notes: readonly string[];
  /** Why `git apply` refuses the unified diff as written, which is all that the harness tries. */
  readonly refusedAsWritten?: string;
}

/** A candidate that is refused before a run, with its verdict. */
export interface RefusedCandidate {
  readonly diagnostics: readonly Diagnostic[];
  /** Empty when it is not even a patch. */
  readonly patch: string;
  readonly verdict: Verdict;
}

/**
 * Converts a candidate to a unified diff, and checks whether it can run and which tests it has.
 * Changes nothing.
 *
 * @throws Cancelled
 */
export async function prepareCandidate(
  session: InstanceSession,
  request: CandidateRequest,
  signal?: AbortSignal,
): Promise<ReadCandidate | RefusedCandidate> {
  if (request.text.trim() === '') {
    const verdict = ungraded('no candidate', 'the candidate is empty', false);
    return { diagnostics: [], patch: '', verdict };
  }
  const { diagnostics, patch, left, format } = await toUnified(request.text, {
    format: request.format,
    tree: { read: (path) => session.readFileOfR(path) },
    python: session.python,
    formats: session.formats,
    signal,
    ...(request.testsOnly === true && { testsOnly: true }),
  });
  const refuse = (why: string): RefusedCandidate => ({
    diagnostics,
    patch: '',
    verdict: ungraded('does not apply', why, false),
  });
  const firstError = diagnostics.find((each) => each.severity === 'error');
  if (firstError !== undefined) return refuse(firstError.message);
  const parsed = parseUnified(patch);
  const unsafe = checkPatchPaths(parsed)[0];
  if (unsafe !== undefined) return refuse(unsafe.message);
  const unfit = await whyNotApply(session.trees.base, patch, signal);
  if (unfit !== undefined) return refuse(unfit);

  const unfitAfter = await whyNotApply(session.trees.fixed, patch, signal);
  if (unfitAfter !== undefined) {
    const why = `the patch applies to R but not to R∘X* (${unfitAfter})`;
    return { diagnostics, patch, verdict: ungraded('does not apply', why, true) };
  }
  if (request.mode === 'reproduction-script') return readScript(parsed, diagnostics, patch);
  const files = testFilesOf(parsed);
  if (files.length === 0) {
    // Never pass an empty list of files: a runner without arguments runs the whole suite.
    const why = 'the patch changes no Python test file, so there is nothing to run';
    return { diagnostics, patch, verdict: ungraded('no test found', why, true) };
  }
  const notes =
    left.length > 0 ? [`ignored changes to files that are not tests: ${left.join(', ')}`] : [];
  // The harness hands the text over in a here document, which ends it with a newline.
  const text = request.text.endsWith('\n') ? request.text : `${request.text}\n`;
  const refusedAsWritten =
    format === 'unified' && text !== patch && request.testsOnly !== true
      ? await whyNotApply(session.trees.base, text, signal)
      : undefined;
  return {
    diagnostics,
    patch,
    files,
    own: await ownTestsOf(session, patch, files, signal),
    notes,
    ...(refusedAsWritten !== undefined && { refusedAsWritten }),
  };
}

/**
 * A candidate in reproduction-script mode: the one Python file that it adds, or else the one that
 * it changes.
 */
function readScript(
  parsed: ParsedPatch,
  diagnostics: readonly Diagnostic[],
  patch: string,
): ReadCandidate | RefusedCandidate {
  const python = parsed.files.filter((file) => file.newPath?.endsWith('.py') === true);
  const added = python.filter((file) => file.kind === 'added');
  const scripts = (added.length > 0 ? added : python).flatMap((file) => file.newPath ?? []);
  const [script] = scripts;
  if (script === undefined || scripts.length > 1) {
    const why =
      script === undefined
        ? 'the patch adds no Python script to run'
        : `the patch adds ${scripts.length} Python files, but a reproduction script must be a single file`;
    return { diagnostics, patch, verdict: ungraded('no test found', why, true) };
  }
  return {
    diagnostics,
    patch,
    files: [script],
    // R does not have the script as a test: without the candidate there is nothing to run.
    own: {
      functions: [script],
      removed: [],
      all: [script],
      before: [],
      filesOfR: [],
      renamed: new Map(),
      lost: { removed: [], emptied: [] },
      moved: new Map(),
    },
    notes: [],
  };
}

/**
 * Test functions of the files that a patch touches, as ids without parameters. Tests of a file that
 * the patch renames have the new path on both sides of the comparison.
 */
export interface OwnTests {
  /** Added or changed by the patch. */
  readonly functions: readonly string[];
  /** No longer there under their name. */
  readonly removed: readonly string[];
  /** All test functions of the files with the patch; `before` without it. */
  readonly all: readonly string[];
  readonly before: readonly string[];
  /** Files in which R has tests that the patch may change, move or remove. */
  readonly filesOfR: readonly string[];
  /** New path by old path, of the files that the patch renames. */
  readonly renamed: ReadonlyMap<string, string>;
  /** Tests of R that the patch takes away: without those that it only renames or moves. */
  readonly lost: {
    readonly removed: readonly string[];
    /** Their code is gone, as `pass` in its place. */
    readonly emptied: readonly string[];
  };
  /** Later id by earlier id, of the tests that the patch only renames or moves. */
  readonly moved: ReadonlyMap<string, string>;
}

/**
 * Compares the functions of test files with and without a patch.
 *
 * @throws Cancelled
 */
export async function ownTestsOf(
  session: Pick<InstanceSession, 'python' | 'readFileOfR'>,
  patch: string,
  files: readonly string[],
  signal?: AbortSignal,
): Promise<OwnTests> {
  const { python } = session;
  const turns = turnsOf(signal);
  const after = await contentsWith(patch, (path) => session.readFileOfR(path), turns);
  const functions: string[] = [];
  const removed: PythonTest[] = [];
  const added: PythonTest[] = [];
  const emptied: string[] = [];
  const all: string[] = [];
  const before: string[] = [];
  const filesOfR: string[] = [];
  const renamed = new Map<string, string>();
  const { oldPaths, deleted } = await movedFiles(session, { patch, files, after }, turns);
  for (const path of files) {
    await turns.pause();
    const was = oldPaths.get(path) ?? path;
    const old = await session.readFileOfR(was);
    const textOf = new Map<string, PythonTest>();
    if (old !== undefined) {
      for (const test of findTests(python, old, { path })) textOf.set(test.id, test);
      before.push(...textOf.keys());
      filesOfR.push(was);
      if (was !== path) renamed.set(was, path);
    }
    const source = after.get(path);
    if (source === undefined) continue;
    await turns.pause();
    for (const test of findTests(python, source, { path })) all.push(test.id);
    const changes = await inTurns(changedTestsSteps(python, old, source, { path }), turns);
    for (const test of [...changes.added, ...changes.changed]) functions.push(test.id);
    added.push(...changes.added);
    removed.push(...changes.removed);
    for (const test of changes.changed) {
      const earlier = textOf.get(test.id);
      if (earlier === undefined || earlier.text === test.text || isEmptyTest(python, earlier)) {
        continue;
      }
      if (isEmptyTest(python, test)) emptied.push(test.id);
    }
  }
  for (const path of deleted) {
    await turns.pause();
    const tests = findTests(python, (await session.readFileOfR(path)) ?? '', { path });
    if (tests.length === 0) continue;
    before.push(...tests.map((test) => test.id));
    removed.push(...tests);
    filesOfR.push(path);
  }
  const moved = movedTests(added, removed);
  const gone = removed.map(({ id }) => id);
  const lost = { removed: gone.filter((id) => !moved.has(id)), emptied };
  return { functions, removed: gone, all, before, filesOfR, renamed, lost, moved };
}

/**
 * The files of R that a patch moves, as old paths by new ones, and the test files that it deletes.
 * A file that it deletes and writes again elsewhere is moved if most tests of it are there.
 */
async function movedFiles(
  session: Pick<InstanceSession, 'python' | 'readFileOfR'>,
  {
    patch,
    files,
    after,
  }: {
    readonly patch: string;
    readonly files: readonly string[];
    readonly after: ReadonlyMap<string, string | undefined>;
  },
  turns: Turns,
): Promise<{ oldPaths: ReadonlyMap<string, string>; deleted: readonly string[] }> {
  const { python } = session;
  const read = (path: string): Promise<string | undefined> => session.readFileOfR(path);
  const parsed = parseUnified(patch);
  const oldPaths = new Map([...renamedFiles(parsed)].filter(([path]) => files.includes(path)));
  const taken = new Set(oldPaths.values());
  const deleted: string[] = [];
  for (const { kind, oldPath: old } of parsed.files) {
    const isGone = (kind === 'deleted' || kind === 'renamed') && old !== null && !taken.has(old);
    if (!isGone || !old.endsWith('.py') || !isTestPath(old)) continue;
    await turns.pause();
    const before = findTests(python, (await read(old)) ?? '', { path: old });
    let place: string | undefined;
    for (const path of files) {
      const source = after.get(path);
      if (oldPaths.has(path) || source === undefined || (await read(path)) !== undefined) continue;
      const moved = movedTests(findTests(python, source, { path }), before);
      if (moved.size * 2 > before.length) place ??= path;
    }
    if (place === undefined) deleted.push(old);
    else oldPaths.set(place, old);
  }
  return { oldPaths, deleted };
}

/** Settings of the runs that judge a code patch. */
type CodeRunOptions = Pick<RunOptions, 'timeoutSeconds' | 'signal' | 'reporter'>;

/**
 * A code patch as a unified diff on R, without edits of tests; or why there is none.
 *
 * @throws Cancelled
 */
export async function readCodePatch(
  session: Pick<InstanceSession, 'readFileOfR' | 'python' | 'formats'>,
  text: string,
  options: CodePatchOptions,
): Promise<string | { readonly failure: string }> {
  const parsed = await parseCodePatch(session, text, options);
  if ('failure' in parsed) return parsed;
  const { others } = splitTestEdits(parsed);
  if (others.length === 0) return { failure: 'the patch changes nothing but tests' };
  return others.map(formatFilePatch).join('');
}

/** A patch on R, and the format that it was written in. */
type ReadPatch = ParsedPatch & Pick<Conversion, 'format'>;

interface CodePatchOptions {
  /** As that of a {@link CandidateRequest}. */
  readonly format: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A code patch with all of its edits, those of tests included, as a diff that applies to R; or why
 * it does not.
 *
 * @throws Cancelled
 */
export async function parseCodePatch(
  session: Pick<InstanceSession, 'readFileOfR' | 'python' | 'formats'>,
  text: string,
  { format, signal }: CodePatchOptions,
): Promise<ReadPatch | { readonly failure: string }> {
  if (text.trim() === '') return { failure: 'the patch is empty' };
  const {
    patch,
    diagnostics,
    format: found,
  } = await toUnified(text, {
    format,
    tree: { read: (path) => session.readFileOfR(path) },
    python: session.python,
    formats: session.formats,
    signal,
  });
  const error = diagnostics.find((each) => each.severity === 'error');
  if (error !== undefined) return { failure: error.message };
  const parsed = parseUnified(patch);
  const unsafe = checkPatchPaths(parsed)[0];
  return unsafe === undefined ? { ...parsed, format: found } : { failure: unsafe.message };
}

/**
 * One diff on R with the effect of the first and then the second; or why there is none.
 *
 * @throws Cancelled
 */
export async function stackPatches(
  session: Pick<InstanceSession, 'readFileOfR'>,
  first: string,
  second: string,
  { signal }: Pick<CodeRunOptions, 'signal'>,
): Promise<string | { readonly failure: string }> {
  const turns = turnsOf(signal);
  const contents = new Map<string, string | undefined>();
  const read = async (path: string): Promise<string | undefined> =>
    contents.has(path) ? contents.get(path) : session.readFileOfR(path);
  for (const patch of [first, second]) {
    const applied = await applyPatch(parseUnified(patch), read, turns);
    if (!applied.ok) return { failure: applied.problems[0]?.message ?? 'the patch does not apply' };
    for (const [path, content] of applied.files) contents.set(path, content);
  }
  const edits = [...contents].map(async ([path, after]) => ({
    path,
    before: await session.readFileOfR(path),
    after,
  }));
  return makeUnified(await Promise.all(edits));
}

/**
 * Whether everything that T* passes on R∘X* passes on R with the patch; undefined where that is
 * unknown. Runs are kept.
 *
 * @param code unified diff on R, as `readCodePatch` gives it
 * @throws Cancelled; what the engine throws
 */
export async function isResolved(
  session: InstanceSession,
  code: string,
  request: CodeRunOptions,
): Promise<boolean | undefined> {
  const tests = await session.goldenTests(request.signal);
  if ('problem' in tests) return undefined;
  const { patch, files } = tests;
  const golden = await recordOfSide(session, 'fixed', patch, files, request);
  if (typeof golden === 'string') return undefined;
  const passing = ({ outcome }: TestResult): boolean => standing(outcome) === 'passes';
  const wanted = resultsOf(golden, []).filter(passing);
  if (wanted.length === 0) return undefined;
  const together = await stackPatches(session, code, patch, request);
  if (typeof together !== 'string') return undefined;
  const record = await recordOfSide(session, 'base', together, files, request);
  if (typeof record === 'string') return false;
  const found = new Set(
    resultsOf(withNamesOf(golden, record), [])
      .filter(passing)
      .map(({ test }) => test),
  );
  return wanted.every(({ test }) => found.has(test));
}

/**
 * A run of some test files on one side with a patch that came to its end, or why it did not.
 *
 * @throws Cancelled; what the engine throws
 */
export async function recordOfSide(
  session: InstanceSession,
  side: Side,
  patch: string,
  files: readonly string[],
  { timeoutSeconds, signal, reporter }: CodeRunOptions,
): Promise<RunRecord | string> {
  const options: RunOptions = { timeoutSeconds, signal, reporter, reuse: true, sides: [side] };
  try {
    const run = await session.run({ patch, files }, options);
    const record = run.records[side];
    if (record === undefined) {
      return run.plan.notRun.map(({ path, reason }) => `${path}: ${reason}`).join('; ');
    }
    return whyNotRunnable(record) ?? whyIncomplete(record) ?? record;
  } catch (error) {
    if (error instanceof GitError) return error.message;
    throw error;
  }
}
