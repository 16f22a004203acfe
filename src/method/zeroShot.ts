import { onlyOne, sampleAll, temperatureOf, type Method } from './method';
import { candidateRequests } from './estimate/declaredRequests';

/** One answer, as a unified diff. */
export const zeroShot: Method = {
  name: 'zero-shot',
  title: 'ZeroShot',
  description: 'one answer, as a unified diff; nothing runs',
  runs: 'nothing',
  samples: 1,
  temperature: 0,
  canRefine: true,
  requests: (options, sizes) => [
    candidateRequests(
      { format: 'unified', samples: 1, temperature: temperatureOf(zeroShot, options) },
      sizes,
    ),
  ],
  async produce(steps, options) {
    const temperature = temperatureOf(zeroShot, options);
    const asked = { format: 'unified', temperature } as const;
    return onlyOne(await sampleAll(steps, asked, { ...options, samples: 1 }));
  },
};
