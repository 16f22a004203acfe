import type { CommandEntry, ProgramContext, RegisterCommand } from './registerCommand';

export { applyConfiguration } from './configuration/applyConfiguration';
export { withConfigurationOptions } from './options/configuredOptions';
export { withHelpAll } from './options/helpAll';

/** Hands a command what the program has beyond the core, which other commands do not load. */
async function withBeyondCore(register: RegisterCommand<ProgramContext>): Promise<RegisterCommand> {
  const { beyondCore } = await import('./beyondCore');
  return (command, context, finish) => register(command, { ...context, ...beyondCore }, finish);
}

/** The commands in the order of the help text. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'instances',
    description: 'list instances',
    load: async () => (await import('./instances/instances')).registerInstances,
  },
  {
    name: 'show',
    description: "print an instance's issue",
    load: async () => (await import('./instances/show')).registerShow,
  },
  {
    name: 'open',
    description: 'check out R in a new folder',
    load: async () => withBeyondCore((await import('./instances/open')).registerOpen),
  },
  {
    name: 'check',
    description: 'check on R alone whether a candidate is ready to submit',
    load: async () => withBeyondCore((await import('./instances/check')).registerCheck),
  },
  {
    name: 'evaluate',
    description: 'run candidates on R and R∘X* and grade them',
    load: async () => withBeyondCore((await import('./evaluate')).registerEvaluate),
  },
  {
    name: 'report',
    description: 'compare the rates of saved runs without running anything',
    load: async () => (await import('./report')).registerReport,
  },
  {
    name: 'shards',
    description: 'print Slurm or Kubernetes jobs that run a command in shards',
    load: async () => withBeyondCore((await import('./sharding/shards')).registerShards),
  },
  {
    name: 'merge',
    description: 'merge the shards of a run into one',
    load: async () => (await import('./merging/merge')).registerMerge,
  },
  {
    name: 'mutants',
    description: 'test which seeded bugs in the fix candidates catch',
    load: async () => withBeyondCore((await import('./mutants/mutants')).registerMutants),
  },
  {
    name: 'filter-repairs',
    description:
      'filter code patches with generated tests: keep those on which tests that fail on R pass',
    load: async () =>
      withBeyondCore((await import('./repairs/filterRepairs')).registerFilterRepairs),
  },
  {
    name: 'generate',
    description: 'generate predictions with a language model or an agent',
    load: async () => withBeyondCore((await import('./generate')).registerGenerate),
  },
  {
    name: 'agents',
    description: 'list and install agents for the Agent Client Protocol',
    load: async () => (await import('./agents/agents')).registerAgents,
  },
  {
    name: 'repair',
    description: 'generate and rank code patches with a language model',
    load: async () => withBeyondCore((await import('./repair')).registerRepair),
  },
  {
    name: 'trajectory',
    description: 'show a trajectory with its verdict and signs of cheating',
    load: async () => (await import('./trajectory/trajectory')).registerTrajectory,
  },
  {
    name: 'mcp',
    description: 'start a Model Context Protocol server for one instance on stdin and stdout',
    load: async () => withBeyondCore((await import('./mcp/mcp')).registerMcp),
  },
  {
    name: 'export',
    description: 'export instances as tasks for Harbor or inspect_ai',
    load: async () => withBeyondCore((await import('./exporting/export')).registerExport),
  },
  {
    name: 'validate',
    description: 'check whether instances are sound by repeating their golden and base tests',
    load: async () => withBeyondCore((await import('./validate')).registerValidate),
  },
  {
    name: 'patch',
    description: 'convert a patch in any format to a unified diff',
    load: async () => withBeyondCore((await import('./patches/patch')).registerPatch),
  },
  {
    name: 'parse-log',
    description: 'print the test outcomes in a saved log',
    load: async () => (await import('./patches/parseLog')).registerParseLog,
  },
  {
    name: 'statistics',
    description:
      'print statistics of instances, like Table 1 of the SWT-Bench paper; with --triage, also count tags',
    load: async () => (await import('./instances/statistics')).registerStatistics,
  },
  {
    name: 'triage',
    description: 'edit your notes on instances: tags, a note, the Agentless classification',
    load: async () => (await import('./instances/triage')).registerTriage,
  },
  {
    name: 'config',
    description:
      'print the values in effect from swt.yaml and elsewhere, or the schema of swt.yaml',
    load: async () => withBeyondCore((await import('./configuration/config')).registerConfig),
  },
  {
    name: 'completion',
    description: 'print the script that completes commands and options in a shell',
    load: async () => {
      const { registerCompletion } = await import('./completion/completion');
      return withBeyondCore(registerCompletion(commands));
    },
  },
  {
    name: 'images',
    description: 'manage images built on this machine',
    load: async () => (await import('./storage/pushImages')).registerImages,
  },
  {
    name: 'storage',
    description: 'show or free disk space used by instances and images',
    load: async () => (await import('./storage/storage')).registerStorage,
  },
];
