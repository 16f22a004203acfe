/**
 * Everything that an opened instance needs. The build makes a bundle of its own of this module, which
 * is loaded when an instance is opened or a command is run: activation only reads the small one.
 */
export { applyBundledCandidate, prepareBundledWorkspace } from './bundled';
export { CandidateTests } from './candidateTests';
export { ChangeCoverageGutters } from './changeCoverageGutters';
export { documentProvider, issueUri } from './documents';
export { hideGolden, showChangeCoverage } from './goldenDiff';
export { InlineResults } from './inlineResults';
export { OpenInstance } from './openInstance';
export { StatusBar } from './statusBar';
export { CandidateTesting } from './testController';
