import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256OfJson } from '../files/digest';
import { version as productVersion } from '../../package.json';
import { standings } from '../domain/outcome';
import { HumanError, messageOf, systemCode } from '../domain/work';
import { notEvaluatedReasons } from '../domain/verdict';
import {
  digestOfSame,
  firstRunId,
  otherRun,
  unwritableResults,
  withLockedRunFolder,
  type FolderRequest,
  type LockedJournal,
  type Sameness,
} from '../results/lockedRunFolder';
import type { BatchRequest } from '../batch/batchRequest';
import { entryKeys, sameness } from '../batch/entryKeys';
import { journalPath, readJournalLines } from '../results/journal';
import { modelFolderName, writeResult, manifestPath } from '../results/runFolder';
import type { FilterRequest } from './filterRequest';

const standingsByTest = z.record(z.string(), z.enum(standings)).exactOptional();

const repairLine = z.object({
  instance: z.string(),
  /** Model of the code patch, like `sample`. */
  model: z.string(),
  sample: z.number().int().positive(),
  resolved: z.boolean().exactOptional(),
  base: standingsByTest,
  standings: standingsByTest,
  failure: z.string().exactOptional(),
  hindrance: z.enum(notEvaluatedReasons).exactOptional(),
  /** Digest of all that the line depends on. */
  key: z.string(),
  /** ISO 8601. */
  finished: z.string(),
});

/** A finished code patch, as a line of `entries.jsonl` keeps it. */
export type RepairLine = Readonly<z.infer<typeof repairLine>>;

const manifest = z.object({
  version: z.literal(1),
  /** ISO 8601. */
  created: z.string(),
  product: z.string(),
  /** Digests that must be equal for a run to resume, by what they are digests of. */
  same: z.record(z.string(), z.string()),
});

/** Code patches, and what of a request their results depend on. */
type CodePatches = Pick<
  FilterRequest,
  'instances' | 'repairs' | 'engine' | 'sources' | 'format' | 'timeoutSeconds'
> &
  Pick<BatchRequest, 'shard'>;

type Asked = CodePatches & Pick<FilterRequest, 'tests' | 'resolved'>;

/** `DIR/repairs/<run>`, with journal, result and manifest. */
export const repairFolder = (out: string, runId: string): string =>
  join(out, 'repairs', modelFolderName(runId));

/** The request of a batch whose candidates are the code patches. */
export const asBatch = <Request extends CodePatches>(request: Request) => ({
  ...request,
  predictions: request.repairs,
  mode: 'unit-test' as const,
});

/** For each code patch, a digest of all that its result depends on. */
export function repairKeys(request: Asked): string[] {
  // Of several predictions for an instance, the first counts.
  const tests = new Map(request.tests.toReversed().map((each) => [each.instanceId, each.patch]));
  return entryKeys(asBatch(request)).map((key, place) => {
    const id = request.repairs[place]?.instanceId ?? '';
    return sha256OfJson([key, tests.get(id) ?? '', request.resolved?.has(id) ?? '']);
  });
}

/** Digests that must be equal for a run over code patches to resume, whatever it does with them. */
export function sameCodePatches(request: CodePatches): Sameness {
  const {
    'the predictions': patches = '',
    '--mode': _mode,
    '--tests-only': _testsOnly,
    ...rest
  } = sameness(asBatch(request));
  return { ...rest, 'the code patches': patches };
}

/** Digests that must be equal for a run to resume, by the words that name them in a refusal. */
function sameAs(request: Asked): Sameness {
  return {
    ...sameCodePatches(request),
    'the generated tests': sha256OfJson(
      request.tests.map(({ instanceId, model, patch }) => [instanceId, model, patch]),
    ),
    'the resolved instances': sha256OfJson([...(request.resolved ?? ['not given'])].sort()),
  };
}

/**
 * The name of a run that the caller did not name.
 *
 * @param out absent where no results are written
 * @throws HumanError when a manifest in the folder cannot be read
 */
export function defaultRepairRun(out: string | undefined, request: Asked): Promise<string> {
  const digest = digestOfSame(sameAs(request));
  return firstRunId(async (runId) => {
    if (out === undefined) return true;
    const known = await readSame(repairFolder(out, runId));
    return known === undefined || digestOfSame(known) === digest;
  });
}

/**
 * Locks the folder of a run during `work`: a new one, or one that the same command left unfinished.
 *
 * @throws HumanError when the folder cannot be written, is full, belongs to another run, or is in
 *   use
 */
export function withRepairFolder<T>(
  request: Asked & FolderRequest & { readonly fresh: boolean },
  work: (folder: string, journal: LockedJournal<RepairLine>, held: AbortSignal) => Promise<T>,
): Promise<T> {
  const { out, runId, fresh } = request;
  const folder = repairFolder(out, runId);
  const begin = async (): Promise<readonly RepairLine[]> => {
    const same = sameAs(request);
    const known = fresh ? undefined : await readSame(folder);
    if (known !== undefined) {
      if (digestOfSame(known) !== digestOfSame(same)) throw otherRun(out, runId, known, same);
      return (await readJournalLines(folder, repairLine)).lines;
    }
    await rm(journalPath(folder), { force: true });
    await rm(resultPath(folder), { force: true });
    const now = { version: 1, created: new Date().toISOString(), product: productVersion };
    await writeResult(manifestPath(folder), `${JSON.stringify({ ...now, same }, null, 2)}\n`).catch(
      (error: unknown) => {
        throw unwritableResults(out, error);
      },
    );
    return [];
  };
  return withLockedRunFolder(folder, request, begin, (journal, held) =>
    work(folder, journal, held),
  );
}

const resultPath = (folder: string): string => join(folder, 'result.json');

/** Writes the result of the run. @returns its path */
export async function writeResultFile(folder: string, text: string): Promise<string> {
  await writeResult(resultPath(folder), text);
  return resultPath(folder);
}

/** The digests of the run in the folder; undefined where there is none. */
async function readSame(folder: string): Promise<Sameness | undefined> {
  const path = manifestPath(folder);
  try {
    return manifest.parse(JSON.parse(await readFile(path, 'utf8'))).same;
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new HumanError(
      `The run file ${path} cannot be read (${error instanceof z.ZodError ? 'it is not the file of such a run' : messageOf(error)})`,
      'Specify another run with --run-id, or restart this one with --fresh',
    );
  }
}
