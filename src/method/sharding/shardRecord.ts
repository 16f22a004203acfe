import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { HumanError, messageOf, systemCode, shardText, type Shard } from '../../domain/work';
import { sha256OfJson } from '../../files/digest';
import { writeWholeFile } from '../../files/wholeFile';

const shardRecord = z.object({
  version: z.literal(1),
  number: z.number().int().positive(),
  count: z.number().int().positive(),
  /** Ids of all instances of the run, in its order. */
  instances: z.array(z.string()).readonly(),
  /** Ids of those of this shard. */
  own: z.array(z.string()).readonly(),
  /** What must be equal in all shards of a run, by the words that name it. */
  same: z.record(z.string(), z.string()),
});

/** What is beside the predictions of one shard, in `FILE.shard.json`. */
export type ShardRecord = Readonly<z.infer<typeof shardRecord>>;

const ending = '.shard.json';

/** Path of the record beside a predictions file. */
const recordPath = (predictions: string): string => `${predictions}${ending}`;

/** The predictions file of a record; undefined for the path of something else. */
export const predictionsOfRecord = (path: string): string | undefined =>
  path.endsWith(ending) ? path.slice(0, -ending.length) : undefined;

/** What a shard is of. */
interface ShardOfGeneration extends Shard {
  /** Ids of all instances of the run, in its order. */
  readonly instances: readonly string[];
  /** Ids of those of the shard. */
  readonly own: readonly string[];
  /** What must be equal in all shards of a run, by the words that name it. */
  readonly same: Readonly<Record<string, string>>;
}

/**
 * Writes the record of a shard, before its first prediction.
 *
 * @throws HumanError when the file belongs to another shard, or cannot be written
 */
export async function writeShardRecord(
  predictions: string,
  { number, count, instances, own, same }: ShardOfGeneration,
): Promise<void> {
  const record: ShardRecord = { version: 1, number, count, instances, own, same };
  const before = await readShardRecord(predictions);
  if (before !== undefined && sha256OfJson(before) !== sha256OfJson(record)) {
    const what =
      shardText(before) === shardText(record)
        ? `the same shard of another run`
        : `shard ${shardText(before)}`;
    throw new HumanError(
      `${predictions} has ${what}, but this command runs shard ${shardText(record)}`,
      'Specify another file with --out',
    );
  }
  const path = recordPath(predictions);
  await writeWholeFile(path, `${JSON.stringify(record, null, 2)}\n`).catch((error: unknown) => {
    throw new HumanError(
      `${path} cannot be written (${messageOf(error)})`,
      'Specify another file with --out',
    );
  });
}

/**
 * The record beside a predictions file; undefined where there is none.
 *
 * @throws HumanError when it cannot be read
 */
export async function readShardRecord(predictions: string): Promise<ShardRecord | undefined> {
  const path = recordPath(predictions);
  try {
    return shardRecord.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw new HumanError(
      `The record ${path} of a shard cannot be read (${error instanceof z.ZodError ? 'it is not a shard record' : messageOf(error)})`,
      'Run that shard again with another --out',
    );
  }
}
