import type { Reporter } from '../domain/work';
import { describeProblem, openDataset as open, type Dataset } from '../dataset/dataset';
import { parseSources, withBundledSource } from '../repository/source';

/** The parts of its process that a command may use. */
export interface CommandContext {
  /** Text for a person: what strangers wrote in it does not drive the terminal. */
  readonly stdout: (text: string) => void;
  /** Data for a program, such as JSON or a patch: byte for byte, unless a person looks at it. */
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

/** Loads the dataset that `--dataset` names, and warns of unusable rows. */
export async function openDatasetOption(
  options: {
    readonly dataset: string;
    readonly storage: string;
    readonly refresh?: boolean | undefined;
  },
  context: CommandContext,
): Promise<Dataset> {
  const { dataset: name, storage, refresh } = options;
  const reporter = terminalReporter(context);
  const dataset = await open(name === 'bundled' ? context.bundled.dataset : name, {
    storage,
    reporter,
    signal: context.signal,
    refresh,
  });
  reporter.clear();
  warnOfRows(dataset, context);
  return dataset;
}

/**
 * `--source` as given, and that of the bundled project where none is given for it or for every one.
 *
 * @throws HumanError when a part is empty
 */
export const sourcesFor = (
  { source }: { readonly source: readonly string[] },
  context: CommandContext,
): readonly string[] =>
  parseSources(source).has('*') ? source : withBundledSource(source, context.bundled.source);

/** Warns of rows that were left out; names the first few. */
function warnOfRows(dataset: Dataset, context: CommandContext): void {
  const { problems } = dataset;
  for (const problem of problems.slice(0, 5)) {
    context.stderr(`swt-bench: ${dataset.path}: ${describeProblem(problem)}\n`);
  }
  if (problems.length > 5) {
    context.stderr(`swt-bench: ${dataset.path}: ${problems.length - 5} more rows cannot be used\n`);
  }
}
