import { agentlessStages, readGivenStages, type GivenStages } from '../method/agentless';
import { repairMethods } from '../method/methods';
import type { GenerateOptions } from './generating/generationParts';
import { readInput } from './input';
import {
  settingsOf,
  withAgentlessOptions,
  type AgentlessOptions,
} from './options/agentlessOptions';
import { rare } from './options/configuredOptions';
import { temperatureOption, withModelOptions, withRequestOptions } from './options/modelOptions';
import { generatingCommand } from './options/generatingCommand';
import type { ProgramContext, RegisterCommand } from './registerCommand';

/** Registers the command `repair`. */
export const registerRepair: RegisterCommand<ProgramContext> = (command, context, finish) => {
  generatingCommand(command, context, {
    methods: repairMethods().map(({ name }) => name),
    out: 'file for the selected code patches as SWE-bench predictions (JSONL); all ranked patches and the trace are written next to it',
    run: 'test timeout',
    dryRun: 'estimate the maximum requests and cost; needs no API key',
    written: 'a code patch (or reached the stage of --until)',
  });
  command.addOption(rare(temperatureOption('0')));
  withRequestOptions(withModelOptions(withAgentlessOptions(command))).action(
    async (options: GenerateOptions & AgentlessOptions) => {
      // Imported here, since no other command needs models, tokenizers and indexes.
      const { generatePredictions } = await import('./generating/generatePredictions');
      const methods = repairMethods(settingsOf(options));
      const given = await givenStagesOf(options, context);
      const all: GenerateOptions = { ...options, ...given, limits: 'paper' };
      finish(await generatePredictions(all, context, methods));
    },
  );
};

/**
 * The outputs of `--stages-from`, without those of stages that are left out.
 *
 * @throws HumanError when the file cannot be read, Cancelled
 */
async function givenStagesOf(
  { stagesFrom: path, take = [...agentlessStages], skip = [] }: AgentlessOptions,
  context: ProgramContext,
): Promise<{ givenStages?: GivenStages }> {
  if (path === undefined) return {};
  const taken = take.filter((stage) => !skip.includes(stage));
  const bytes = await readInput(path, 'Specify another file with --stages-from', context);
  return { givenStages: readGivenStages(bytes.toString('utf8'), path, taken) };
}
