import type { Reporter } from '../domain/work';
import type { EnvironmentMaker } from '../engine/environmentMaker';
import type { EngineDescriptor } from '../engine/sandbox';
import type { FormatDescriptor } from '../patch/toUnified';

/** The parts of its process that a command may use. */
export interface CommandContext {
  /** Text for the user: what strangers wrote in it does not drive the terminal. */
  readonly stdout: (text: string) => void;
  /** Data for a program, such as JSON or a patch: byte for byte, unless the user looks at it. */
  readonly data: (text: string) => void;
  /** As `stdout`. */
  readonly stderr: (text: string) => void;
  /** All of standard input. */
  readonly stdin: (signal: AbortSignal) => Promise<Buffer>;
  /** Whether stderr is a terminal, so that progress may overwrite its line. */
  readonly interactive: boolean;
  readonly signal: AbortSignal;
  /** Folder with the tracer and the grammars. */
  readonly assets: string;
  /** The instance in the package: `--dataset bundled`. */
  readonly bundled: {
    readonly dataset: string;
    readonly predictions: string;
    readonly source: string;
  };
}

/** What commands get that run tests or read patches. */
export interface TestingContext extends CommandContext {
  /** The engines, in the order in which they are offered; the first is the default. */
  readonly engines: readonly EngineDescriptor[];
  /** What makes the environments of instances. */
  readonly environments: EnvironmentMaker;
  /** The formats of patches apart from the unified one. */
  readonly formats: readonly FormatDescriptor[];
}

export const EXIT = { done: 0, negative: 1, usage: 2, interrupted: 130 } as const;

/**
 * Progress on one line of stderr, which is erased at the end; nothing where stderr is not a
 * terminal.
 */
export function terminalReporter(context: CommandContext): Reporter & { clear(): void } {
  const wipe = '\r\u001b[2K';
  return {
    log: (line) => context.stderr(`${context.interactive ? wipe : ''}${line}\n`),
    progress: (step) => {
      if (context.interactive) context.stderr(`${wipe}${step.slice(0, 100)}`);
    },
    clear: () => {
      if (context.interactive) context.stderr(wipe);
    },
  };
}
