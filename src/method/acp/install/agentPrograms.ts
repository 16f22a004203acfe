/** A package of npm that has the program of an agent. */
interface NpmProgram {
  readonly registry: 'npm';
  readonly package: string;
  readonly version: string;
  /**
   * Programs that are put into `bin`, each the first of these files that there is. `{cpu}` stands for
   * the processor.
   */
  readonly programs?: Readonly<Record<string, readonly string[]>>;
}

/** A package of PyPI, which brings no runtime. */
interface PythonProgram {
  readonly registry: 'PyPI';
  readonly package: string;
  readonly version: string;
  /** Version of Python that it needs, such as `3.12`. */
  readonly python: string;
  /** Modules that are run, by the names of their programs. */
  readonly modules: Readonly<Record<string, string>>;
}

export type AgentProgram = NpmProgram | PythonProgram;

/** What agents of npm are installed with, and run on. Node 26 needs a library that images lack. */
export const nodeRuntime = { node: '24.21.0', npm: '11.21.2' } as const;

/** The tool that lets libraries beside a copied Python be found. */
export const patchelfVersion = '0.19.3.0';

/** The programs of the presets, in the versions that they are tested with. */
export const agentPrograms: Readonly<Record<string, AgentProgram>> = {
  'claude-code': {
    registry: 'npm',
    package: '@agentclientprotocol/claude-agent-acp',
    version: '0.101.0',
  },
  codex: { registry: 'npm', package: '@agentclientprotocol/codex-acp', version: '2.6.0' },
  gemini: { registry: 'npm', package: '@google/gemini-cli', version: '0.61.0' },
  opencode: {
    registry: 'npm',
    package: 'opencode-ai',
    version: '1.18.33',
    // Its own script would choose by the processor of this machine, and no script runs here.
    programs: {
      opencode: ['opencode-linux-{cpu}-baseline/bin/opencode', 'opencode-linux-{cpu}/bin/opencode'],
    },
  },
  openhands: {
    registry: 'PyPI',
    package: 'openhands',
    version: '1.16.0',
    python: '3.12',
    modules: { openhands: 'openhands_cli.entrypoint' },
  },
  qwen: { registry: 'npm', package: '@qwen-code/qwen-code', version: '0.24.4' },
};
