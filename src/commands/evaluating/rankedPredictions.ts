import { loadPredictions } from '../../dataset/predictions';
import { messageOf, systemCode, throwIfAborted, type Reporter } from '../../domain/work';
import type { Instance, Prediction } from '../../domain/instance';
import { hasDrawn, readStages, tracedStages, type InstanceInTrace } from './tracedStages';

interface RankedWork {
  readonly instances: readonly Instance[];
  readonly signal: AbortSignal;
  readonly reporter: Pick<Reporter, 'log'>;
}

/** What `repair` appends to the name of its predictions for all patches, ranked. */
const rankedEnding = '.ranked.jsonl';

/**
 * Code patches with what `repair` wrote beside them: for a file of ranked patches the costs of its
 * predictions, with the predictions of instances that have no ranked patch; and the stages in the
 * trace. What is not there is left out, and what cannot be read is logged.
 *
 * @param origins for each code patch its file; undefined where it has none
 * @throws Cancelled
 */
export async function withFilesOfRepair(
  repairs: readonly Prediction[],
  origins: readonly (string | undefined)[],
  work: RankedWork,
): Promise<Prediction[]> {
  const found = [...repairs];
  for (const file of new Set(origins)) {
    if (file === undefined) continue;
    const places = [...repairs.keys()].filter((at) => origins[at] === file);
    const own = places.flatMap((at) => repairs[at] ?? []);
    const isRanked = file.endsWith(rankedEnding);
    const base = isRanked ? file.slice(0, -rankedEnding.length) : file;
    const all = isRanked ? await withBase(own, base, work) : own;
    // Those that the file does not have come last.
    for (const [index, repair] of (await withStages(all, `${base}.trace.jsonl`, work)).entries()) {
      found[places[index] ?? found.length] = repair;
    }
  }
  return found;
}

const isFirst = ({ sample = 1 }: Prediction): boolean => sample === 1;

/** Ranked patches with the costs of the predictions that were made of them. */
async function withBase(
  ranked: readonly Prediction[],
  base: string,
  { instances, reporter }: RankedWork,
): Promise<readonly Prediction[]> {
  const known = { entries: instances, problems: [] };
  const chosen = await loadPredictions(base, instances, known, 'repair').catch((error: unknown) => {
    reporter.log(`costs are unknown because ${base} cannot be read (${messageOf(error)})`);
    return { predictions: [] };
  });
  const keyOf = ({ instanceId, model }: Prediction): string => JSON.stringify([instanceId, model]);
  const rows = new Map(chosen.predictions.map((each) => [keyOf(each), each]));
  const models = new Set(ranked.map(({ model }) => model));
  const those = new Set(ranked.map(keyOf));
  const others = chosen.predictions.filter(
    (each) => models.has(each.model) && !those.has(keyOf(each)),
  );
  return [
    ...ranked.map((each) => {
      const { cost, madeBy } = (isFirst(each) ? rows.get(keyOf(each)) : undefined) ?? {};
      return { ...each, ...(cost && { cost }), ...(madeBy && { madeBy }) };
    }),
    ...others,
  ];
}

/** Patches whose first sample has the stages of its instance. */
async function withStages(
  repairs: readonly Prediction[],
  trace: string,
  { signal, reporter }: RankedWork,
): Promise<readonly Prediction[]> {
  const found = await readStages(trace, signal).catch((error: unknown) => {
    throwIfAborted(signal);
    if (systemCode(error) !== 'ENOENT') {
      reporter.log(`stages are unknown because ${trace} cannot be read (${messageOf(error)})`);
    }
    return new Map<string, InstanceInTrace>();
  });
  return repairs.map((repair) => {
    const own = isFirst(repair) ? found.get(repair.instanceId) : undefined;
    if (own === undefined) return repair;
    const { ranked, patch, madeBy } = repair;
    if (ranked !== undefined && !hasDrawn(own.outputs, { sample: ranked.sample, patch })) {
      reporter.log(
        `${repair.instanceId}: ${trace} ends with a different run, so its stages are ignored`,
      );
      return repair;
    }
    const stages = tracedStages(own, madeBy?.model);
    return stages === undefined ? repair : { ...repair, stages };
  });
}
