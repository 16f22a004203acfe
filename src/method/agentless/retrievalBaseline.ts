import { onlyOne, temperatureOf, type Method } from '../method';
import { askForFix } from '../steps/filledPrompts';
import { readCode } from '../steps/readPatch';

/**
 * The retrieval baseline of SWE-bench for code patches: the code files that fit the issue best by
 * BM25, and one answer as a unified diff (https://arxiv.org/abs/2310.06770, section 4).
 */
export const retrievalBaseline: Method = {
  name: 'rag',
  title: 'RAG',
  description: 'one code patch from the files that best match the issue by BM25; runs no tests',
  runs: 'nothing',
  samples: 1,
  temperature: 0,
  async produce(steps, options) {
    const temperature = temperatureOf(retrievalBaseline, options);
    const answer = await askForFix(steps, { format: 'unified', sample: 1, temperature });
    const candidate = {
      sample: 1,
      answer,
      patch: await readCode(steps, answer.text, answer),
      ranking: { rank: 1, votes: 1 },
    };
    options.onCandidate?.(candidate);
    return onlyOne([candidate]);
  },
};
