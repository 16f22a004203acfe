import { sampleAll, temperatureOf, type Method, type MethodCandidate } from '../method';
import { pickByOracle } from '../steps/picks';
import type { Steps } from '../steps/steps';
import { keyOf, type PatchStep, type StepOf } from '../trace';

/**
 * Several answers, of which an oracle that knows the fix picks the best, by its verdict alone. It
 * shows how good a model can be; nobody could use it in practice.
 */
export const passAt5: Method = {
  name: 'pass-at-5',
  title: 'Pass@5',
  description: 'five answers in the custom format; an oracle that knows the fix picks one',
  runs: 'oracle',
  samples: 5,
  temperature: 0.7,
  canRefine: true,
  async produce(steps, options) {
    const temperature = temperatureOf(passAt5, options);
    const sampled = await sampleAll(steps, { format: 'custom', temperature }, options);
    const candidates: MethodCandidate[] = [];
    for (const candidate of sampled) {
      if (!candidate.patch.applies) {
        candidates.push(candidate);
        continue;
      }
      const judged = { ...candidate, verdict: await verdictOn(steps, candidate.patch) };
      options.onCandidate?.(judged);
      candidates.push(judged);
    }
    const withText = candidates.filter(({ answer }) => answer?.text.trim() !== '');
    const picked = pickByOracle(
      withText.map(({ verdict }) => verdict ?? { ...nothing, applies: false }),
    );
    const chosen = picked === undefined ? undefined : withText[picked];
    return { candidates, chosen, why: whyOf(chosen) };
  },
};

const nothing = { success: false, failToPass: 0, delta: null };

/** The verdict of the oracle, which no other method may ask. */
async function verdictOn(steps: Steps, { patch }: PatchStep): Promise<StepOf<'verdict'>> {
  const { engine, timeoutSeconds, live } = steps.parts;
  const key = keyOf('verdict', await steps.tree(), patch, engine, timeoutSeconds);
  return steps.recall(
    'verdict',
    key,
    async ({ oracle }) => {
      steps.progress('consulting the oracle');
      return (await oracle()).judge(patch);
    },
    {
      isGood: ({ reason }) => reason !== 'could not run',
      within: live?.inSandbox,
      supposed: { ...nothing, applies: true, reason: '' },
    },
  );
}

function whyOf(chosen: MethodCandidate | undefined): string {
  if (chosen === undefined) return 'every answer is empty';
  const { verdict } = chosen;
  if (verdict === undefined) return 'no answer applies to R; this is the first';
  if (verdict.success) return 'the oracle grades it as a success';
  const more = verdict.failToPass > 0 ? `${verdict.failToPass} F→P` : 'no F→P';
  return `the oracle grades none as a success (${verdict.reason}, ${more})`;
}
