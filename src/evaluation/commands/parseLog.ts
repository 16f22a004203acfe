import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { HumanError, messageOf } from '../../domain/problem';
import { isKnownRepository, parseLog, testOutput } from '../../engine/logs/parseLog';
import type { Mode } from '../reading';
import { layOut } from '../table';
import { EXIT, type CommandContext } from './context';

export interface ParseLogOptions {
  /** `owner/name`: whose log parser reads it. */
  repo: string;
  mode?: Mode;
  json?: boolean;
}

/**
 * `swt-bench parse-log`: the outcomes in a saved log, to the letter as the reference harness reads them.
 * Of a log of the harness itself, the part between its test command and its coverage is read.
 *
 * @param path of the log; `-` for standard input
 * @throws HumanError when it cannot be read
 */
export async function parseLogCommand(
  path: string,
  { repo, mode = 'unit-test', json = false }: ParseLogOptions,
  context: CommandContext,
): Promise<number> {
  const log = await (path === '-' ? text(process.stdin) : readFile(path, 'utf8')).catch(
    (error: unknown) => {
      throw new HumanError(
        `The log ${path} cannot be read (${messageOf(error)})`,
        'Name a text file with the output of the tests, or - for standard input',
      );
    },
  );
  if (mode === 'unit-test' && !isKnownRepository(repo)) {
    context.stderr(
      `swt-bench: the reference harness has no log parser for ${repo}; read as a log of pytest or unittest\n`,
    );
  }
  const statuses = parseLog(testOutput(log), repo, { mode });
  if (json) {
    context.stdout(`${JSON.stringify(Object.fromEntries(statuses), null, 2)}\n`);
  } else if (statuses.size > 0) {
    context.stdout(
      `${layOut([['Outcome', 'Test'], ...[...statuses].map(([test, status]) => [status, test])])}\n`,
    );
  }
  if (statuses.size > 0) return EXIT.done;
  context.stderr(`swt-bench: ${path} holds no outcome of a test\n`);
  return EXIT.negative;
}
