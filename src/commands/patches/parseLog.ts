import { jsonText, layOut } from '../../domain/text';
import { isKnownRepository, parseLog, testOutput } from '../../engine/runners';
import type { Mode } from '../../evaluation/prepareCandidate';
import { EXIT, type CommandContext } from '../context';
import { inputName, readInput } from '../input';
import { jsonOption, modeOption } from '../options/sharedOptions';
import type { RegisterCommand } from '../registerCommand';

export interface ParseLogOptions {
  /** `owner/name`: selects the log parser. */
  repo: string;
  mode?: Mode;
  json?: boolean;
}

/** Registers the command `parse-log`. */
export const registerParseLog: RegisterCommand = (command, context, finish) => {
  command
    .argument('<file>', 'log file, or - for stdin')
    .requiredOption('--repo <owner/name>', 'repository whose tests wrote the log')
    .addOption(modeOption())
    .addOption(jsonOption())
    .action(async (file: string, options: ParseLogOptions) =>
      finish(await parseLogCommand(file, options, context)),
    );
};

/**
 * `swt-bench parse-log`: the outcomes in a saved log, exactly as the reference harness reads them.
 * Of a log of the harness itself, it reads the part between the test command and the coverage.
 *
 * @param path path of the log; `-` for standard input
 * @throws HumanError when it cannot be read, Cancelled
 */
export async function parseLogCommand(
  path: string,
  { repo, mode = 'unit-test', json = false }: ParseLogOptions,
  context: CommandContext,
): Promise<number> {
  const log = await readInput(
    path,
    'Specify a text file with test output, or - for standard input',
    context,
  );
  if (mode === 'unit-test' && !isKnownRepository(repo)) {
    context.stderr(
      `swt-bench: the reference harness has no log parser for ${repo}; parsing it as a pytest or unittest log\n`,
    );
  }
  const statuses = parseLog(testOutput(log.toString('utf8')), repo, { mode });
  if (json) {
    context.data(jsonText(Object.fromEntries(statuses)));
  } else if (statuses.size > 0) {
    context.stdout(
      `${layOut([['Outcome', 'Test'], ...[...statuses].map(([test, status]) => [status, test])])}\n`,
    );
  }
  if (statuses.size > 0) return EXIT.done;
  context.stderr(`swt-bench: found no test outcomes in ${inputName(path)}\n`);
  return EXIT.negative;
}
