import { allOf, sampleAll, temperatureOf, type Method, type MethodCandidate } from './method';
import {
  candidateRequests,
  type ForeseeableRequests,
  type RequestSizes,
} from './estimate/declaredRequests';
import { pickByLibro } from './picks';
import { failsOnR, judgeMethod, mostFailureTokens } from './steps';

/**
 * Several answers, each run on R. The model judges those that fail there; it sees R with the
 * candidate and what R does without it (the paper's appendix B).
 */
export const libro: Method = {
  name: 'libro',
  title: 'LIBRO',
  description:
    'five answers in the custom format; they run on R, and the model judges the failures',
  runs: 'R',
  samples: 5,
  temperature: 0.7,
  canRefine: true,
  requests: (options, sizes) => [
    candidateRequests(
      {
        ...{ format: 'custom', samples: options.samples },
        temperature: temperatureOf(libro, options),
      },
      sizes,
    ),
    judgeRequests(options.samples, sizes),
  ],
  async produce(steps, options) {
    const temperature = temperatureOf(libro, options);
    const sampled = await sampleAll(steps, { format: 'custom', temperature }, options);
    const ran: MethodCandidate[] = [];
    for (const candidate of sampled) {
      if (!candidate.patch.applies) {
        ran.push(candidate);
        continue;
      }
      const known = { ...candidate, run: await steps.runOnR(candidate.patch) };
      options.onCandidate?.(known);
      ran.push(known);
    }
    const failing = ran.filter(fails);
    // A single one needs no judgement, which saves a request.
    const toJudge = new Set(failing.map(({ patch }) => patch.patch)).size > 1 ? failing : [];
    // The judge is asked only once, so its likeliest answer is best.
    const judgeTemperature = options.temperature === null ? undefined : 0;
    const judge = async (candidate: MethodCandidate): Promise<MethodCandidate> => {
      const { patch, run } = candidate;
      if (run === undefined || !toJudge.includes(candidate)) return candidate;
      const { matches } = await steps.judge(patch, run, judgeTemperature);
      const judged = { ...candidate, matches };
      options.onCandidate?.(judged);
      return judged;
    };
    const candidates = await allOf(ran.map(judge));
    const withText = candidates.filter(({ answer }) => answer?.text.trim() !== '');
    const picked = pickByLibro(
      withText.map((each) => ({
        applies: each.patch.applies,
        fails: fails(each),
        matches: each.matches,
        length: each.patch.patch.length,
      })),
    );
    const chosen = picked === undefined ? undefined : withText[picked];
    return { candidates, chosen, why: whyOf(chosen, failing.length) };
  },
};

/** Tokens of a request to the judge beside the issue, and of its answer, as an estimate. */
const judged = { prompt: 2000, answer: 300 };
/** Tokens of the judge's prompt without the issue, the candidate and its failures. */
const judgeFrame = 500;

/**
 * The requests to the judge, one for each candidate that fails on R. The bound has a whole answer as
 * the candidate, and failures as long as they are shown.
 */
const judgeRequests = (
  samples: number,
  { issueTokens, maxOutputTokens }: RequestSizes,
): ForeseeableRequests => ({
  ...{ stage: 'judge', count: samples, isAtMost: true },
  inputTokens: issueTokens + judged.prompt,
  outputTokens: Math.min(judged.answer, maxOutputTokens),
  foresee: (steps, sample) => {
    const inputTokens = issueTokens + judgeFrame + maxOutputTokens + mostFailureTokens;
    return steps.foreseeBound({ method: judgeMethod, sample, inputTokens });
  },
});

const fails = ({ run }: MethodCandidate): boolean => run !== undefined && failsOnR(run);

function whyOf(chosen: MethodCandidate | undefined, failing: number): string {
  if (chosen === undefined) return 'every answer is empty';
  if (!chosen.patch.applies) return 'no answer applies to R; this is the first';
  if (!fails(chosen)) return 'no answer fails on R; this is the shortest that applies';
  if (failing === 1) return 'the only one that fails on R';
  if (chosen.matches === true) return 'the shortest that fails on R as the issue says';
  return chosen.matches === undefined
    ? 'the shortest that fails on R'
    : 'the shortest that fails on R, none of them as the issue says';
}
