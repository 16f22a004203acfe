import { version as productVersion } from '../../../package.json';
import type { McpOptions } from './serveInstance';
import { withEngineOptions } from '../options/engineOptions';
import {
  datasetOption,
  sourceOption,
  needsStorage,
  storageOption,
  timeoutOption,
} from '../options/sharedOptions';
import { runTestsLocallyOption } from '../options/modelOptions';
import type { ProgramContext, RegisterCommand } from '../registerCommand';

/** Registers the command `mcp`. */
export const registerMcp: RegisterCommand<ProgramContext> = (command, context, finish) => {
  withEngineOptions(command, context)
    .addOption(datasetOption())
    .requiredOption('--id <id>', 'the instance')
    .addOption(sourceOption())
    .addOption(timeoutOption('limit for one run of tests', 600))
    .option(
      '--out <file>',
      'keep the candidate as a prediction in this file, with each apply_candidate; other rows stay',
    )
    .option('--name <name>', 'name of the model in that prediction', 'mcp')
    .addOption(runTestsLocallyOption())
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .addHelpText(
      'after',
      '\nIt never gives away the golden patch, the golden tests or what comes after R.' +
        '\nExit status: 0 the client closed the connection, 1 it did and --out could not be written, 2 wrong usage or input, 130 interrupted.',
    )
    .action(async (options: McpOptions) => {
      // Imported here, since no other command needs the protocol.
      const { serveInstance } = await import('./serveInstance');
      finish(await serveInstance(options, { ...context, version: productVersion }));
    });
};
