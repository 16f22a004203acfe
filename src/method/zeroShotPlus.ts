import { onlyOne, sampleAll, temperatureOf, type Method } from './method';
import { candidateRequests } from './estimate/declaredRequests';

/** One answer, in the custom format of the paper. */
export const zeroShotPlus: Method = {
  name: 'zero-shot-plus',
  title: 'ZeroShotPlus',
  description: 'one answer, in the custom format; nothing runs',
  runs: 'nothing',
  samples: 1,
  temperature: 0,
  canRefine: true,
  requests: (options, sizes) => [
    candidateRequests(
      { format: 'custom', samples: 1, temperature: temperatureOf(zeroShotPlus, options) },
      sizes,
    ),
  ],
  async produce(steps, options) {
    const temperature = temperatureOf(zeroShotPlus, options);
    const asked = { format: 'custom', temperature } as const;
    return onlyOne(await sampleAll(steps, asked, { ...options, samples: 1 }));
  },
};
