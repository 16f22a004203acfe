/** What an opened instance needs, as one module, so that nothing of it is loaded before. */
export { CandidateTests } from './candidateTests';
export { ChangeCoverageGutters } from './changeCoverageGutters';
export { documentProvider } from './documents';
export { InlineResults } from './inlineResults';
export { OpenInstance } from './openInstance';
export { StatusBar } from './statusBar';
export { CandidateTesting } from './testController';
