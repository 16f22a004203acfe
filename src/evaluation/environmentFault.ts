import type { TestResult } from '../domain/outcome';
import type { RunRecord } from '../engine/engine';
import { whyNotRunnable } from './results';

/** Exceptions that by themselves show that installed packages conflict. */
const conflicts =
  /(^|\.)(VersionConflict|ContextualVersionConflict|DistributionNotFound|PackageNotFoundError|UnknownExtra)$/;

const importErrors = /(^|\.)(ImportError|ModuleNotFoundError)$/;

/**
 * Why a run says nothing about the tests because of what is installed. The runner cannot start or
 * breaks in itself, or no test of any file ran. Each is due to a module that is missing or broken
 * outside the tree. Undefined for any other run: where one test ran, the missing module may be what
 * the others test. Such a run is not kept, since its result changes once the environment is mended.
 *
 * @param isOfTree whether a module of this name (its first part) may belong to R, R∘X* or the
 *   patch. The failed import may then be what the tests show
 */
export function environmentFault(
  record: RunRecord,
  isOfTree: (module: string) => boolean,
): string | undefined {
  const unrunnable = whyNotRunnable(record);
  if (unrunnable !== undefined) return unrunnable;
  // A limit, a kill or a cancellation does not point to the environment.
  if (record.ending !== 'exited' || record.killedBy !== undefined) return undefined;
  const { outcomes } = record.trace;
  if (outcomes.length === 0) {
    if (record.exitCode === 0 || record.exitCode === undefined) return undefined;
    return internalError(record.log) ?? faultIn(lastError(record.log), record.log, isOfTree);
  }
  let first: string | undefined;
  for (const outcome of outcomes) {
    const fault = faultOf(outcome, isOfTree);
    if (fault === undefined) return undefined;
    first ??= fault;
  }
  return first;
}

function faultOf(result: TestResult, isOfTree: (module: string) => boolean): string | undefined {
  const { outcome, phase, exception, message = '', details = '' } = result;
  if (outcome !== 'error' || phase === 'call' || phase === 'teardown') return undefined;
  // pytest reports a failed import only in its text.
  const named = { name: exception ?? '', text: message };
  const error = isTelling(named.name) ? named : (lastError(`${details}\n${message}`) ?? named);
  return faultIn(error, details, isOfTree);
}

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
): string | undefined {
  if (error === undefined) return undefined;
  const said = `${error.name}: ${error.text}`.trim();
  if (conflicts.test(error.name)) return said;
  if (importErrors.test(error.name)) {
    const module = missingModule(error.text) ?? lastImported(details);
    // A relative import asks for a module of the same package.
    if (module === undefined || module.startsWith('.') || module === '') return undefined;
    return isOfTree(module.split('.')[0] ?? '') ? undefined : said;
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

/**
 * Whether the innermost frame of a traceback is the body of an installed module. Reads Python's
 * form (`File "P", line N, in <module>`) and pytest's (`P:N: in <module>`).
 */
function raisedWhileImportingPackage(details: string): boolean {
  const frames = [
    ...details.matchAll(/^\s*File "([^"\n]+)", line \d+, in (\S+)|^(\S+\.py):\d+: in (\S+)/gm),
  ]
    .map(([, path, name, shortPath, shortName]) => ({
      path: path ?? shortPath ?? '',
      name: name ?? shortName,
    }))
    .filter(({ path }) => !path.startsWith('<frozen'));
  const last = frames.at(-1);
  return last?.name === '<module>' && /(^|[\\/])(site|dist)-packages[\\/]/.test(last.path);
}

/** The last line of an internal error; pytest marks errors in itself and in its plug-ins so. */
function internalError(log: string): string | undefined {
  const lines = [...log.matchAll(/^INTERNALERROR> (.*)$/gm)].map((match) => match[1] ?? '');
  return lines.length === 0 ? undefined : `pytest broke off: ${lines.at(-1)}`;
}
