import { Option, type Command } from 'commander';
import { HumanError } from '../../domain/work';
import type { Method } from '../../method/method';
import { surrogate, defaultSurrogate } from '../../method/generating';
import { rare } from './configuredOptions';
import { list, natural } from './optionValues';

/** The options of `generate` for the method `surrogate`. */
export interface SurrogateOptions {
  fixes?: number;
  /** Files of predictions with code patches. */
  fixesFrom?: string[];
  rounds?: number;
}

export const withSurrogateOptions = (command: Command): Command =>
  command
    .addOption(
      rare(
        new Option(
          '--fixes <n>',
          `surrogate: number of fixes to request (default: ${defaultSurrogate.fixes})`,
        ).argParser(natural),
      ),
    )
    .addOption(
      rare(
        new Option(
          '--fixes-from <files>',
          'surrogate: use the fixes in these code patch predictions instead, such as OUT.ranked.jsonl of `repair`',
        ).argParser(list),
      ),
    )
    .addOption(
      rare(
        new Option(
          '--rounds <n>',
          `surrogate: rounds in which the model sees where its tests disagree (default: ${defaultSurrogate.rounds})`,
        ).argParser(natural),
      ),
    );

/**
 * The method with what the options say about it.
 *
 * @throws HumanError when they are for another method, or contradict each other
 */
export function methodWithFixes(method: Method, options: SurrogateOptions): Method {
  const given = (['fixes', 'fixesFrom', 'rounds'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (given === undefined) return method;
  const option = given === 'fixesFrom' ? '--fixes-from' : `--${given}`;
  if (method.name !== surrogate().name) {
    throw new HumanError(
      `${option} applies to the method surrogate, not to ${method.title}`,
      `Use --method surrogate, or omit ${option}`,
    );
  }
  const { fixes, fixesFrom, rounds } = options;
  if (fixes !== undefined && fixesFrom !== undefined) {
    throw new HumanError(
      '--fixes requests fixes from the model, but --fixes-from reads them from files',
      'Use only one of them',
    );
  }
  return surrogate({
    fixes: fixesFrom === undefined ? (fixes ?? defaultSurrogate.fixes) : 0,
    rounds: rounds ?? defaultSurrogate.rounds,
  });
}
