/**
 * Ids that package.json and the code share. A test holds the two equal.
 */
export const commandIds = {
  openBundled: 'swt-bench.openBundledInstance',
  applyBundledCandidate: 'swt-bench.applyBundledCandidate',
  showIssue: 'swt-bench.showIssue',
  reproduce: 'swt-bench.reproduce',
  showChangeCoverage: 'swt-bench.showChangeCoverage',
  reveal: 'swt-bench.reveal',
  hideGolden: 'swt-bench.hideGoldenPatch',
  addDevContainer: 'swt-bench.addDevContainer',
  showLog: 'swt-bench.showLog',
} as const;

/** Commands of the Instances view; they need no open instance. */
export const listCommandIds = {
  chooseDataset: 'swt-bench.chooseDataset',
  refresh: 'swt-bench.refreshInstances',
  filter: 'swt-bench.filterInstances',
  clearFilter: 'swt-bench.clearInstanceFilter',
  useFilterList: 'swt-bench.useFilterList',
  sort: 'swt-bench.sortInstances',
  find: 'swt-bench.findInstance',
  open: 'swt-bench.openInstance',
  openInNewWindow: 'swt-bench.openInstanceInNewWindow',
  validate: 'swt-bench.validateInstances',
  editTags: 'swt-bench.editTags',
  editNote: 'swt-bench.editNote',
  classify: 'swt-bench.classifyIssue',
  copyId: 'swt-bench.copyInstanceId',
  exportTriage: 'swt-bench.exportTriage',
  exportFilterList: 'swt-bench.exportFilterList',
  statistics: 'swt-bench.showStatistics',
  freeDiskSpace: 'swt-bench.freeDiskSpace',
} as const;

/** Commands about custom diffs; only `copy` needs an open instance. */
export const customDiffCommandIds = {
  preview: 'swt-bench.customDiff.preview',
  apply: 'swt-bench.customDiff.apply',
  convert: 'swt-bench.customDiff.convert',
  copy: 'swt-bench.customDiff.copyChanges',
  openSample: 'swt-bench.customDiff.openSample',
} as const;

export const settingKeys = {
  engine: 'swt-bench.engine',
  python: 'swt-bench.python',
  timeout: 'swt-bench.timeout',
  dataset: 'swt-bench.dataset',
  repositorySources: 'swt-bench.repositorySources',
  storage: 'swt-bench.storageFolder',
  triageFile: 'swt-bench.triageFile',
  filterLists: 'swt-bench.filterLists',
  repetitions: 'swt-bench.validationRepetitions',
  devContainer: 'swt-bench.writeDevContainer',
  dockerHost: 'swt-bench.docker.host',
  dockerBaseImage: 'swt-bench.docker.baseImage',
  dockerPrebuilt: 'swt-bench.docker.prebuilt',
  dockerMemory: 'swt-bench.docker.memory',
  dockerProcesses: 'swt-bench.docker.processes',
  dockerCpus: 'swt-bench.docker.cpus',
  dockerDisk: 'swt-bench.docker.disk',
  dockerNetwork: 'swt-bench.docker.network',
  dockerIdleMinutes: 'swt-bench.docker.idleMinutes',
  dockerBudget: 'swt-bench.docker.budget',
} as const;

export const contextKeys = {
  instanceOpen: 'swt-bench.instanceOpen',
  bundled: 'swt-bench.bundledInstanceOpen',
  /** What the Instances view has to show: none, reading, failed, loaded. */
  dataset: 'swt-bench.datasetState',
  filtered: 'swt-bench.instancesFiltered',
  /** The active editor shows Markdown that holds a custom diff. */
  customDiffInMarkdown: 'swt-bench.customDiffInMarkdown',
} as const;

export const viewIds = {
  instance: 'swt-bench.instance',
  instances: 'swt-bench.instances',
} as const;

/** Scheme of documents that are not files of the workspace: golden sides and the issue. */
export const scheme = 'swt-bench';

/** Authority of those documents that show the effect of a custom diff. */
export const previewAuthority = 'preview';

/** Language of `.swtdiff` files and of `custom-diff` fences. */
export const customDiffLanguage = 'swt-custom-diff';
