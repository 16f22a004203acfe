import { listedFolder } from '../published/listedFolder';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf } from '../../domain/work';
import type { RepairRun } from '../../study/resolution';
import { readJournalLines } from '../journal';
import { readManifest } from '../runFolder';
import { nodesOfRun, readMadeOnNodes, readNodeSeconds } from '../nodeSeconds';
import { judgedFolderName, judgedLineSchema } from './judgedRepairSchema';

interface JudgedRunsRead {
  readonly runs: readonly RepairRun[];
  /** One sentence for each file that cannot be read. */
  readonly problems: readonly string[];
}

/**
 * Reads the saved runs over code patches from results folders (`evaluate --kind repair --out`), or
 * from folders of single runs in them. Other folders have none. Labels are made unique.
 */
export async function readJudgedRuns(dirs: readonly string[]): Promise<JudgedRunsRead> {
  const folders = new Set<string>();
  for (const dir of dirs)
    for (const folder of await judgedFoldersIn(resolve(dir))) folders.add(folder);
  const problems: string[] = [];
  const runs: RepairRun[] = [];
  const taken = new Map<string, number>();
  for (const folder of folders) {
    try {
      const manifest = await readManifest(folder);
      if (manifest === undefined) continue;
      const read = await readJournalLines(folder, judgedLineSchema);
      for (const problem of read.problems) problems.push(problem);
      const nodeSeconds = await readNodeSeconds(nodesOfRun(folder));
      const times = (taken.get(manifest.run) ?? 0) + 1;
      taken.set(manifest.run, times);
      runs.push({
        label: times === 1 ? manifest.run : `${manifest.run} #${times}`,
        instances: manifest.instances,
        judged: read.lines.map(({ key: _key, finished: _finished, ...judged }) => judged),
        ...(read.lines.length < manifest.candidates ? { unfinished: true as const } : {}),
        created: manifest.created,
        dataset: manifest.dataset,
        ...(nodeSeconds === undefined ? {} : { nodeSeconds }),
        ...(await readMadeOnNodes(manifest.predictions)),
      });
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  return { runs, problems };
}

/** Whether a folder is that of a run over code patches, or the folder of all of them. */
export const isJudgedFolder = (dir: string): boolean =>
  basename(dir) === judgedFolderName || basename(dirname(dir)) === judgedFolderName;

async function judgedFoldersIn(dir: string): Promise<string[]> {
  if (basename(dirname(dir)) === judgedFolderName) return [dir];
  const folder = basename(dir) === judgedFolderName ? dir : join(dir, judgedFolderName);
  const { folders } = await listedFolder(folder);
  return folders.map((name) => join(folder, name));
}
