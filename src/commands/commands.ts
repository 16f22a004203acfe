import type { ProgramContext, RegisterCommand } from './registerCommand';

/** A command, of which nothing is loaded before it is called. */
interface CommandEntry {
  readonly name: string;
  /** What the list of commands and its own help say. */
  readonly description: string;
  readonly load: () => Promise<RegisterCommand>;
}

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
    description: 'print the issue of an instance',
    load: async () => (await import('./instances/show')).registerShow,
  },
  {
    name: 'open',
    description: 'make the tree of R in a new folder',
    load: async () => withBeyondCore((await import('./instances/open')).registerOpen),
  },
  {
    name: 'check',
    description: 'check on R alone whether a candidate is ready to be submitted',
    load: async () => withBeyondCore((await import('./instances/check')).registerCheck),
  },
  {
    name: 'evaluate',
    description: 'run candidates on R and R∘X* and grade them',
    load: async () => withBeyondCore((await import('./evaluate')).registerEvaluate),
  },
  {
    name: 'report',
    description: 'rates of saved runs, side by side, without running anything',
    load: async () => (await import('./report')).registerReport,
  },
  {
    name: 'shards',
    description: 'print the jobs that run a command in shards, for Slurm or Kubernetes',
    load: async () => withBeyondCore((await import('./sharding/shards')).registerShards),
  },
  {
    name: 'merge',
    description: 'put the shards of a run together, as one machine would have written it',
    load: async () => (await import('./merging/merge')).registerMerge,
  },
  {
    name: 'mutants',
    description: 'which small faults in the lines that X* adds the tests of candidates notice',
    load: async () => withBeyondCore((await import('./mutants/mutants')).registerMutants),
  },
  {
    name: 'filter-repairs',
    description: 'keep the code patches on which generated tests that fail on R pass',
    load: async () =>
      withBeyondCore((await import('./repairs/filterRepairs')).registerFilterRepairs),
  },
  {
    name: 'generate',
    description: 'let a method or an agent write predictions with a language model',
    load: async () => withBeyondCore((await import('./generate')).registerGenerate),
  },
  {
    name: 'agents',
    description: 'programs of agents of the Agent Client Protocol',
    load: async () => (await import('./agents/agents')).registerAgents,
  },
  {
    name: 'repair',
    description: 'let a method write code patches with a language model, ranked',
    load: async () => withBeyondCore((await import('./repair')).registerRepair),
  },
  {
    name: 'trajectory',
    description: 'a trajectory to read, with its verdict and what looks like cheating',
    load: async () => (await import('./trajectory/trajectory')).registerTrajectory,
  },
  {
    name: 'mcp',
    description:
      'serve the tools of one instance on stdin and stdout to an agent (Model Context Protocol)',
    load: async () => withBeyondCore((await import('./mcp/mcp')).registerMcp),
  },
  {
    name: 'export',
    description: 'write instances as tasks for another program: Harbor, inspect_ai',
    load: async () => withBeyondCore((await import('./exporting/export')).registerExport),
  },
  {
    name: 'validate',
    description: 'check whether instances are sound, with repeated golden and base tests',
    load: async () => withBeyondCore((await import('./validate')).registerValidate),
  },
  {
    name: 'patch',
    description: 'convert a patch in any format to a unified diff on a tree',
    load: async () => withBeyondCore((await import('./patches/patch')).registerPatch),
  },
  {
    name: 'parse-log',
    description: 'print the outcomes in a saved test log',
    load: async () => (await import('./patches/parseLog')).registerParseLog,
  },
  {
    name: 'statistics',
    description:
      'figures of a selection, as Table 1 of the SWT-Bench paper has them; with --triage also how many have each tag',
    load: async () => (await import('./instances/statistics')).registerStatistics,
  },
  {
    name: 'triage',
    description: "a person's own verdict on instances: tags, a note, the Agentless classification",
    load: async () => (await import('./instances/triage')).registerTriage,
  },
  {
    name: 'config',
    description: 'the configuration file swt.yaml: what counts, and its schema',
    load: async () => withBeyondCore((await import('./configuration/config')).registerConfig),
  },
  {
    name: 'completion',
    description: 'print the script that completes commands and options in a shell',
    load: async () => withBeyondCore((await import('./completion/completion')).registerCompletion),
  },
  {
    name: 'images',
    description: 'images that were built here',
    load: async () => (await import('./storage/pushImages')).registerImages,
  },
  {
    name: 'storage',
    description: 'show and free the disk space of the storage folder and of images, by instance',
    load: async () => (await import('./storage/storage')).registerStorage,
  },
];
