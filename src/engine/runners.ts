// Test runners: how tests are run, how logs are read, and what the tracer records.
export { isKnownRepository, knownRepositories, parseLog, testOutput } from './runners/parseLog';
export { type TestFile, planScriptOfRepository, planTests } from './runners/planTests';
export { isRunner, packagesOfRunners, runnerOf } from './runners/runners';
export { script } from './runners/script';
export { sweBenchParserOf } from './runners/sweBenchParserOf';
export type { TestPlan } from './runners/testPlan';
export { unittest } from './runners/unittest';
export { type Act, type ExecutionTrace, type TracedLine, emptyTrace } from './tracer/readTrace';
