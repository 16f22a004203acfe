/**
 * Ids that package.json and the code share. A test holds the two equal.
 */
export const commandIds = {
  openBundled: 'swt-bench.openBundledInstance',
  applyBundledCandidate: 'swt-bench.applyBundledCandidate',
  showIssue: 'swt-bench.showIssue',
  reproduce: 'swt-bench.reproduce',
  showChangeCoverage: 'swt-bench.showChangeCoverage',
  hideGolden: 'swt-bench.hideGoldenPatch',
} as const;

export const settingKeys = {
  python: 'swt-bench.python',
  timeout: 'swt-bench.timeout',
} as const;

export const contextKeys = {
  instanceOpen: 'swt-bench.instanceOpen',
  bundled: 'swt-bench.bundledInstanceOpen',
} as const;

export const viewIds = { instance: 'swt-bench.instance' } as const;

/** Scheme of documents that are not files of the workspace: golden sides and the issue. */
export const scheme = 'swt-bench';
