import { join } from 'node:path';
import { z } from 'zod';
import { parseForeignJson } from '../files/json';
import type { Instance } from '../domain/instance';
import { HumanError, messageOf, systemCode } from '../domain/work';
import { denominatorKinds } from '../study/measures';
import { instanceFactsSchema, type InstanceFacts } from '../study/entrySchema';
import { writeResult } from './runFolder';
import { readPlainText } from '../files/plainFile';

/** Raised when a key of `run.json` or of a line of the journal changes its meaning. */
export const manifestVersion = 1;

const runManifest = z.object({
  version: z.literal(manifestVersion),
  run: z.string(),
  /** ISO 8601. */
  created: z.string(),
  /** Version of this program. */
  product: z.string(),
  /** As the user named it: a path, an address, or a name. */
  dataset: z.string(),
  mode: z.enum(['unit-test', 'reproduction-script']),
  format: z.string(),
  testsOnly: z.boolean(),
  timeoutSeconds: z.number(),
  /** A description such as `local engine, CPython 3.11.7, pytest 8.3.5`. */
  engine: z.string(),
  /** All selected instances: the denominator of rates. */
  instances: z.array(instanceFactsSchema).readonly(),
  /** How a person chose them; absent where options or code named them. */
  denominator: z
    .object({ of: z.enum(denominatorKinds), dataset: z.number().int().nonnegative() })
    .readonly()
    .exactOptional(),
  /** Names in the order of the predictions. */
  models: z.array(z.string()).readonly(),
  /** Sources; `gold` and `none` have no digest. */
  predictions: z
    .array(z.object({ from: z.string(), sha256: z.string().exactOptional() }))
    .readonly(),
  /** Number of all candidates. */
  candidates: z.number().int().nonnegative(),
  /** Set where this is one shard of a run: its place, and what the whole run has. */
  shard: z
    .object({
      number: z.number().int().positive(),
      count: z.number().int().positive(),
      run: z.object({
        instances: z.array(instanceFactsSchema).readonly(),
        models: z.array(z.string()).readonly(),
        candidates: z.number().int().nonnegative(),
      }),
    })
    .exactOptional(),
  /** Digests that must be equal for a run to resume, by what they are digests of. */
  same: z.record(z.string(), z.string()),
  /** Digest of `same`. */
  digest: z.string(),
});

/** The description of a run in `DIR/runs/<run>/run.json`. */
export type RunManifest = Readonly<z.infer<typeof runManifest>>;

export const manifestPath = (folder: string): string => join(folder, 'run.json');

/**
 * The manifest in the folder of a run; undefined where there is none.
 *
 * @throws HumanError when it cannot be read, or has another version
 */
export async function readManifest(folder: string): Promise<RunManifest | undefined> {
  const path = manifestPath(folder);
  let text: string;
  try {
    text = await readPlainText(path);
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new HumanError(
      `The run file ${path} cannot be read (${messageOf(error)})`,
      'Check the permissions of the folder',
    );
  }
  let value: unknown;
  try {
    value = parseForeignJson(text);
  } catch (error) {
    throw new HumanError(
      `The run file ${path} is damaged (${messageOf(error)})`,
      'Remove the folder of this run, or name another one',
    );
  }
  const parsed = runManifest.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const version = (value as { version?: unknown } | null)?.version;
  throw new HumanError(
    version !== undefined && version !== manifestVersion
      ? `The run file ${path} has version ${JSON.stringify(version)}, and this program reads ${manifestVersion}`
      : `The run file ${path} is not that of a run (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`,
    'Read it with the program that wrote it, or name another folder',
  );
}

/** @throws what writing throws */
export const writeManifest = (folder: string, manifest: RunManifest): Promise<void> =>
  writeResult(manifestPath(folder), `${JSON.stringify(manifest, null, 2)}\n`);

export const factsOf = (instance: Instance): InstanceFacts => ({
  id: instance.id,
  repo: instance.repo,
  created: instance.createdAt,
  issueLength: [...instance.issue].length,
});
