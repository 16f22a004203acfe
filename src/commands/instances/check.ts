import { jsonText } from '../../domain/text';
import { asShown, textOf } from '../../patch/bytes';
import type { ProgramContext, RegisterCommand } from '../registerCommand';
import { EXIT, terminalReporter } from '../context';
import { readInput } from '../input';
import type { InstanceOnROptions } from '../mcp/instanceOnR';
import { withEngineOptions } from '../options/engineOptions';
import {
  datasetOption,
  formatOption,
  jsonOption,
  sourceOption,
  needsStorage,
  storageOption,
  timeoutOption,
} from '../options/sharedOptions';

interface CheckOptions extends InstanceOnROptions {
  format?: string;
  timeout: number;
  json?: boolean;
}

/** Registers the command `check`. */
export const registerCheck: RegisterCommand<ProgramContext> = (command, context, finish) => {
  withEngineOptions(command, context)
    .argument('<file>', "file with a patch or a model's whole answer, or - for stdin")
    .addOption(datasetOption())
    .requiredOption('--id <id>', 'the instance')
    .addOption(formatOption(context))
    .addOption(sourceOption())
    .addOption(timeoutOption('test timeout in seconds'))
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      "\nRuns the candidate's test files on R, with and without the candidate. Does not use the fix:" +
        '\nonly `evaluate` shows whether the tests pass with it.' +
        '\nExit status: 0 ready, possibly with warnings, 1 not ready or unknown, 2 invalid usage or input, 130 interrupted.',
    )
    .action(async (file: string, options: CheckOptions) =>
      finish(await checkCommand(file, options, context)),
    );
};

/**
 * `swt-bench check`: what R alone says of a candidate.
 *
 * @param path path of the candidate; `-` for standard input
 * @returns 1 when the candidate is not ready, or this is not known
 * @throws HumanError when the input cannot be used; Cancelled
 */
async function checkCommand(
  path: string,
  options: CheckOptions,
  context: ProgramContext,
): Promise<number> {
  const { signal } = context;
  const next = 'Specify a text file with the candidate, or - for standard input';
  const candidate = textOf(await readInput(path, next, context));
  // Imported here, since few commands need what models may know.
  const { instanceOnR } = await import('../mcp/instanceOnR');
  const { checkSubmission } = await import('../../method/tools');
  const { submissionCheckText } = await import('../../method/tools');
  const reporter = terminalReporter(context);
  const opened = await instanceOnR(options, context, {
    signal,
    // As in `evaluate`, whoever names a candidate has it run.
    permit: () => undefined,
  });
  try {
    const { format = 'auto', timeout: timeoutSeconds, json } = options;
    const view = await opened.view({ reporter });
    const check = await checkSubmission(view, candidate, {
      ...{ format, timeoutSeconds, signal, reporter },
    });
    reporter.clear();
    if (json === true) context.data(jsonText({ instance: opened.instance.id, ...check }));
    else context.stdout(`${asShown(submissionCheckText(check))}\n`);
    const isReady = check.conclusion === 'ready' || check.conclusion === 'look again';
    return isReady ? EXIT.done : EXIT.negative;
  } finally {
    await opened.dispose();
  }
}
