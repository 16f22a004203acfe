import { HumanError } from '../../domain/work';
import { onlyOne, sampleAll, temperatureOf, type Method } from '../method';
import { zeroShotPlus } from '../prompted/zeroShot';
import { givenContext } from './givenContext';
import { seesAnswer, settingName, type GivenSetting } from './setting';
import { wrongPatch } from './wrongPatch';

/**
 * ZeroShotPlus in a setting of Table 5. No other function makes a method whose prompts depend on
 * the answer.
 *
 * @param allowed whether the user writes `--oracle`
 * @throws HumanError when the setting uses the answer and that is not allowed
 */
export function givenMethod(setting: GivenSetting, allowed: { readonly oracle: boolean }): Method {
  const name = settingName(setting);
  const words = name.replaceAll('+', ', ');
  if (seesAnswer(setting) && !allowed.oracle) {
    throw new HumanError(
      setting.from === 'golden'
        ? `--from golden puts the answer into the prompt (${words})`
        : `--from wrong uses the answer, since the golden tests tell which patch is wrong (${words})`,
      'Add --oracle to allow that; predictions and reports are then marked as oracle',
    );
  }
  const method: Method = {
    ...zeroShotPlus,
    name: `${zeroShotPlus.name}+${name}`,
    title: `${zeroShotPlus.title} given ${words}`,
    description: `ZeroShotPlus with additional input: ${words}`,
    // T* runs on R with each fix, to tell whether it is wrong.
    runs: setting.from === 'wrong' ? 'oracle' : 'nothing',
    given: setting,
    async produce(steps, options) {
      const given = await givenContext(setting, {
        golden: () => {
          const { golden } = steps.parts;
          if (golden === undefined) throw new Error(`${name} needs the answer`);
          return golden;
        },
        wrongPatch: () => wrongPatch(steps, options.temperature),
      });
      const asked = {
        format: 'custom',
        temperature: temperatureOf(method, options),
        given,
      } as const;
      return onlyOne(await sampleAll(steps, asked, { ...options, samples: 1 }));
    },
  };
  return method;
}
