/** Type of the panel of an issue, in package.json as `onWebviewPanel:…`. */
export const issueViewType = 'swt-bench.issue';
