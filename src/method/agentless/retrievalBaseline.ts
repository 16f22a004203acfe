import { onlyOne, temperatureOf, type Method } from '../method';

/**
 * The retrieval baseline of SWE-bench for code patches: the code files that fit the issue best by
 * BM25, and one answer as a unified diff (https://arxiv.org/abs/2310.06770, section 4).
 */
export const retrievalBaseline: Method = {
  name: 'rag',
  title: 'RAG',
  description: 'one code patch, from the files that fit the issue best by BM25; nothing runs',
  runs: 'nothing',
  samples: 1,
  temperature: 0,
  requests: (options, { contextTokens, maxOutputTokens }) => [
    {
      ...{ stage: 'candidates', count: 1 },
      ...{ inputTokens: contextTokens, outputTokens: maxOutputTokens },
      foresee: (steps, sample) => {
        const temperature = temperatureOf(retrievalBaseline, options);
        return steps.foreseeCode({ format: 'unified', sample, temperature });
      },
    },
  ],
  async produce(steps, options) {
    const temperature = temperatureOf(retrievalBaseline, options);
    const answer = await steps.sampleFix({ format: 'unified', sample: 1, temperature });
    const candidate = {
      sample: 1,
      answer,
      patch: await steps.readCode(answer.text, answer),
      ranking: { rank: 1, votes: 1 },
    };
    options.onCandidate?.(candidate);
    return onlyOne([candidate]);
  },
};
