import type { TestResult } from '../../domain/outcome';
import type { RunRecord } from '../../engine/engine';
import { whyNotRunnable } from '../results';

/** What of an environment keeps tests from running. All of it is untrusted text of a run. */
export interface EnvironmentFault {
  /** The exception, or why the runner cannot start. */
  readonly says: string;
  /** The module that cannot be imported, where the exception is about one. */
  readonly module?: string | undefined;
  /** The innermost file of the tree that took part in the import, where the run names one. */
  readonly importedBy?: string | undefined;
}

/** Exceptions that on their own show that installed packages conflict. */
const conflicts =
  /(^|\.)(VersionConflict|ContextualVersionConflict|DistributionNotFound|PackageNotFoundError|UnknownExtra)$/;

const importErrors = /(^|\.)(ImportError|ModuleNotFoundError)$/;

/**
 * Why a run says nothing about the tests because of what is installed. The runner cannot start or
 * breaks in itself, or no test of any file ran. Each is due to a module that is missing or broken
 * outside the tree. Undefined for any other run: where one test ran, the missing module may be what
 * the others test. Such a run is not kept, since its result changes once the environment is fixed.
 *
 * @param isOfTree whether a module of this name (its first part) may belong to R, R∘X* or the
 *   patch. The failed import may then be what the tests show
 */
export function environmentFault(
  record: RunRecord,
  isOfTree: (module: string) => boolean,
): EnvironmentFault | undefined {
  const unrunnable = whyNotRunnable(record);
  if (unrunnable !== undefined) return { says: unrunnable };
  // A limit, a kill or a cancellation does not point to the environment.
  if (record.ending !== 'exited' || record.killedBy !== undefined) return undefined;
  const { outcomes } = record.trace;
  if (outcomes.length === 0) {
    // A file of tests ended the runner.
    if (record.trace.collecting.length > 0) return undefined;
    if (record.exitCode === 0 || record.exitCode === undefined) return undefined;
    const { log } = record;
    return internalError(log) ?? faultIn(lastError(log), log, isOfTree) ?? brokenPlugin(log);
  }
  let first: EnvironmentFault | undefined;
  for (const outcome of outcomes) {
    const fault = faultOf(outcome, isOfTree);
    if (fault === undefined) return undefined;
    first ??= fault;
  }
  return first;
}

function faultOf(
  result: TestResult,
  isOfTree: (module: string) => boolean,
): EnvironmentFault | undefined {
  const { outcome, phase, exception, message = '', details = '' } = result;
  if (outcome !== 'error' || phase === 'call' || phase === 'teardown') return undefined;
  // pytest reports a failed import only in its text.
  const named = { name: exception ?? '', text: message };
  const error = isTelling(named.name) ? named : (lastError(`${details}\n${message}`) ?? named);
  const frame = result.frames?.findLast(({ path }) => isInTree(path))?.path;
  const fault = faultIn(error, details, isOfTree);
  return fault !== undefined && frame !== undefined ? { ...fault, importedBy: frame } : fault;
}

/** Whether a path of a frame is one of the tree: those outside of it are absolute. */
const isInTree = (path: string): boolean =>
  !/^([\\/<]|[A-Za-z]:)/.test(path) && !/(^|[\\/])(site|dist)-packages[\\/]/.test(path);

interface Raised {
  readonly name: string;
  readonly text: string;
}

const isTelling = (name: string): boolean => importErrors.test(name) || conflicts.test(name);

/** The last exception in a text: `ImportError: …`, with or without pytest's mark of an error. */
function lastError(text: string): Raised | undefined {
  const found = [
    ...text.matchAll(
      /^(?:E\s+)?((?:\w+\.)*\w*(?:Error|Conflict|NotFound|Exception))\b(?:: (.*))?$/gm,
    ),
  ];
  const last = found.at(-1);
  return last === undefined ? undefined : { name: last[1] ?? '', text: last[2] ?? '' };
}

function faultIn(
  error: Raised | undefined,
  details: string,
  isOfTree: (module: string) => boolean,
): EnvironmentFault | undefined {
  if (error === undefined) return undefined;
  const says = `${error.name}: ${error.text}`.trim();
  const importedBy = framesIn(details).findLast(({ path }) => isInTree(path))?.path;
  const said = { says, importedBy };
  if (conflicts.test(error.name)) return said;
  if (importErrors.test(error.name)) {
    const module = missingModule(error.text) ?? lastImported(details);
    // A relative import asks for a module of the same package.
    if (module === undefined || module.startsWith('.') || module === '') return undefined;
    return isOfTree(module.split('.')[0] ?? '') ? undefined : { ...said, module };
  }
  return raisedWhileImportingPackage(details) ? said : undefined;
}

/** The module that an import asked for: it is missing, or lacks a name. */
function missingModule(text: string): string | undefined {
  return (
    /No module named '?([\w.]+)'?/.exec(text)?.[1] ??
    /cannot import name '?\w+'? from (?:partially initialized module )?'([\w.]+)'/.exec(text)?.[1]
  );
}

/**
 * The module in the last import statement of a traceback. Before Python 3.7 the message does not
 * name it.
 */
function lastImported(details: string): string | undefined {
  const found = [...details.matchAll(/^[>E\s]*(?:from ([\w.]+) import|import ([\w.]+))\b/gm)];
  const last = found.at(-1);
  return last?.[1] ?? last?.[2];
}

/** Whether the innermost frame of a traceback is the body of an installed module. */
function raisedWhileImportingPackage(details: string): boolean {
  const last = framesIn(details).at(-1);
  return last?.name === '<module>' && /(^|[\\/])(site|dist)-packages[\\/]/.test(last.path);
}

/**
 * The fault of a plug-in that asks for a module of R which R does not have: the plug-in is of
 * another time than R, or takes R for another version. The runner cannot start then, so that it
 * cannot be what a test shows.
 */
function brokenPlugin(log: string): EnvironmentFault | undefined {
  const error = lastError(log);
  if (error === undefined || !importErrors.test(error.name)) return undefined;
  if (!raisedWhileImportingPackage(log)) return undefined;
  const path = framesIn(log)
    .at(-1)
    ?.path.split(/[\\/](?:site|dist)-packages[\\/]/)
    .at(-1);
  return { says: `the test runner loads ${path}, which fails with ${error.name}: ${error.text}` };
}

/**
 * The frames of a traceback in Python's form (`File "P", line N, in <module>`) and in pytest's
 * (`P:N: in <module>`).
 */
function framesIn(details: string): { readonly path: string; readonly name: string | undefined }[] {
  return [
    ...details.matchAll(/^\s*File "([^"\n]+)", line \d+, in (\S+)|^(\S+\.py):\d+: in (\S+)/gm),
  ]
    .map(([, path, name, shortPath, shortName]) => ({
      path: path ?? shortPath ?? '',
      name: name ?? shortName,
    }))
    .filter(({ path }) => !path.startsWith('<frozen'));
}

/** The last line of an internal error; pytest marks errors in itself and in its plug-ins so. */
function internalError(log: string): EnvironmentFault | undefined {
  const lines = [...log.matchAll(/^INTERNALERROR> (.*)$/gm)].map((match) => match[1] ?? '');
  return lines.length === 0 ? undefined : { says: `pytest aborted: ${lines.at(-1)}` };
}
