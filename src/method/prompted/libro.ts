import { allOf, sampleAll, temperatureOf, type Method, type MethodCandidate } from '../method';
import { pickByLibro } from '../steps/picks';
import { failsOnR, runOnR } from '../steps/candidateRun';
import { judge as judgeWith } from '../steps/judge';

/**
 * Several answers, each run on R. The model judges those that fail there; it sees R with the
 * candidate and what R does without it (the paper's appendix B).
 */
export const libro: Method = {
  name: 'libro',
  title: 'LIBRO',
  description: 'five answers in the custom format run on R; the model judges the failures',
  runs: 'R',
  samples: 5,
  temperature: 0.7,
  canRefine: true,
  async produce(steps, options) {
    const temperature = temperatureOf(libro, options);
    const sampled = await sampleAll(steps, { format: 'custom', temperature }, options);
    const ran: MethodCandidate[] = [];
    for (const candidate of sampled) {
      if (!candidate.patch.applies) {
        ran.push(candidate);
        continue;
      }
      const known = { ...candidate, run: await runOnR(steps, candidate.patch) };
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
      const { matches } = await judgeWith(steps, patch, run, judgeTemperature);
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

const fails = ({ run }: MethodCandidate): boolean => run !== undefined && failsOnR(run);

function whyOf(chosen: MethodCandidate | undefined, failing: number): string {
  if (chosen === undefined) return 'every answer is empty';
  if (!chosen.patch.applies) return 'no answer applies to R; this is the first';
  if (!fails(chosen)) return 'no answer fails on R; this is the shortest that applies';
  if (failing === 1) return 'the only answer that fails on R';
  if (chosen.matches === true) return 'the shortest answer that fails on R as the issue says';
  return chosen.matches === undefined
    ? 'the shortest answer that fails on R'
    : 'the shortest answer that fails on R; none fails as the issue says';
}
