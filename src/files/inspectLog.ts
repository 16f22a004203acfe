import { parseForeignJson } from './json';
import { zipEntries } from './zip';

/** A sample of a log, as inspect_ai writes it; its content is a stranger's. */
interface LoggedSample {
  /** The model under evaluation; undefined where the log does not say. */
  readonly model: string | undefined;
  readonly value: Readonly<Record<string, unknown>>;
}

/** Whether a file begins as a log of inspect_ai does, which is a zip. */
export const isInspectLog = (head: Buffer): boolean =>
  head.toString('latin1', 0, 4) === 'PK\x03\x04';

/**
 * The samples of a log of inspect_ai (`.eval`), one after the other, also of an evaluation that is
 * not over. https://inspect.aisi.org.uk/eval-logs.html
 *
 * @throws Error naming what is damaged
 */
export async function* inspectSamples(log: Buffer): AsyncGenerator<LoggedSample, void> {
  const entries = zipEntries(log);
  const header = ['header.json', '_journal/start.json'].flatMap(
    (name) => entries.find(({ path }) => path === name) ?? [],
  )[0];
  if (header === undefined) throw new Error('it is not an inspect_ai log');
  const about = fieldsOf(parseForeignJson((await header.content()).toString('utf8')));
  const named = fieldsOf(about['eval'])['model'];
  const model = typeof named === 'string' ? named : undefined;
  for (const { path, content } of entries) {
    if (!/^samples\/[^/]+\.json$/.test(path)) continue;
    yield { model, value: fieldsOf(parseForeignJson((await content()).toString('utf8'))) };
  }
}

/**
 * The patch of a sample: scorers of SWE-bench tasks leave it in `model_patch`, and so does the task
 * that `export` writes. Undefined where no scorer did.
 */
export function patchOfSample(sample: LoggedSample['value']): string | undefined {
  const scores = Object.values(fieldsOf(sample['scores']));
  return scores
    .map((score) => fieldsOf(fieldsOf(score)['metadata'])['model_patch'])
    .find((patch) => typeof patch === 'string');
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
