import { z } from 'zod';
import { allOf, type MethodCandidate } from '../method';
import { stagesVersion, type StageWork } from './stageWork';
import { shownCode, type EditLocations } from './localisation/editLocations';
import { fittingPrompt } from './fittingPrompt';
import { repairPrompt } from './stagePrompts';

/** The code around the locations of each set, as its prompt shows it: a text for each file. */
const shownSchema = z.array(z.array(z.string()));

/** What came of the samples, for whoever reads the trace. */
export const repairSchema = z.array(
  z.object({ sample: z.number(), set: z.number(), applies: z.boolean(), patch: z.string() }),
);

/**
 * The patches of all sets of locations, in the order of their samples. Samples count from 1 through
 * all sets, and the first of each set is greedy.
 *
 * @param onCandidate called with each patch as it arrives
 */
export async function sampledRepairs(
  work: StageWork,
  sets: readonly EditLocations[],
  onCandidate: ((candidate: MethodCandidate) => void) | undefined,
): Promise<MethodCandidate[]> {
  const { steps, settings, greedy } = work;
  const { contextLines: around, repairSamples, repairTemperature } = settings;
  const of = [stagesVersion, sets, around];
  const shown = await steps.stage({ stage: 'code', of, schema: shownSchema }, async () => {
    const view = await steps.view();
    return Promise.all(sets.map((set) => shownCode(view, set, { around, isNumbered: false })));
  });
  const ofSet = async (files: readonly string[], set: number): Promise<MethodCandidate[]> => {
    if (files.length === 0) {
      steps.tell(`the locations of set ${set + 1} are in no file of the repository`);
      return [];
    }
    const prompt = await fittingPrompt(work, files, (some) =>
      repairPrompt({ ...steps.instance, files: some }),
    );
    const one = async (at: number): Promise<MethodCandidate> => {
      const sample = set * repairSamples + at + 1;
      const answer = await steps.request({
        ...{ method: 'agentless-repair', prompt, sample, isReused: repairSamples > 1 },
        temperature: at === 0 ? greedy : work.sampled(repairTemperature),
      });
      const candidate = {
        ...{ sample, answer, patch: await steps.readCode(answer.text, answer) },
        draw: { set: set + 1, sets: sets.length, round: at + 1, rounds: repairSamples },
      };
      onCandidate?.(candidate);
      return candidate;
    };
    const first = await one(0);
    const others = Array.from({ length: repairSamples - 1 }, (_, at) => one(at + 1));
    return [first, ...(await allOf(others))];
  };
  const candidates = (await allOf(shown.map(ofSet))).flat();
  const ofRepair = [stagesVersion, candidates.map(({ answer }) => answer?.key)];
  await steps.stage({ stage: 'repair', of: ofRepair, schema: repairSchema }, () =>
    Promise.resolve(
      candidates.map(({ sample, patch: { applies, patch } }) => {
        const set = Math.floor((sample - 1) / repairSamples) + 1;
        return { sample, set, applies, patch };
      }),
    ),
  );
  return candidates;
}
