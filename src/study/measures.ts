// What is measured over the entries of many runs: rates, means, intervals, comparisons.
export { compareWith } from './measures/compare';
export { costsOf } from './measures/costs';
export { denominatorTexts } from './measures/denominator';
export {
  type Group,
  beforeAndAfter,
  groupsByIssueLength,
  groupsByRepository,
} from './measures/groups';
export { type EvaluatedMethod, methodId, methodsOf } from './measures/methods';
export { overlapOf, overlapWithRepairs } from './measures/overlap';
export { passAtK } from './measures/passAtK';
export { publishedRows } from './measures/published';
export type { Interval } from './measures/resampling';
export { reasonCounts, summariseMethod } from './measures/summary';
