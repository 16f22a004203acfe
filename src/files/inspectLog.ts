import { parsePythonJson } from './json';
import { openPlain } from './plainFile';
import { zipEntries } from './zip';

/** A sample of a log, as inspect_ai writes it; its content is a stranger's. */
interface LoggedSample {
  /** The model under evaluation; undefined where the log does not say. */
  readonly model: string | undefined;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Whether a file begins as a log of inspect_ai does: as a zip (`.eval`), or as the JSON of
 * `--log-format json` and of `inspect log dump`.
 */
export const isInspectLog = (head: Buffer): boolean =>
  isZip(head) ||
  /^\s*\{\s*"version":\s*\d+,\s*"status":\s*"/.test(head.toString('utf8', 0, headBytes));

/** Whether a file that the user named is such a log. */
export async function isInspectLogAt(path: string): Promise<boolean> {
  const file = await openPlain(path, { named: true }).catch(() => undefined);
  try {
    const read = await file?.read({ buffer: Buffer.alloc(headBytes), position: 0 });
    return read !== undefined && isInspectLog(read.buffer);
  } catch {
    return false;
  } finally {
    await file?.close();
  }
}

/** As many bytes show what a log is. */
const headBytes = 200;

const isZip = (log: Buffer): boolean => log.toString('latin1', 0, 4) === 'PK\x03\x04';

/**
 * The samples of a log of inspect_ai, one after the other, also of an evaluation that is not over.
 * https://inspect.aisi.org.uk/eval-logs.html
 *
 * @throws Error naming what is damaged
 */
export async function* inspectSamples(log: Buffer): AsyncGenerator<LoggedSample, void> {
  if (!isInspectLog(log)) throw new Error('it is not an inspect_ai log');
  if (!isZip(log)) {
    const whole = fieldsIn(log);
    const samples = whole['samples'] ?? [];
    if (!Array.isArray(samples)) throw new Error('its samples are no list');
    const model = modelOf(whole);
    for (const sample of samples) yield { model, value: fieldsOf(sample) };
    return;
  }
  const entries = zipEntries(log);
  const header = ['header.json', '_journal/start.json'].flatMap(
    (name) => entries.find(({ path }) => path === name) ?? [],
  )[0];
  if (header === undefined) throw new Error('it is not an inspect_ai log');
  const model = modelOf(fieldsIn(await header.content()));
  for (const { path, content } of entries) {
    if (!/^samples\/[^/]+\.json$/.test(path)) continue;
    yield { model, value: fieldsIn(await content()) };
  }
}

function modelOf(header: LoggedSample['value']): string | undefined {
  const { model } = fieldsOf(header['eval']);
  return typeof model === 'string' ? model : undefined;
}

/** What the scorer of inspect_evals has in place of a patch that it could not read. */
const noPatch = /^Agent patch (?:could not be decoded|was too large)/;

/**
 * The patch of a sample: scorers of SWE-bench tasks leave it in `model_patch`, and so does the task
 * that `export` writes. Undefined where no scorer did.
 */
export function patchOfSample(sample: LoggedSample['value']): string | undefined {
  const scores = Object.values(fieldsOf(sample['scores']));
  return scores
    .map((score) => fieldsOf(fieldsOf(score)['metadata'])['model_patch'])
    .find((patch): patch is string => typeof patch === 'string' && !noPatch.test(patch));
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const fieldsIn = (json: Buffer): Readonly<Record<string, unknown>> =>
  fieldsOf(parsePythonJson(json.toString('utf8')));
