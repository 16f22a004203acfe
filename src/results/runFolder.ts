import type { Instance } from '../domain/instance';
import { HumanError, messageOf, systemCode } from '../domain/work';
import { sha256 } from '../files/digest';
import { parseForeignJson } from '../files/json';
import { readPlainText } from '../files/plainFile';
import { makeFolder, writeWholeFile } from '../files/wholeFile';
import { denominatorSchema, instanceFactsSchema, type InstanceFacts } from '../study/entrySchema';
import { readdir, rm } from 'node:fs/promises';
import { join, basename, dirname } from 'node:path';
import { z } from 'zod';

/**
 * `a/b` becomes `a__b`, as in the harness's folder names. The name has at most 100 bytes and cannot
 * lead out of the folder.
 */
export function modelFolderName(model: string): string {
  const name =
    model
      .replaceAll('/', '__')
      .replace(/[^\p{L}\p{N}_.+@=, -]/gu, '_')
      .replace(/^\.+/, '_') || 'unnamed';
  const kept = name === model.replaceAll('/', '__') || model === '';
  // Names of this shape belong to further samples of a model.
  const isSample = /@\d+$/.test(name);
  if (kept && !isSample && Buffer.byteLength(name) <= 100) return name;
  // A file name has at most 255 bytes. A model's name may be a long path, or have characters that
  // are not allowed in file names: a digest keeps such names apart.
  const start = Buffer.from(name)
    .subarray(0, 80)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return `${start}-${sha256(model).slice(0, 12)}`;
}

/** Folder of a model's reports; each further sample has a folder of its own, like a model. */
export const modelFolder = (model: string, sample: number): string =>
  sample > 1 ? `${modelFolderName(model)}@${sample}` : modelFolderName(model);

/** Folder of the data from which studies are made: `runs/<run>` in the results folder. */
export const runFolder = (out: string, runId: string): string =>
  join(out, 'runs', modelFolderName(runId));

/** Folder of a run's reports in the layout of the reference harness. */
export const reportsFolder = (out: string, runId: string): string =>
  join(out, 'run_instance_swt_logs', modelFolderName(runId));

/** Path of one report below the results folder, with slashes on every system. */
export const reportPath = (
  runId: string,
  of: { readonly instance: string; readonly model: string; readonly sample: number },
): string =>
  [
    'run_instance_swt_logs',
    modelFolderName(runId),
    modelFolder(of.model, of.sample),
    of.instance,
    'report.json',
  ].join('/');

/** The end of the last write to each path that is being written. */
const underWay = new Map<string, Promise<void>>();

/**
 * Writes a file of a results folder as a whole, and removes what a killed process has left beside
 * it. Only one process writes such a path; in this process, writers of a path take turns.
 */
export async function writeResult(path: string, content: string): Promise<void> {
  const before = underWay.get(path) ?? Promise.resolve();
  const turn = before.catch(() => undefined).then(() => writeAlone(path, content));
  underWay.set(path, turn);
  try {
    await turn;
  } finally {
    if (underWay.get(path) === turn) underWay.delete(path);
  }
}

async function writeAlone(path: string, content: string): Promise<void> {
  const folder = dirname(path);
  await makeFolder(folder);
  await removeBeside(folder, basename(path));
  await writeWholeFile(path, content);
}

/** Removes temporary files of a file that killed processes have left. */
export async function removeBeside(folder: string, name: string): Promise<void> {
  const left = (await readdir(folder)).filter(
    (each) => each.startsWith(`${name}.`) && /^[0-9a-f-]{36}$/.test(each.slice(name.length + 1)),
  );
  for (const each of left) await rm(join(folder, each), { force: true });
}

const liveState = z.object({
  done: z.number().int().nonnegative(),
  total: z.number().int().nonnegative(),
  running: z
    .array(z.object({ instance: z.string(), model: z.string(), since: z.string() }))
    .readonly(),
  paused: z.boolean(),
  pid: z.number().int(),
  /** ISO 8601. */
  started: z.string(),
  /** Candidates per hour; absent until it is known. */
  perHour: z.number().exactOptional(),
  secondsLeft: z.number().exactOptional(),
});

/**
 * The progress of a running batch, in a file beside its journal. If the process of a state no
 * longer exists, the run was interrupted.
 */
export type LiveState = Readonly<z.infer<typeof liveState>>;

const livePath = (folder: string): string => join(folder, 'live.json');

/** Undefined where no run is under way, or the file is damaged. */
export async function readLive(folder: string): Promise<LiveState | undefined> {
  const text = await readPlainText(livePath(folder)).catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return liveState.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Writes the newest state, at most twice a second. */
interface LiveWriter {
  update(state: LiveState): void;
  /** Removes the file. */
  end(): Promise<void>;
}

const interval = 500;

export function liveWriter(folder: string): LiveWriter {
  const path = livePath(folder);
  let next: LiveState | undefined;
  let timer: NodeJS.Timeout | undefined;
  let last = -Infinity;
  let writing: Promise<void> = Promise.resolve();
  let ended = false;
  const write = (): void => {
    timer = undefined;
    if (next === undefined || ended) return;
    const text = `${JSON.stringify(next)}\n`;
    next = undefined;
    last = performance.now();
    // The file is for display only: the batch continues if it cannot be written.
    writing = writing.then(() => writeResult(path, text)).catch(() => undefined);
  };
  return {
    update(state) {
      next = state;
      if (timer !== undefined || ended) return;
      const wait = Math.max(0, last + interval - performance.now());
      if (wait === 0) write();
      else timer = setTimeout(write, wait);
    },
    async end() {
      ended = true;
      clearTimeout(timer);
      await writing;
      await rm(path, { force: true }).catch(() => undefined);
    },
  };
}

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
  /** How the user chose them; absent where options or code named them. */
  denominator: denominatorSchema.readonly().exactOptional(),
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
      "Check the folder's permissions",
    );
  }
  let value: unknown;
  try {
    value = parseForeignJson(text);
  } catch (error) {
    throw new HumanError(
      `The run file ${path} is damaged (${messageOf(error)})`,
      "Remove this run's folder, or specify another one",
    );
  }
  const parsed = runManifest.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const version = (value as { version?: unknown } | null)?.version;
  throw new HumanError(
    version !== undefined && version !== manifestVersion
      ? `The run file ${path} has version ${JSON.stringify(version)}, but this program reads version ${manifestVersion}`
      : `The run file ${path} is invalid (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`,
    'Read it with the version that wrote it, or use another folder',
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
