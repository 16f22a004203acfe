import { temperatureOf, type Method } from '../method';
import type { FixStep, ForeseenRequest, Steps } from '../steps';
import { givenContext } from './givenContext';
import type { GivenSetting } from './setting';
import { askedFix, isWrong, mostFixes, wrongPatch } from './wrongPatch';

interface ForeseeingGiven {
  readonly method: Pick<Method, 'temperature'>;
  readonly temperature?: number | null | undefined;
  /** Tokens of a whole prompt. */
  readonly contextTokens: number;
}

/**
 * The requests of ZeroShotPlus in a setting of Table 5, without asking. With a wrong patch they are a
 * bound until the trace has such a patch: which fix is wrong only answers and golden tests tell.
 *
 * @throws HumanError when the prompt cannot be made, or all fixes of the trace are no wrong patch
 */
export async function foreseenGiven(
  setting: GivenSetting,
  steps: Pick<Steps, 'foresee' | 'foreseeFix' | 'golden'>,
  { method, temperature, contextTokens }: ForeseeingGiven,
): Promise<ForeseenRequest[]> {
  const fixes = setting.from === 'wrong' ? await foreseenFixes(steps, temperature) : undefined;
  if (fixes !== undefined && fixes.known === undefined) {
    return [...fixes.requests, { inputTokens: contextTokens, isAnswered: false, isAtMost: true }];
  }
  const known = fixes?.known ?? [];
  const given = await givenContext(setting, {
    golden: () => {
      if (steps.golden === undefined) throw new Error('the setting needs the answer');
      return steps.golden;
    },
    wrongPatch: () =>
      wrongPatch(
        {
          fix: ({ sample }) => {
            const fix = known[sample - 1];
            if (fix === undefined) throw new Error(`fix ${sample} is not known`);
            return Promise.resolve(fix);
          },
        },
        temperature,
      ),
  });
  const asked = { format: 'custom', sample: 1, given } as const;
  const candidate = await steps.foresee({
    ...asked,
    temperature: temperatureOf(method, { temperature }),
  });
  return [...(fixes?.requests ?? []), candidate];
}

/** @returns `known` only where the trace has all fixes that the method asks for */
async function foreseenFixes(
  steps: Pick<Steps, 'foreseeFix'>,
  temperature: number | null | undefined,
): Promise<{
  readonly requests: readonly ForeseenRequest[];
  readonly known: readonly FixStep[] | undefined;
}> {
  const requests: ForeseenRequest[] = [];
  const known: FixStep[] = [];
  for (let sample = 1; sample <= mostFixes; sample += 1) {
    const { request, fix } = await steps.foreseeFix(askedFix(sample, temperature));
    const isNeeded = known.length === requests.length;
    requests.push({ ...request, ...(!isNeeded && { isAtMost: true as const }) });
    if (isNeeded && fix !== undefined) known.push(fix);
    if (fix !== undefined && isNeeded && isWrong(fix)) return { requests, known };
  }
  return { requests, known: known.length === mostFixes ? known : undefined };
}
