import { HumanError } from '../../domain/work';
import type { Instance } from '../../domain/instance';
import type { Dataset } from '../../dataset/dataset';
import { isBuiltIn, loadPredictions } from '../../dataset/predictions';
import { type GenerationRequest, surrogateFixes } from '../../method/generating';

/**
 * The surrogate fixes of files, as the output of the stage that would ask for them.
 *
 * @param from files of predictions with code patches
 * @param told called with what could not be read
 * @throws HumanError when a file cannot be read, or would give the answer; Cancelled
 */
export async function givenFixes(
  from: readonly string[],
  instances: readonly Instance[],
  dataset: Dataset,
  told: (line: string) => void,
): Promise<NonNullable<GenerationRequest['givenStages']>> {
  const madeUp = from.find(isBuiltIn);
  if (madeUp !== undefined) {
    throw new HumanError(
      `--fixes-from ${madeUp} would use the golden patch, which no method may see`,
      'Specify prediction files, such as those written by `swt-bench repair`',
    );
  }
  const { predictions, problems } = await loadPredictions(from, instances, dataset, 'repair');
  for (const problem of problems) told(problem);
  return new Map(
    instances.map(({ id }) => [
      id,
      new Map([
        [
          surrogateFixes,
          predictions.filter(({ instanceId }) => instanceId === id).map(({ patch }) => patch),
        ],
      ]),
    ]),
  );
}
