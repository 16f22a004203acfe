import { plural } from '../domain/text';
import { HumanError, messageOf, systemCode, throwIfAborted, shardText } from '../domain/work';
import { readPlainFile } from '../files/plainFile';
import { makeFolder, writeWholeFile } from '../files/wholeFile';
import type { RunEntry } from '../study/entry';
import { journalLine, type JournalLine, candidateKey, readJournalLines } from './journal';
import {
  digestOfSame,
  isSameRun,
  otherRun,
  sameOfWhole,
  withLockedRunFolder,
} from './lockedRunFolder';
import {
  manifestVersion,
  readManifest,
  writeManifest,
  type RunManifest,
  reportPath,
  modelFolderName,
} from './runFolder';
import { mergeNodeSeconds, nodesOfRun } from './nodeSeconds';
import { readReport, writeSummaries } from './report';
import { logFolders } from './writing/writeLogs';
import { readdir, realpath } from 'node:fs/promises';
import { join, posix, resolve } from 'node:path';
import type { z } from 'zod';

/** Runs over tests: `runs/<run>`, with reports and logs in the layout of the reference harness. */
export const testRuns: RunKind<JournalLine> = {
  parent: 'runs',
  shape: journalLine,
  isGraded: ({ evaluated }) => evaluated,
  // The report comes last: where it exists, all that it describes exists too.
  foldersOf: (run, line) => [...logFolders(run, line), posix.dirname(reportPath(run, line))],
  isWhole: async (results, run, line) =>
    (await readReport(join(results, reportPath(run, line)), line)) !== undefined,
  summarise: (out, { run, instances }, lines) =>
    writeSummaries(
      out,
      run,
      lines,
      instances.map(({ id }) => id),
    ),
};

/** What every line of a journal has. */
interface MergedLine extends Pick<RunEntry, 'instance' | 'model' | 'sample'> {
  /** Digest of all that the line depends on. */
  readonly key: string;
  /** ISO 8601. */
  readonly finished: string;
}

/** A kind of runs that are cut into shards: those over tests, and those over code patches. */
export interface RunKind<Line extends MergedLine> {
  /** The folder of a results folder that holds its runs: `runs`. */
  readonly parent: string;
  readonly shape: z.ZodType<Line>;
  /** Whether the candidate was graded; another shard's line is taken where it was not. */
  isGraded(line: Line): boolean;
  /**
   * Folders of one finished candidate below the results folder, with slashes: its report, its logs.
   */
  foldersOf(run: string, line: Line): readonly string[];
  /** Whether the results folder holds the complete report that the line describes. */
  isWhole(results: string, run: string, line: Line): Promise<boolean>;
  /** Writes the summaries of the merged run. @returns their paths */
  summarise(out: string, manifest: RunManifest, lines: readonly Line[]): Promise<readonly string[]>;
}

/** What merging has made of the shards of one run. */
export interface MergedRun {
  readonly run: string;
  /** Number of all shards. */
  readonly count: number;
  /** Numbers of the shards that were not given. */
  readonly missing: readonly number[];
  /** Candidates of the whole run, and those of them with a result. */
  readonly candidates: number;
  readonly finished: number;
  /** Results that were given more than once. */
  readonly repeated: number;
  readonly written: readonly string[];
  /** One sentence for each thing that the user should know. */
  readonly problems: readonly string[];
}

interface MergeRequest {
  readonly dirs: readonly string[];
  readonly out: string;
  readonly signal: AbortSignal;
}

/** One shard, as its folder holds it. */
interface ShardFolder<Line> {
  /** The results folder, as the user named it. */
  readonly dir: string;
  readonly manifest: RunManifest & { readonly shard: NonNullable<RunManifest['shard']> };
  readonly lines: readonly Line[];
}

/**
 * Puts the shards of runs together, as one machine would have written them. A candidate counts
 * once, however often it is given. What an earlier merge has put into the same folder stays.
 *
 * @returns one item for each run, none where the folders hold no shards of this kind
 * @throws HumanError when the shards are not of one run, or a folder cannot be read or written;
 *   Cancelled
 */
export async function mergeShards<Line extends MergedLine>(
  kind: RunKind<Line>,
  request: MergeRequest,
): Promise<MergedRun[]> {
  const problems: string[] = [];
  const byRun = new Map<string, ShardFolder<Line>[]>();
  const seen = new Set<string>();
  for (const dir of request.dirs) {
    throwIfAborted(request.signal);
    const place = await realpath(dir).catch(() => resolve(dir));
    if (seen.has(place)) continue;
    seen.add(place);
    for (const shard of await shardsIn(kind, dir, problems)) {
      const { run } = shard.manifest;
      byRun.set(run, [...(byRun.get(run) ?? []), shard]);
    }
  }
  const merged: MergedRun[] = [];
  for (const shards of byRun.values()) {
    checkOneRun(shards);
    merged.push(await mergeRun(kind, shards, request, problems.splice(0)));
  }
  return merged;
}

async function shardsIn<Line extends MergedLine>(
  kind: RunKind<Line>,
  dir: string,
  problems: string[],
): Promise<ShardFolder<Line>[]> {
  const parent = join(dir, kind.parent);
  const names = await readdir(parent).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return [];
    throw new HumanError(
      `The folder ${parent} cannot be read (${messageOf(error)})`,
      "Specify the shards' --out folders",
    );
  });
  const shards: ShardFolder<Line>[] = [];
  for (const name of names.sort()) {
    const folder = join(parent, name);
    const manifest = await readManifest(folder);
    if (manifest === undefined) continue;
    const { shard } = manifest;
    if (shard === undefined) {
      problems.push(`${folder} is a complete run, not a shard, and is ignored`);
      continue;
    }
    const journal = await readJournalLines(folder, kind.shape);
    problems.push(...journal.problems);
    shards.push({ dir, manifest: { ...manifest, shard }, lines: journal.lines });
  }
  return shards;
}

/** @throws HumanError when the shards are not parts of one run */
function checkOneRun(shards: readonly ShardFolder<MergedLine>[]): void {
  const [first, ...others] = shards;
  if (first === undefined) return;
  const advice = 'Merge only shards of one run, created by the same command';
  for (const { dir, manifest } of others) {
    const { product, shard, same } = manifest;
    const both = `The shards in ${first.dir} and ${dir} are not from the same run`;
    if (shard.count !== first.manifest.shard.count) {
      throw new HumanError(
        `${both}: one is of ${plural(first.manifest.shard.count, 'shard')}, the other of ${shard.count}`,
        advice,
      );
    }
    if (!isSameRun(same, first.manifest.same)) {
      const whole = sameOfWhole(same);
      const differing = Object.keys({ ...whole, ...first.manifest.same }).filter(
        (name) => name in whole && whole[name] !== first.manifest.same[name],
      );
      throw new HumanError(`${both}: they differ in ${differing.join(', ') || 'options'}`, advice);
    }
    if (product !== first.manifest.product) {
      throw new HumanError(
        `${both}: one was created by version ${first.manifest.product} of this program, the other by ${product}`,
        'Repeat the older one with the newer version',
      );
    }
  }
}

async function mergeRun<Line extends MergedLine>(
  kind: RunKind<Line>,
  shards: readonly ShardFolder<Line>[],
  { out, signal }: MergeRequest,
  problems: string[],
): Promise<MergedRun> {
  const manifest = manifestOfWhole(shards);
  const runId = manifest.run;
  const folder = join(out, kind.parent, modelFolderName(runId));
  const lines = new Map<string, Line>();
  const gathered = gather(kind, shards, problems);
  const begin = async (): Promise<readonly Line[]> => {
    const before = await readManifest(folder);
    if (before === undefined) {
      await writeManifest(folder, manifest);
      return [];
    }
    checkWhole(out, before, manifest);
    return (await readJournalLines(folder, kind.shape)).lines;
  };
  return withLockedRunFolder<Line, MergedRun>(
    folder,
    { out, runId, signal },
    begin,
    async (journal, held) => {
      for (const line of journal.lines) lines.set(candidateKey(line), line);
      for (const { line, dir } of gathered.found) {
        throwIfAborted(held);
        const known = lines.get(candidateKey(line));
        if (known !== undefined && (kind.isGraded(known) || !kind.isGraded(line))) continue;
        if (!(await kind.isWhole(dir, runId, line))) {
          problems.push(
            `${dir}: the report of ${line.instance}, ${line.model} is missing or damaged; run that shard again`,
          );
          continue;
        }
        await journal.keep(async () => {
          for (const below of kind.foldersOf(runId, line)) await copyFiles(dir, out, below);
          return line;
        });
        lines.set(candidateKey(line), line);
      }
      await mergeNodeSeconds(
        shards.map(({ dir }) => nodesOfRun(join(dir, kind.parent, modelFolderName(runId)))),
        nodesOfRun(folder),
      );
      const all = [...lines.values()];
      return {
        run: runId,
        missing: missingOf(shards),
        ...{ count: shards[0]?.manifest.shard.count ?? 0, candidates: manifest.candidates },
        ...{ finished: all.length, repeated: gathered.repeated },
        written: await kind.summarise(out, manifest, all),
        problems,
      };
    },
  );
}

/** @throws HumanError when the folder to write holds a shard, or another run of this name */
function checkWhole(out: string, before: RunManifest, manifest: RunManifest): void {
  if (before.shard !== undefined) {
    throw new HumanError(
      `The folder ${out} has shard ${shardText(before.shard)} of the run ${before.run}`,
      'Specify another folder with --out',
    );
  }
  if (before.digest !== manifest.digest) {
    throw otherRun(out, manifest.run, before.same, manifest.same);
  }
}

/** The manifest that one machine would have written. */
function manifestOfWhole(shards: readonly ShardFolder<MergedLine>[]): RunManifest {
  const manifests = shards.map(({ manifest }) => manifest);
  const [first] = manifests;
  if (first === undefined) throw new Error('a run has a shard');
  const { shard, ...rest } = first;
  const same = sameOfWhole(first.same);
  return {
    ...rest,
    version: manifestVersion,
    created: manifests.map(({ created }) => created).sort()[0] ?? first.created,
    ...shard.run,
    ...{ same, digest: digestOfSame(same) },
  };
}

/** Numbers of the shards that were not given. */
function missingOf(shards: readonly ShardFolder<MergedLine>[]): number[] {
  const given = new Set(shards.map(({ manifest }) => manifest.shard.number));
  const count = shards[0]?.manifest.shard.count ?? 0;
  return Array.from({ length: count }, (_, at) => at + 1).filter((number) => !given.has(number));
}

/**
 * The results of all shards, each candidate once, in the order in which they were finished. What was
 * graded goes before what could not be, and the earlier before the later.
 */
function gather<Line extends MergedLine>(
  kind: RunKind<Line>,
  shards: readonly ShardFolder<Line>[],
  problems: string[],
): { readonly found: readonly { line: Line; dir: string }[]; readonly repeated: number } {
  const found = new Map<string, { line: Line; dir: string }>();
  let repeated = 0;
  for (const { dir, manifest, lines } of shards) {
    const own = new Set(manifest.instances.map(({ id }) => id));
    for (const line of lines) {
      if (!own.has(line.instance)) {
        problems.push(`${dir}: ${line.instance} is not an instance of this shard and is ignored`);
        continue;
      }
      const key = candidateKey(line);
      const other = found.get(key);
      if (other === undefined) {
        found.set(key, { line, dir });
        continue;
      }
      repeated += 1;
      if (other.line.key !== line.key) {
        problems.push(
          `${line.instance}, ${line.model}: ${other.dir} and ${dir} evaluated it in different environments; the result that finished first counts`,
        );
      }
      if (comesFirst(kind, line, other.line)) found.set(key, { line, dir });
    }
    if (lines.length < manifest.candidates) {
      problems.push(
        `${dir}: ${manifest.candidates - lines.length} of ${manifest.candidates} candidates of shard ${shardText(manifest.shard)} are not finished`,
      );
    }
  }
  const byTime = [...found.values()].sort(
    (one, other) => Date.parse(one.line.finished) - Date.parse(other.line.finished),
  );
  return { found: byTime, repeated };
}

/** Whether one result of a candidate counts rather than another. */
function comesFirst<Line extends MergedLine>(kind: RunKind<Line>, one: Line, other: Line): boolean {
  if (kind.isGraded(one) !== kind.isGraded(other)) return kind.isGraded(one);
  return Date.parse(one.finished) < Date.parse(other.finished);
}

/** Copies the files of a folder, without links and folders in it; no folder is none to copy. */
async function copyFiles(from: string, to: string, below: string): Promise<void> {
  const entries = await readdir(join(from, below), { withFileTypes: true }).catch(
    (error: unknown) => {
      if (systemCode(error) === 'ENOENT') return [];
      throw error;
    },
  );
  if (entries.length === 0) return;
  await makeFolder(join(to, below));
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    await writeWholeFile(
      join(to, below, entry.name),
      await readPlainFile(join(from, below, entry.name)),
    );
  }
}
