// The results of judged code patches in a folder of results.
export {
  type JudgedLine,
  judgedFolder,
  judgedFolderName,
  judgedLineSchema,
  judgedVersion,
} from './judged/judgedRepairSchema';
export { readJudgedRuns } from './judged/readJudgedRuns';
export {
  hasReport,
  sweBenchFolder,
  writeSweBenchFiles,
  writeSweBenchSummaries,
} from './judged/writeSweBenchFiles';
