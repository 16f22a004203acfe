/** Contexts in which commands are offered, as expressions of VS Code. */
const open = 'swt-bench.instanceOpen';
const revealed = 'swt-bench.fixRevealed';
const hidden = `${open} && !${revealed}`;
const bundled = 'swt-bench.bundledInstanceOpen';
const listed = 'swt-bench.datasetState == loaded';
const lines = 'swt-bench.changeCoverageState == lines';
const inRuns = 'focusedView == swt-bench.runs';
const inGenerated = 'focusedView == swt-bench.generated';
const customDiffShown =
  'editorLangId == swt-custom-diff || swt-bench.customDiffInMarkdown && editorLangId == markdown';

/** One place of a command in a menu. */
export interface MenuEntry {
  /** Id of the menu in VS Code, such as `view/title`. */
  readonly menu: string;
  /** Group and place in it, such as `navigation@1`. */
  readonly group: string;
  readonly when: string;
}

/** One command of the palette and the menus. The key follows `ctrl+;`. */
export interface CommandDescriptor {
  readonly title: string;
  /** Name of a codicon. */
  readonly icon?: string;
  /** When the palette lists it; always if absent. */
  readonly palette?: string;
  readonly key?: { readonly letter: string; readonly when: string };
  readonly menus?: readonly MenuEntry[];
}

const inMenu = (menu: string, group: string, when: string): MenuEntry => ({ menu, group, when });

/** In the title bar of a view. */
const inTitle = (view: string, group: string, when?: string): MenuEntry => {
  const shown = `view == ${view.includes('.') ? view : `swt-bench.${view}`}`;
  return inMenu('view/title', group, when === undefined ? shown : `${shown} && ${when}`);
};

/** In the context menu of rows of a view, and as an icon on the row if `inline` names its place. */
const onRow = (
  view: string,
  kind: string | RegExp,
  { group, inline }: { readonly group: string; readonly inline?: number },
): MenuEntry[] => {
  const is = typeof kind === 'string' ? `== ${kind}` : `=~ ${String(kind)}`;
  const when = `view == swt-bench.${view} && viewItem ${is}`;
  return [
    ...(inline === undefined ? [] : [inMenu('view/item/context', `inline@${inline}`, when)]),
    inMenu('view/item/context', group, when),
  ];
};

/**
 * Every command that the user finds in the palette or a menu, by its id without `swt-bench.`; the
 * manifest and the docs are made from it. Commands that only links, lenses and buttons run are
 * registered without an entry here.
 */
export const commandDescriptors = {
  openBundledInstance: {
    title: 'Open Bundled Instance',
    menus: [inTitle('instances', '5_bundled')],
  },
  applyBundledCandidate: {
    title: 'Apply Bundled Candidate…',
    palette: bundled,
    menus: [inTitle('instance', '1_candidate', bundled)],
  },
  showIssue: {
    title: 'Show Issue',
    icon: 'issues',
    palette: open,
    key: { letter: 'i', when: open },
    menus: onRow('instances', 'instance', { group: '1_open@3' }),
  },
  reproduce: {
    title: 'Run Tests on R and R∘X*',
    icon: 'run-all',
    palette: open,
    key: { letter: 'r', when: open },
    menus: [inTitle('instance', 'navigation', open)],
  },
  showChangeCoverage: {
    title: 'Show Change Coverage in Gutters',
    icon: 'checklist',
    palette: open,
    key: { letter: 'g', when: open },
    menus: [inTitle('changeCoverage', 'navigation@4', lines)],
  },
  reveal: {
    title: 'Reveal Fix and Golden Tests…',
    icon: 'eye',
    palette: hidden,
    menus: onRow('instances', 'instance', { group: '3_reveal@1' }),
  },
  hideGoldenPatch: { title: 'Hide Fix and Golden Tests', icon: 'eye-closed', palette: revealed },
  environment: {
    title: 'Select Python or Container Environment…',
    icon: 'package',
    palette: open,
    menus: [inTitle('instance', '3_environment', open)],
  },
  chooseDataset: {
    title: 'Choose Dataset…',
    icon: 'database',
    menus: [inTitle('instances', 'navigation@4')],
  },
  refresh: {
    title: 'Refresh Instances and Runs',
    icon: 'refresh',
    menus: [inTitle('instances', '2_list@3'), inTitle('runs', '1_list@1')],
  },
  filterInstances: {
    title: 'Filter Instances…',
    icon: 'filter',
    palette: listed,
    menus: [inTitle('instances', 'navigation@1', listed)],
  },
  useFilterList: {
    title: 'Use Filter List…',
    icon: 'checklist',
    palette: listed,
    menus: [inTitle('instances', '2_list@1', listed)],
  },
  clearInstanceFilter: {
    title: 'Clear Filter of Instances',
    icon: 'clear-all',
    palette: 'swt-bench.instancesFiltered',
    menus: [inTitle('instances', 'navigation@2', 'swt-bench.instancesFiltered')],
  },
  sortInstances: {
    title: 'Sort Instances…',
    icon: 'list-ordered',
    palette: listed,
    menus: [inTitle('instances', '2_list@2', listed)],
  },
  findInstance: {
    title: 'Find Instance…',
    icon: 'search',
    palette: listed,
    menus: [inTitle('instances', 'navigation@3', listed)],
  },
  openInstance: {
    title: 'Open Instance',
    icon: 'folder-opened',
    menus: onRow('instances', 'instance', { group: '1_open@1', inline: 1 }),
  },
  openInstanceInNewWindow: {
    title: 'Open Instance in New Window',
    icon: 'empty-window',
    menus: onRow('instances', 'instance', { group: '1_open@2' }),
  },
  judgeInstances: {
    title: 'Judge Instances…',
    icon: 'tag',
    key: {
      letter: 'j',
      when: "focusedView == swt-bench.instances || activeWebviewPanelId == 'swt-bench.issue'",
    },
    menus: [
      inTitle('instances', '1_instances@1', listed),
      ...onRow('instances', /^(instance|repository)$/, { group: '2_triage@1', inline: 2 }),
    ],
  },
  validateInstances: {
    title: 'Validate Instances…',
    icon: 'verified',
    palette: listed,
    menus: [
      inTitle('instances', '1_instances@2', listed),
      ...onRow('instances', /^(instance|repository)$/, { group: '2_triage@2' }),
    ],
  },
  copyInstanceId: {
    title: 'Copy Instance ID',
    icon: 'copy',
    palette: listed,
    menus: onRow('instances', 'instance', { group: '4_copy' }),
  },
  exportList: {
    title: 'Export List of Instances…',
    icon: 'export',
    palette: listed,
    menus: [inTitle('instances', '3_export@2', listed)],
  },
  showStatistics: {
    title: 'Show Statistics of Instances',
    icon: 'graph',
    palette: listed,
    menus: [inTitle('instances', '3_export@1', listed)],
  },
  freeDiskSpace: { title: 'Free Disk Space…', menus: [inTitle('instances', '4_disk')] },
  showLog: { title: 'Show Log', icon: 'output' },
  showVerdict: {
    title: 'Show Verdict and Next Steps',
    icon: 'law',
    palette: open,
    key: { letter: 'v', when: open },
    menus: [inTitle('instance', '2_output@0', open)],
  },
  checkBeforeSubmitting: {
    title: 'Check Before Submitting',
    icon: 'checklist',
    palette: open,
    menus: [inTitle('instance', '2_output@1', open)],
  },
  exportReproduction: {
    title: 'Export Reproduction…',
    icon: 'export',
    palette: open,
    menus: [inTitle('instance', '2_output@2', open)],
  },
  compareWithGolden: {
    title: 'Compare with Golden Tests…',
    icon: 'diff',
    palette: open,
    menus: [inTitle('instance', '2_output@3', open)],
  },
  checkWithMutants: {
    title: 'Check Tests with Mutants…',
    icon: 'bug',
    palette: open,
    menus: [inTitle('instance', '2_output@4', open)],
  },
  showOutputs: {
    title: 'Show Test Output of Both Sides',
    icon: 'diff',
    palette: open,
    key: { letter: 'd', when: open },
    menus: [
      inMenu('testing/item/context', '1_swt-bench@1', "controllerId == 'swt-bench'"),
      inMenu('testing/item/result', '', "controllerId == 'swt-bench'"),
    ],
  },
  nextMissedLine: {
    title: 'Go to Next Missed Line',
    icon: 'arrow-down',
    palette: open,
    key: { letter: 'n', when: open },
    menus: [inTitle('changeCoverage', 'navigation@2', lines)],
  },
  previousMissedLine: {
    title: 'Go to Previous Missed Line',
    icon: 'arrow-up',
    palette: open,
    key: { letter: 'p', when: open },
    menus: [inTitle('changeCoverage', 'navigation@1', lines)],
  },
  showMissedLinesOnly: {
    title: 'Toggle Missed Lines Only',
    icon: 'filter',
    palette: lines,
    menus: [inTitle('changeCoverage', 'navigation@3', lines)],
  },
  showGoldenReach: {
    title: 'Show Golden Tests Covering Line',
    icon: 'type-hierarchy-sub',
    palette: lines,
    menus: [
      ...onRow('changeCoverage', 'missedLine', { group: '1_line', inline: 1 }),
      inMenu('editor/context', 'swt-bench@1', `resourceScheme == swt-bench && ${lines}`),
    ],
  },
  previewCustomDiff: {
    title: 'Preview Custom Diff',
    icon: 'open-preview',
    palette: customDiffShown,
    menus: [
      inMenu('editor/title', 'navigation@1', customDiffShown),
      inMenu('editor/context', 'swt-bench@1', customDiffShown),
      inMenu('explorer/context', 'swt-bench@1', 'resourceExtname == .swtdiff'),
    ],
  },
  applyCustomDiff: {
    title: 'Apply Custom Diff',
    icon: 'check',
    palette: customDiffShown,
    menus: [
      inMenu('editor/title', 'navigation@2', customDiffShown),
      inMenu('editor/context', 'swt-bench@2', customDiffShown),
      inMenu('explorer/context', 'swt-bench@2', 'resourceExtname == .swtdiff'),
    ],
  },
  convertCustomDiff: {
    title: 'Convert Custom Diff to Unified Diff',
    icon: 'diff',
    palette: customDiffShown,
    menus: [
      inMenu('editor/title', '1_customDiff', customDiffShown),
      inMenu('editor/context', 'swt-bench@3', customDiffShown),
    ],
  },
  copyChangesAsCustomDiff: {
    title: 'Copy Changes as Custom Diff',
    icon: 'copy',
    palette: open,
    menus: [inTitle('instance', '1_candidate@2', open)],
  },
  copyMcpConfiguration: {
    title: 'Copy MCP Configuration for Other Agents',
    icon: 'copy',
    palette: open,
  },
  evaluatePredictions: {
    title: 'Evaluate Predictions…',
    icon: 'run-all',
    menus: [inTitle('runs', 'navigation@1')],
  },
  openDashboard: {
    title: 'Open Report Dashboard',
    icon: 'graph',
    menus: [inTitle('runs', 'navigation@2'), ...onRow('runs', /^run/, { group: '1_open@1' })],
  },
  addResults: { title: 'Add Results…', icon: 'add', menus: [inTitle('runs', 'navigation@3')] },
  removeResults: {
    title: 'Remove Results from List',
    icon: 'close',
    palette: inRuns,
    menus: onRow('runs', /^(run|repairs)$/, { group: '3_list@1' }),
  },
  exportDashboard: {
    title: 'Export Report as HTML…',
    icon: 'export',
    menus: [
      inTitle('runs', '2_export@1'),
      ...onRow('runs', /^run/, { group: '2_export@1' }),
      inMenu('editor/title', 'navigation@1', "activeWebviewPanelId == 'swt-bench.dashboard'"),
    ],
  },
  pauseBatch: {
    title: 'Pause Batch',
    icon: 'debug-pause',
    palette: inRuns,
    menus: onRow('runs', 'run.running.mine', { group: '0_batch@1', inline: 1 }),
  },
  resumeBatch: {
    title: 'Resume Batch',
    icon: 'debug-start',
    palette: inRuns,
    menus: onRow('runs', 'run.paused.mine', { group: '0_batch@1', inline: 1 }),
  },
  cancelBatch: {
    title: 'Cancel Batch',
    icon: 'debug-stop',
    palette: inRuns,
    menus: onRow('runs', /^run\.(running|paused)\.mine$/, { group: '0_batch@2', inline: 2 }),
  },
  generate: {
    title: 'Generate Reproducing Tests…',
    icon: 'sparkle',
    palette: open,
    menus: [
      inTitle('instance', 'navigation@2', open),
      inTitle('generated', 'navigation@1'),
      inTitle('workbench.view.testing', '1_swtbench', open),
    ],
  },
  proposeFixes: {
    title: 'Propose Fixes…',
    icon: 'wrench',
    palette: open,
    menus: [inTitle('generated', 'navigation@2')],
  },
  previewGenerated: {
    title: 'Preview Generated Patch',
    icon: 'open-preview',
    palette: inGenerated,
    menus: onRow('generated', /^(candidate\.applies|fix$)/, { group: '1_patch@1', inline: 1 }),
  },
  applyCandidate: {
    title: 'Apply Candidate',
    icon: 'check',
    palette: inGenerated,
    menus: onRow('generated', /^candidate\.applies/, { group: '1_patch@2', inline: 2 }),
  },
  showPromptAndAnswer: {
    title: 'Show Prompt and Answer',
    icon: 'comment-discussion',
    palette: inGenerated,
    menus: onRow('generated', /^candidate/, { group: '1_patch@3', inline: 3 }),
  },
  showTrajectory: {
    title: 'Show Trajectory…',
    icon: 'list-tree',
    menus: [
      ...onRow('runs', /^run/, { group: '1_open@2' }),
      ...onRow('generated', /^candidate/, { group: '1_patch@4' }),
    ],
  },
  evaluateCandidate: {
    title: 'Evaluate Candidate',
    icon: 'law',
    palette: inGenerated,
    menus: [
      ...onRow('generated', /^candidate\.applies/, { group: '2_knowledge@1' }),
      ...onRow('generated', 'knowledge', { group: '2_knowledge@1', inline: 1 }),
    ],
  },
  runTestsOnFixes: {
    title: 'Run My Tests on R with Fixes',
    icon: 'beaker',
    palette: `${open} && swt-bench.hasFixes`,
    menus: [
      inTitle('generated', 'navigation@3', 'swt-bench.hasFixes'),
      ...onRow('generated', /^(fix|fixes\.(partial|done))$/, { group: '1_patch@2', inline: 2 }),
    ],
  },
  resumeGenerating: {
    title: 'Resume Generating',
    icon: 'debug-start',
    palette: inGenerated,
    menus: onRow('generated', /^(tests|fixes)\.partial$/, { group: '1_run@1', inline: 1 }),
  },
  deleteGenerated: {
    title: 'Delete Generated Patches…',
    icon: 'trash',
    palette: inGenerated,
    menus: onRow('generated', /^(tests|fixes)\.(partial|done)$/, { group: '1_run@2', inline: 3 }),
  },
  manageKeys: { title: 'Manage API Keys…', icon: 'key' },
} satisfies Record<string, CommandDescriptor>;

/** Id of a command of the palette, without `swt-bench.`. */
export type CommandName = keyof typeof commandDescriptors;
