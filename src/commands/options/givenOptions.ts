import { Option, type Command } from 'commander';
import { HumanError } from '../../domain/work';
import {
  givenMethod,
  givenParts,
  givenSetting,
  givenSources,
  type GivenSource,
  zeroShotPlus,
} from '../../method/generating';
import type { Method } from '../../method/method';
import { rare } from './configuredOptions';
import { list } from './optionValues';

/** The options of `generate` for the settings of Table 5 of the paper. */
export interface GivenOptions {
  given?: string[];
  from?: GivenSource;
  oracle?: boolean;
}

export const withGivenOptions = (command: Command): Command =>
  command
    .addOption(
      rare(
        new Option(
          '--given <parts>',
          `what the prompt of ZeroShotPlus contains in addition to the issue (Table 5 of the paper): some of ${givenParts.join(',')}`,
        ).argParser(list),
      ),
    )
    .addOption(
      rare(
        new Option(
          '--from <origin>',
          'where --given comes from; golden and wrong need --oracle',
        ).choices(givenSources),
      ),
    )
    .addOption(
      rare(
        new Option('--oracle', 'allow prompts with the answer; their results are marked as oracle'),
      ),
    );

/**
 * The method with what the options give it.
 *
 * @throws HumanError when they make no sense together, or use the answer without `--oracle`
 */
export function methodWithGiven(method: Method, options: GivenOptions): Method {
  const setting = givenSetting(options);
  if (setting === undefined) return method;
  if (method !== zeroShotPlus) {
    throw new HumanError(
      `--given applies to ${zeroShotPlus.title}, as in Table 5 of the paper, not to ${method.title}`,
      `Use --method ${zeroShotPlus.name}, or omit --given and --from`,
    );
  }
  return givenMethod(setting, { oracle: options.oracle === true });
}
