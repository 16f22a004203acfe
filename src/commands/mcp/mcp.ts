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
    .addOption(timeoutOption('test timeout in seconds', 600))
    .option(
      '--out <file>',
      'save the candidate as a prediction in this file after each apply_candidate; keeps other rows',
    )
    .option('--name <name>', 'model name in that prediction', 'mcp')
    .addOption(runTestsLocallyOption())
    .addOption(storageOption())
    .hook('preAction', needsStorage)
    .addHelpText(
      'after',
      '\nNever reveals the golden patch, the golden tests or anything later than R.' +
        '\nExit status: 0 the client closed the connection, 1 --out could not be written, 2 invalid usage or input, 130 interrupted.',
    )
    .action(async (options: McpOptions) => {
      // Imported here, since no other command needs the protocol.
      const { serveInstance } = await import('./serveInstance');
      finish(await serveInstance(options, { ...context, version: productVersion }));
    });
};
