// How code patches are judged, and what is measured over judged ones.
export {
  type CorrectLocation,
  type EditedPlaces,
  correctLocation,
} from './resolution/correctLocation';
export {
  type Standings,
  type TestedRepair,
  filterReasons,
  filterRepairs,
} from './resolution/filterRepairs';
export { infraFailure } from './resolution/infraFailure';
export {
  type JudgedRepair,
  type RepairRun,
  repairName,
  resolutionDifference,
} from './resolution/judgedRepair';
export { judgedRepairSchema } from './resolution/judgedRepairSchema';
export { type KeptPlaces, type StepLocation, keepsPlaces } from './resolution/localisation';
export { repairRates, repairResultsOf } from './resolution/repairRates';
export {
  type ExpectedTests,
  type SweBenchReport,
  type TestGroup,
  type TestsStatus,
  evalTypes,
  resolutionStatus,
  sweBenchPassed,
} from './resolution/resolutionStatus';
export {
  type Disqualified,
  type StrictReason,
  type StrictResolution,
  strictResolution,
} from './resolution/strictResolution';
export { gradeSweBench, statusesInLog, sweBenchLog, sweBenchMarks } from './resolution/sweBenchLog';
