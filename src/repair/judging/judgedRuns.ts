import type { JudgedRepair } from '../../domain/study/resolution/judgedRepair';
import {
  judgedFolder,
  judgedFolderName,
  judgedLineSchema,
  type JudgedLine,
} from '../../results/judged/judgedRepairSchema';
import {
  hasReport,
  sweBenchFolder,
  writeSweBenchSummaries,
} from '../../results/judged/writeSweBenchFiles';
import type { RunKind } from '../../results/merging/mergeShards';
import { writeResult } from '../../results/writeResult';
import { judgedDocument } from './judgedRepairsSchema';
import { judgedResultPath } from './judgedRun';

/** Runs over code patches: `resolutions/<run>`, with the files that SWE-bench leaves. */
export const judgedRuns: RunKind<JudgedLine> = {
  parent: judgedFolderName,
  shape: judgedLineSchema,
  isGraded: ({ hindrance }) => hindrance === undefined,
  foldersOf: (run, line) => [sweBenchFolder(run, line)],
  // SWE-bench leaves no report of a patch without a grade.
  isWhole: async (results, run, line) =>
    line.resolution === undefined || (await hasReport(results, run, line)),
  async summarise(out, { run, instances, models, engine }, lines) {
    const placeOf = ({ model }: JudgedRepair): number => models.indexOf(model);
    const order = new Map(instances.map(({ id }, at) => [id, at]));
    const judged = lines
      .map(({ key: _key, finished: _finished, ...each }): JudgedRepair => each)
      .sort(
        (one, other) =>
          placeOf(one) - placeOf(other) ||
          (order.get(one.instance) ?? 0) - (order.get(other.instance) ?? 0) ||
          one.sample - other.sample,
      );
    const ids = instances.map(({ id }) => id);
    const written = await writeSweBenchSummaries(out, run, judged, ids);
    const document = judgedDocument(
      { judged, reused: 0 },
      { run, instances, engine, problems: [] },
    );
    const path = judgedResultPath(judgedFolder(out, run));
    await writeResult(path, `${JSON.stringify(document, null, 2)}\n`);
    return [...written, path];
  },
};
