import { InvalidArgumentError, Option, type Command } from 'commander';
import { HumanError } from '../../domain/work';
import {
  agentlessNumbers,
  agentlessSettings,
  agentlessStages,
  regressionChoices,
  skippableStages,
  type AgentlessNumber,
  type AgentlessSettings,
  type AgentlessStage,
} from '../../method/agentless';
import { atKey, keyOption, rare } from './configuredOptions';
import { list, natural, temperature, whole } from './optionValues';

/** The options of `repair` for the stages of Agentless, and for embeddings. */
export interface AgentlessOptions extends Partial<Record<AgentlessNumber, number>> {
  regression?: AgentlessSettings['regression'];
  skip?: AgentlessStage[];
  until?: AgentlessStage;
  stagesFrom?: string;
  take?: AgentlessStage[];
  embeddingModel?: string;
  embeddingBaseUrl?: string;
  embeddingPrice?: number;
}

const numbers = Object.entries(agentlessNumbers);

const parsers = { whole, natural, temperature: numberOfTemperature };

const isAgentless = ({ method }: { readonly method?: unknown }): boolean =>
  typeof method === 'string' && /^agent-?less$/i.test(method);

/** Adds the options, with what the table of settings says. */
export function withAgentlessOptions(command: Command): Command {
  for (const [name, { option, stage, default: value, kind, meaning }] of numbers) {
    const written = kind === 'temperature' ? '<t>' : '<n>';
    const said = `agentless, ${stage}: ${meaning} (default: ${value})`;
    command.addOption(
      atKey(
        new Option(`${option} ${written}`, said).argParser(parsers[kind]),
        `agentless.${name}`,
        isAgentless,
      ),
    );
  }
  return command
    .addOption(keyOption('repair.embeddingModel', { applies: isAgentless, shown: true }))
    .addOption(keyOption('models.{embeddingModel}.baseUrl', { applies: isAgentless }))
    .addOption(keyOption('prices.{embeddingModel}.input', { applies: isAgentless }))
    .addOption(
      atKey(
        new Option(
          '--regression <which>',
          'agentless, regression: tests that reach the suspicious files, or all of R (default: reaching)',
        ).choices(regressionChoices),
        'agentless.regression',
        isAgentless,
      ),
    )
    .addOption(
      atKey(
        new Option(
          '--skip <stages>',
          `agentless: leave these stages out; some of ${skippableStages.join(',')}`,
        ).argParser(stagesIn(skippableStages)),
        'agentless.skip',
        isAgentless,
      ),
    )
    .addOption(
      rare(
        new Option(
          '--until <stage>',
          'agentless: end after this stage; its output is in the trace, and no prediction is written',
        ).choices(agentlessStages),
      ),
    )
    .addOption(
      rare(
        new Option(
          '--stages-from <file>',
          'agentless: outputs of stages to use instead of computing them (JSON lines with instance, stage and output, such as a trace; or predictions with patches)',
        ),
      ),
    )
    .addOption(
      rare(
        new Option(
          '--take <stages>',
          'agentless: take only the outputs of these stages from that file (default: all that it has)',
        ).argParser(stagesIn(agentlessStages)),
      ),
    );
}

/**
 * The settings that the options give.
 *
 * @throws HumanError when they are for another method, or make no sense together
 */
export function settingsOf(
  options: AgentlessOptions & { readonly method: string },
): AgentlessSettings {
  const names = [
    ...numbers.map(([name, { option }]) => [name, option] as const),
    ...([
      ['regression', '--regression'],
      ['skip', '--skip'],
      ['until', '--until'],
      ['stagesFrom', '--stages-from'],
      ['take', '--take'],
    ] as const),
    ...([['embeddingModel', '--embedding-model']] as const),
  ];
  const given = names.filter(([name]) => options[name as keyof AgentlessOptions] !== undefined);
  const [[, option] = [undefined, undefined]] = given;
  if (option !== undefined && !isAgentless(options)) {
    throw new HumanError(
      `${option} applies to agentless, not to ${options.method}`,
      `Use --method agentless, or omit ${option}`,
    );
  }
  const needless = (['embeddingBaseUrl', 'embeddingPrice'] as const).some(
    (name) => options[name] !== undefined,
  );
  if (needless && options.embeddingModel === undefined) {
    throw new HumanError(
      '--embedding-base-url and --embedding-price need an embedding model',
      'Add --embedding-model PROVIDER/NAME, such as openai/text-embedding-3-small',
    );
  }
  if (options.take !== undefined && options.stagesFrom === undefined) {
    throw new HumanError(
      '--take needs a file with stage outputs',
      'Add --stages-from FILE, such as the trace of another run',
    );
  }
  const { skip, until } = options;
  if (until !== undefined && skip?.includes(until) === true) {
    throw new HumanError(
      `--until ${until} names a stage that --skip skips`,
      `Remove ${until} from --skip, or use another stage with --until`,
    );
  }
  const values = given.filter(
    ([name]) => name in agentlessNumbers || ['regression', 'skip', 'until'].includes(name),
  );
  return agentlessSettings(
    Object.fromEntries(values.map(([name]) => [name, options[name as keyof AgentlessOptions]])),
  );
}

/** Reads a list of stages. The function throws InvalidArgumentError for another word. */
const stagesIn =
  (stages: readonly AgentlessStage[]) =>
  (value: string): AgentlessStage[] =>
    list(value).map((name) => {
      const stage = stages.find((each) => each === name);
      if (stage === undefined)
        throw new InvalidArgumentError(`Use a comma-separated list of ${stages.join(', ')}.`);
      return stage;
    });

/** @throws InvalidArgumentError */
function numberOfTemperature(value: string): number {
  const number = temperature(value);
  if (number !== null) return number;
  throw new InvalidArgumentError(
    'Write a number from 0 to 2. With --temperature none, requests have no temperature.',
  );
}
