/** Ids that package.json and the code share. A test compares the two. */
export const commandIds = {
  openBundled: 'swt-bench.openBundledInstance',
  applyBundledCandidate: 'swt-bench.applyBundledCandidate',
  showIssue: 'swt-bench.showIssue',
  reproduce: 'swt-bench.reproduce',
  showChangeCoverage: 'swt-bench.showChangeCoverage',
  showVerdict: 'swt-bench.showVerdict',
  checkBeforeSubmitting: 'swt-bench.checkBeforeSubmitting',
  exportReproduction: 'swt-bench.exportReproduction',
  compareWithGolden: 'swt-bench.compareWithGolden',
  checkWithMutants: 'swt-bench.checkWithMutants',
  reveal: 'swt-bench.reveal',
  hideGolden: 'swt-bench.hideGoldenPatch',
  environment: 'swt-bench.environment',
  showLog: 'swt-bench.showLog',
  copyMcp: 'swt-bench.copyMcpConfiguration',
  manageKeys: 'swt-bench.manageKeys',
  refresh: 'swt-bench.refresh',
  showTrajectory: 'swt-bench.showTrajectory',
} as const;

/** Commands that only buttons, links and the status bar run; the palette does not list them. */
export const internalCommandIds = {
  cancelRuns: 'swt-bench.cancelRuns',
  checkEngine: 'swt-bench.checkEngine',
  makeEnvironment: 'swt-bench.makeEnvironment',
  openSetting: 'swt-bench.openSetting',
  showMutants: 'swt-bench.showMutants',
  firstSteps: 'swt-bench.openGettingStarted',
} as const;

/** Commands about one test: from a CodeLens, from the Testing view, or at the cursor. */
export const inlineCommandIds = {
  reproduce: 'swt-bench.reproduceTest',
  runOnR: 'swt-bench.runTestOnR',
  runOnFixed: 'swt-bench.runTestOnFixed',
  debugOnR: 'swt-bench.debugTestOnR',
  showOutputs: 'swt-bench.showOutputs',
} as const;

/** Commands about the lines that the golden patch changes. */
export const coverageCommandIds = {
  openLine: 'swt-bench.openChangedLine',
  nextMissed: 'swt-bench.nextMissedLine',
  previousMissed: 'swt-bench.previousMissedLine',
  showGoldenReach: 'swt-bench.showGoldenReach',
  missedOnly: 'swt-bench.showMissedLinesOnly',
} as const;

/** Commands of the Instances view; they need no open instance. */
export const listCommandIds = {
  chooseDataset: 'swt-bench.chooseDataset',
  filter: 'swt-bench.filterInstances',
  clearFilter: 'swt-bench.clearInstanceFilter',
  useFilterList: 'swt-bench.useFilterList',
  sort: 'swt-bench.sortInstances',
  find: 'swt-bench.findInstance',
  open: 'swt-bench.openInstance',
  openInNewWindow: 'swt-bench.openInstanceInNewWindow',
  validate: 'swt-bench.validateInstances',
  judge: 'swt-bench.judgeInstances',
  copyId: 'swt-bench.copyInstanceId',
  exportList: 'swt-bench.exportList',
  statistics: 'swt-bench.showStatistics',
  freeDiskSpace: 'swt-bench.freeDiskSpace',
} as const;

/** Commands of the Runs view; they need no open instance. */
export const runCommandIds = {
  evaluate: 'swt-bench.evaluatePredictions',
  add: 'swt-bench.addResults',
  remove: 'swt-bench.removeResults',
  openDashboard: 'swt-bench.openDashboard',
  exportHtml: 'swt-bench.exportDashboard',
  pause: 'swt-bench.pauseBatch',
  resume: 'swt-bench.resumeBatch',
  cancel: 'swt-bench.cancelBatch',
} as const;

/** Commands about custom diffs; only `copy` needs an open instance. */
export const customDiffCommandIds = {
  preview: 'swt-bench.previewCustomDiff',
  apply: 'swt-bench.applyCustomDiff',
  convert: 'swt-bench.convertCustomDiff',
  copy: 'swt-bench.copyChangesAsCustomDiff',
} as const;

/** The participant `@swt` of the chat. */
export const chatParticipantId = 'swt-bench.swt';

/** Its slash commands. */
export const chatCommands = ['reproduce', 'explain', 'improve', 'check'] as const;

/** The tools of src/method/tools, which agents of the editor find by `idOfTool`. */
export const modelToolNames = [
  'read_issue',
  'list_files',
  'search_code',
  'outline_file',
  'read_file',
  'apply_candidate',
  'list_candidate_tests',
  'run_tests',
  'check_candidate',
] as const;

export type ModelToolName = (typeof modelToolNames)[number];

/** A tool by the name that package.json gives it: names are shared by all extensions. */
export const idOfTool = (name: string): string => `swt-bench_${name}`;

/** Id of the provider that registers the MCP server of the open instance with VS Code. */
export const mcpProviderId = 'swt-bench.instance';

/** Commands about what a model has written; they need an open instance. */
export const generatedCommandIds = {
  generate: 'swt-bench.generate',
  propose: 'swt-bench.proposeFixes',
  preview: 'swt-bench.previewGenerated',
  apply: 'swt-bench.applyCandidate',
  showAnswer: 'swt-bench.showPromptAndAnswer',
  evaluate: 'swt-bench.evaluateCandidate',
  runTests: 'swt-bench.runTestsOnFixes',
  openPlace: 'swt-bench.openFoundPlace',
  resume: 'swt-bench.resumeGenerating',
  remove: 'swt-bench.deleteGenerated',
} as const;

export const settingKeys = {
  engine: 'swt-bench.engine',
  python: 'swt-bench.python',
  codeLens: 'swt-bench.codeLens',
  timeout: 'swt-bench.timeout',
  warmStart: 'swt-bench.warmStart',
  dataset: 'swt-bench.dataset',
  repositorySources: 'swt-bench.repositorySources',
  storage: 'swt-bench.storageFolder',
  triageFile: 'swt-bench.triageFile',
  filterLists: 'swt-bench.filterLists',
  repetitions: 'swt-bench.validationRepetitions',
  devContainer: 'swt-bench.writeDevContainer',
  models: 'swt-bench.models',
  runModelTestsLocally: 'swt-bench.runModelTestsLocally',
  tokenBudget: 'swt-bench.generate.budget.tokens',
  dollarBudget: 'swt-bench.generate.budget.dollars',
  agentLimits: 'swt-bench.generate.agentLimits',
  refine: 'swt-bench.generate.refine',
  agents: 'swt-bench.generate.agents',
  contextTokens: 'swt-bench.generate.requests.contextTokens',
  maxOutputTokens: 'swt-bench.generate.requests.outputTokens',
  requestTimeout: 'swt-bench.generate.requests.timeout',
  embeddingModel: 'swt-bench.repair.embedding.model',
  embeddingBaseUrl: 'swt-bench.repair.embedding.baseUrl',
  embeddingPrice: 'swt-bench.repair.embedding.price',
  configurationFile: 'swt-bench.configurationFile',
} as const;

/** Settings that are objects: a property of one is read by its id, and shown with the object. */
export const settingObjects = [
  'swt-bench.docker.limits',
  'swt-bench.kubernetes',
  'swt-bench.generate.budget',
  'swt-bench.generate.requests',
  'swt-bench.repair.embedding',
] as const;

export const contextKeys = {
  instanceOpen: 'swt-bench.instanceOpen',
  /** The workspace is that of an instance, which opens when the workspace is trusted. */
  untrusted: 'swt-bench.instanceUntrusted',
  /** The views are laid out for an instance that waits for trust, or opens after it. */
  expected: 'swt-bench.instanceExpected',
  bundled: 'swt-bench.bundledInstanceOpen',
  /** The row or the trees of the open instance are unavailable. */
  instanceFailed: 'swt-bench.instanceFailed',
  /** What is missing to run tests: `python`, `docker` or `storage`; not set when nothing is missing. */
  engineProblem: 'swt-bench.engineProblem',
  /** What an author has done so far; these keys complete the steps of the walkthrough. */
  issueRead: 'swt-bench.issueRead',
  candidateWritten: 'swt-bench.candidateWritten',
  candidateReproduces: 'swt-bench.candidateReproduces',
  coverageShown: 'swt-bench.changeCoverageShown',
  /** The fix and the golden tests of the open instance are revealed. */
  revealed: 'swt-bench.fixRevealed',
  /** A model has written candidates for the open instance. */
  candidates: 'swt-bench.hasCandidates',
  /** A model has proposed fixes for the open instance. */
  fixes: 'swt-bench.hasFixes',
  /** State of the Instances view: none, reading, failed, loaded. */
  dataset: 'swt-bench.datasetState',
  filtered: 'swt-bench.instancesFiltered',
  /** State of the Change Coverage view: hidden, none, unknown, lines. */
  coverage: 'swt-bench.changeCoverageState',
  /** A reference reproduction of the open instance was exported in this window. */
  exported: 'swt-bench.reproductionExported',
  /** The active editor shows Markdown that holds a custom diff. */
  customDiffInMarkdown: 'swt-bench.customDiffInMarkdown',
} as const;

export const viewIds = {
  instance: 'swt-bench.instance',
  changeCoverage: 'swt-bench.changeCoverage',
  generated: 'swt-bench.generated',
  instances: 'swt-bench.instances',
  runs: 'swt-bench.runs',
} as const;

/** Scheme of documents that are not files of the workspace: golden sides and the issue. */
export const scheme = 'swt-bench';

/** Authority of documents that show the effect of a custom diff. */
export const previewAuthority = 'preview';

/** Authority of documents that show a model's candidate, its prompt and its answer. */
export const candidateAuthority = 'candidate';
/** Read-only documents of fixes. */
export const fixAuthority = 'fix';

/** Authority of documents that show what tests printed on a side. */
export const outputAuthority = 'output';

/** Authority of the document that holds the verdict as a note. */
export const verdictAuthority = 'verdict';

/** Authority of documents that show figures of the listed instances. */
export const statisticsAuthority = 'statistics';

/** Authority of documents that show a file of a saved run, such as the log of a candidate. */
export const runFileAuthority = 'run-file';

/** Authority of documents that show what a saved result is about. */
export const resultAuthority = 'result';

/** Type of the panel of an issue, in package.json as `onWebviewPanel:…`. */
export const issueViewType = 'swt-bench.issue';

/** Type of the panel of the dashboard, in package.json as `onWebviewPanel:…`. */
export const dashboardViewType = 'swt-bench.dashboard';

/** Type of the panels that show trajectories, in package.json in the same way. */
export const trajectoryViewType = 'swt-bench.trajectory';

/** Language of `.swtdiff` files and of `custom-diff` fences. */
export const customDiffLanguage = 'swt-custom-diff';

/** Command of VS Code that opens the editor of workspace trust. */
export const trustCommand = 'workbench.trust.manage';

/** Id of the walkthrough for `workbench.action.openWalkthrough`. */
export const walkthrough = 'swt-bench.swt-bench#firstSteps';
