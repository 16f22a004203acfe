import { readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { HumanError, messageOf } from '../domain/work';
import { redactKeys } from '../engine/keysInUse';
import { sha256 } from '../files/digest';
import { writeWholeFile } from '../files/wholeFile';

const rowSchema = z.looseObject({ instance_id: z.string(), model_name_or_path: z.string() });

/** A row of a predictions file; its further fields are preserved. */
export type PredictionRow = z.infer<typeof rowSchema>;

/** A predictions file (JSONL) that grows. Its rows for other instances, models and samples stay. */
export interface PredictionsFile {
  /**
   * Adds a row, which replaces the first sample of the same instance and model, and writes the
   * file.
   */
  put(row: PredictionRow): Promise<void>;
  /**
   * Adds the samples of one instance and model, in their order, which replace all of its earlier
   * ones, and writes the file.
   */
  putSamples(rows: readonly PredictionRow[]): Promise<void>;
}

/** @throws HumanError when the file exists but cannot be read, or is no predictions file */
export async function predictionsFile(path: string): Promise<PredictionsFile> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new HumanError(
      `${path} cannot be read (${error.code ?? messageOf(error)})`,
      'Specify another file with --out',
    );
  });
  const known: PredictionRow[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const row = readRow(line);
    if (row === undefined) {
      throw new HumanError(
        `${path}:${index + 1} is not a prediction, so the file is left unchanged`,
        'Specify another file with --out',
      );
    }
    known.push(row);
  }
  const rows = new Map<string, PredictionRow>();
  const keyOf = ({ instance_id: id, model_name_or_path: model, sample }: PredictionRow): string =>
    JSON.stringify([id, model, typeof sample === 'number' ? sample : 1]);
  for (const row of known) rows.set(keyOf(row), row);
  let last: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  // One write serves all rows that came while the write before it was under way.
  const written = (): Promise<void> =>
    (next ??= last
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        const lines = [...rows.values()].map((each) => `${JSON.stringify(each)}\n`).join('');
        return (last = replace(path, lines));
      }));
  return {
    put(row) {
      rows.set(keyOf(row), row);
      return written();
    },
    putSamples(samples) {
      for (const [key, row] of rows) {
        const [first] = samples;
        const isSame =
          row.instance_id === first?.instance_id &&
          row.model_name_or_path === first.model_name_or_path;
        if (isSame) rows.delete(key);
      }
      for (const [index, row] of samples.entries())
        rows.set(keyOf({ ...row, sample: index + 1 }), row);
      return written();
    },
  };
}

/**
 * The lock of a predictions file. Two commands that write the same file, by whatever path, wait for
 * each other.
 */
export async function predictionsLock(storage: string, out: string): Promise<string> {
  const folder = await realpath(dirname(out)).catch(() => dirname(out));
  const digest = sha256(join(folder, basename(out)));
  return join(storage, 'locks', `generate-${digest.slice(0, 16)}`);
}

function readRow(line: string): PredictionRow | undefined {
  try {
    return rowSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

async function replace(path: string, text: string): Promise<void> {
  try {
    await writeWholeFile(path, redactKeys(text));
  } catch (error) {
    throw new HumanError(
      `${path} cannot be written (${messageOf(error)})`,
      'Specify another file with --out; the answers are in the trace',
    );
  }
}
