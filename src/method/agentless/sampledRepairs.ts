import { z } from 'zod';
import { allOf, firstThenOthers, type MethodCandidate } from '../method';
import { readCode } from '../steps/readPatch';
import { askInStage, stage } from '../steps/stages';
import { stagesVersion, type StageWork } from './stageWork';
import { shownCode, type EditLocations } from './localisation/editLocations';
import { fittingPrompt } from './fittingPrompt';
import { repairPrompt } from './stagePrompts';

/** The code around the locations of each set, as its prompt shows it: a text for each file. */
const shownSchema = z.array(z.array(z.string()));

/** The outcome of the samples, for whoever reads the trace. */
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
  const shown = await stage(steps, { stage: 'code', of, schema: shownSchema }, async () => {
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
    const numberOf = (round: number): number => set * repairSamples + round;
    return firstThenOthers(
      repairSamples,
      (round) =>
        askInStage(steps, {
          ...{ method: 'agentless-repair', prompt, sample: numberOf(round) },
          ...{ isReused: repairSamples > 1 },
          temperature: round === 1 ? greedy : work.sampled(repairTemperature),
        }),
      async (round, answer) => {
        const candidate = {
          ...{ sample: numberOf(round), answer },
          patch: await readCode(steps, answer.text, answer),
          draw: { set: set + 1, sets: sets.length, round, rounds: repairSamples },
        };
        onCandidate?.(candidate);
        return candidate;
      },
    );
  };
  const candidates = (await allOf(shown.map(ofSet))).flat();
  const ofRepair = [stagesVersion, candidates.map(({ answer }) => answer?.key)];
  await stage(steps, { stage: 'repair', of: ofRepair, schema: repairSchema }, () =>
    Promise.resolve(
      candidates.map(({ sample, patch: { applies, patch } }) => {
        const set = Math.floor((sample - 1) / repairSamples) + 1;
        return { sample, set, applies, patch };
      }),
    ),
  );
  return candidates;
}
