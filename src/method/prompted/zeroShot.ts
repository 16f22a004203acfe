import type { CandidateFormat } from '../prompt/prompts';
import { onlyOne, sampleAll, temperatureOf, type Method } from '../method';

/** One answer, as a unified diff. */
export const zeroShot = oneAnswer('unified', {
  name: 'zero-shot',
  title: 'ZeroShot',
  description: 'one answer, as a unified diff; runs no tests',
});

/** One answer, in the custom format of the paper. */
export const zeroShotPlus = oneAnswer('custom', {
  name: 'zero-shot-plus',
  title: 'ZeroShotPlus',
  description: 'one answer, in the custom format; runs no tests',
});

function oneAnswer(
  format: CandidateFormat,
  names: Pick<Method, 'name' | 'title' | 'description'>,
): Method {
  const method: Method = {
    ...names,
    ...{ runs: 'nothing', samples: 1, temperature: 0, canRefine: true },
    async produce(steps, options) {
      const asked = { format, temperature: temperatureOf(method, options) };
      return onlyOne(await sampleAll(steps, asked, { ...options, samples: 1 }));
    },
  };
  return method;
}
