/**
 * Everything that an opened instance needs. The build makes a separate bundle of this module, which
 * loads when an instance opens or a command runs. Activation loads only the small bundle.
 */
import { configureTexts } from './configureTexts';

export { applyBundledCandidate, openBundledInstance } from '../instance/bundled';
export { CandidateTests } from '../testing/candidateTests';
export { answerChat, followupsOf } from '../chat/answer';
export { ChangeCoverageGutters } from '../coverage/changeCoverageGutters';
export { ChangeCoverageViews } from '../coverage/changeCoverageViews';
export { closeComparisons, compareWithGolden } from '../coverage/compareWithGolden';
export { CustomDiffCommands } from '../customFormat/customDiffCommands';
export { Generated } from '../generate/generated';
export { isCandidateRow } from '../generate/generatedTreeRow';
export { checkWithMutants } from '../coverage/mutants';
export { showMutants } from '../coverage/mutants';
export { makeEnvironment } from '../instance/makeEnvironment';
export { chooseEnvironment } from '../instance/chooseEnvironment';
export { ModelKeys } from '../generate/modelKeys';
export { documentText } from './documentText';
export { checkBeforeSubmitting } from '../verdict/currentVerdict';
export { exportReproduction } from '../verdict/exportReproduction';
export { closeGoldenDiffs, isGoldenDiffOpen, showChangeCoverage } from '../coverage/goldenDiff';
export { EngineReadiness } from './engineReadiness';
export { Inline } from '../testing/inline';
export { Instances } from '../instances/instances';
export { statisticsDocument } from '../instances/exports';
export { OpenInstance } from '../instance/openInstance';
export { outputText } from '../testing/showOutputs';
export { reopenEngine } from '../instance/makeEnvironment';
export { Runs } from '../runs/runs';
export { redrawIssue, restoreIssue, showIssue } from '../issue/showIssue';
export { showVerdict } from '../verdict/showVerdict';
export { readConfiguration } from '../../configuration/configuration';
export { restoreTrajectories } from '../trajectory/showTrajectories';
export { StatusBar } from '../verdict/statusBar';
export { CandidateTesting } from '../testing/candidateTesting';
export { copyMcpConfiguration, mcpServer } from '../tools/mcpServer';
export { WorkspaceTools } from '../tools/workspaceTools';
export { TestsUnderWay } from '../testing/testsUnderWay';
export { warmUpInBackground } from '../instance/warmUp';

configureTexts();
