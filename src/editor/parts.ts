/**
 * Everything that an opened instance needs. The build makes a bundle of its own of this module, which
 * is loaded when an instance is opened or a command is run: activation only reads the small one.
 */
export { addDevContainer } from './addDevContainer';
export { applyBundledCandidate, openBundledInstance } from './bundled';
export { CandidateTests } from './candidateTests';
export { answerChat, followupsOf } from './chat/answer';
export { ChangeCoverageGutters } from './changeCoverageGutters';
export { ChangeCoverageViews } from './changeCoverageViews';
export { closeComparisons, compareWithGolden } from './compareGolden';
export { CustomDiffs } from './customFormat/commands';
export { Candidates } from './generate/candidates';
export { ModelKeys } from './generate/modelKeys';
export { documentText } from './documents';
export { exportReproduction } from './exportReproduction';
export { closeGoldenDiffs, showChangeCoverage } from './goldenDiff';
export { EngineReadiness } from './engineReadiness';
export { Inline } from './inline';
export { Instances } from './instances/instances';
export { OpenInstance } from './openInstance';
export { outputText } from './outputDiff';
export { Runs } from './runs/runs';
export { redrawIssue, restoreIssue, showIssue } from './showIssue';
export { showVerdict } from './showVerdict';
export { StatusBar } from './statusBar';
export { CandidateTesting } from './testController';
export { copyMcpConfiguration, mcpServer } from './tools/mcpServer';
export { WorkspaceTools } from './tools/workspaceTools';
export { warmUpInBackground } from './warmUp';
