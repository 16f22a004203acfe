import { standing, type Side, type TestResult } from '../domain/outcome';
import { turnsOf } from '../domain/turns';
import type { RunRecord } from '../engine/engine';
import { applyPatch } from '../patch/unified/applyPatch';
import { toUnified, type AskedFormat, type Conversion } from '../patch/toUnified';
import { checkPatchPaths } from '../patch/unsafePath';
import { splitTestEdits } from '../patch/testFiles';
import { parseUnified } from '../patch/unified/parseUnified';
import type { ParsedPatch } from '../patch/unified/parsedPatch';
import { formatFilePatch, makeUnified } from '../patch/unified/makeUnified';
import { GitError } from '../repository/git/git';
import { resultsOf, whyBrokenOff, whyNotRunnable } from './results';
import type { InstanceSession, RunOptions } from './session';
import { withNamesOf } from './testNames';

/** Settings of the runs that judge a code patch. */
type CodeRunOptions = Pick<RunOptions, 'timeoutSeconds' | 'signal' | 'reporter'>;

/**
 * A code patch as a unified diff on R, without edits of tests; or why there is none.
 *
 * @throws Cancelled
 */
export async function readCodePatch(
  session: Pick<InstanceSession, 'readFileOfR' | 'python'>,
  text: string,
  options: CodePatchOptions,
): Promise<string | { readonly failure: string }> {
  const parsed = await parseCodePatch(session, text, options);
  if ('failure' in parsed) return parsed;
  const { others } = splitTestEdits(parsed);
  if (others.length === 0) return { failure: 'the patch edits nothing but tests' };
  return others.map(formatFilePatch).join('');
}

/** A patch on R, and the format that it was written in. */
type ReadPatch = ParsedPatch & Pick<Conversion, 'format'>;

interface CodePatchOptions {
  readonly format: AskedFormat;
  readonly signal?: AbortSignal | undefined;
}

/**
 * A code patch with all of its edits, those of tests included, as a diff that applies to R; or why
 * it does not.
 *
 * @throws Cancelled
 */
export async function parseCodePatch(
  session: Pick<InstanceSession, 'readFileOfR' | 'python'>,
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
    if (!applied.ok) return { failure: applied.problems[0]?.message ?? 'it does not apply' };
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
    return whyNotRunnable(record) ?? whyBrokenOff(record) ?? record;
  } catch (error) {
    if (error instanceof GitError) return error.message;
    throw error;
  }
}
