import { Option, type Command } from 'commander';
import type { TestingContext } from '../context';
import { rare } from './configuredOptions';
import { withEngineOptions } from './engineOptions';
import { offer } from './offered';
import { modelOption, runTestsLocallyOption } from './modelOptions';
import { whole } from './optionValues';
import { withSelectingOptions } from './selectingOptions';
import {
  datasetOption,
  jsonOption,
  sourceOption,
  needsStorage,
  storageOption,
  timeoutOption,
  workersOption,
} from './sharedOptions';
import { shardOption } from './shardOption';

/** What differs in the help of the commands that write with a language model. */
interface WritingTexts {
  readonly methods: readonly string[];
  /** What `--out` names. */
  readonly out: string;
  /** What one run of tests is, for `--timeout`. */
  readonly run: string;
  /** What `--dry-run` does. */
  readonly dryRun: string;
  /** What each instance has in the end, for the exit status. */
  readonly written: string;
}

/**
 * A command that lets a method write predictions with a language model, with the options that all
 * such commands have. The options of models and of methods are added by each command.
 */
export function generatingCommand(
  command: Command,
  context: Pick<TestingContext, 'engines'>,
  texts: WritingTexts,
): Command {
  return withEngineOptions(withSelectingOptions(command), context)
    .addOption(
      offer(
        new Option('--method <name>', texts.methods.join(', ')).makeOptionMandatory(),
        texts.methods.filter((name) => !/[A-Z]/.test(name)),
      ),
    )
    .addOption(modelOption())
    .addOption(datasetOption())
    .option('--limit <n>', 'only the first n of the selected instances', whole)
    .addOption(rare(shardOption()))
    .requiredOption('--out <file>', texts.out)
    .addOption(sourceOption())
    .addOption(
      workersOption(
        'instances that run tests or commands at once (default: by memory and cores); for other methods, instances at once (default: --concurrency)',
      ),
    )
    .addOption(timeoutOption(`${texts.run}, in seconds`))
    .addOption(runTestsLocallyOption())
    .option('--dry-run', texts.dryRun)
    .addOption(
      rare(new Option('--replay', 'only read the trace: no model, no tests, no repository')),
    )
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .addOption(jsonOption())
    .addHelpText(
      'after',
      '\nRepeat the command to resume an interrupted run. It does not resend answered requests.' +
        `\nExit status: 0 every instance has ${texts.written}, 1 some have none, 2 invalid usage or input, 130 interrupted.`,
    );
}
