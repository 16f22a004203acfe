import { z } from 'zod';
import { skeletonOf } from '../../../python/outline';
import { stage } from '../../steps/stages';
import { askOnce, stagesVersion, type StageWork } from '../stageWork';
import { fittingPrompt } from '../fittingPrompt';
import { readNamedPlaces } from './namedPlaces';
import { relatedElementsPrompt } from '../stagePrompts';

/** Classes, functions and variables of files of R. */
const relatedElementsSchema = z.array(
  z.object({
    path: z.string(),
    kind: z.enum(['class', 'function', 'variable']),
    name: z.string(),
  }),
);

export type RelatedElement = z.infer<typeof relatedElementsSchema>[number];

/** What the model wants to read of these files, of which it sees the skeletons. May be empty. */
export function relatedElements(
  work: StageWork,
  paths: readonly string[],
): Promise<RelatedElement[]> {
  const { steps, greedy } = work;
  const of = [stagesVersion, paths, greedy, steps.contextTokens];
  return stage(steps, { stage: 'elements', of, schema: relatedElementsSchema }, async () => {
    const { tree, python } = await steps.view();
    const isExact = steps.parts.walk?.knowsOutputs !== false;
    const files: string[] = [];
    for (const path of paths) {
      const source = await tree.read(path);
      if (source === undefined) steps.tell(`ignored ${path}: the repository has no such file`);
      // A file that nobody has named yet may have a longer skeleton than the largest files have.
      else files.push(`### ${path}\n${isExact ? skeletonOf(python, source) : source}`);
    }
    if (files.length === 0) return [];
    const prompt = await fittingPrompt(work, files, (skeletons) =>
      relatedElementsPrompt({ ...steps.instance, skeletons }),
    );
    const { places, unknown } = readNamedPlaces(await askOnce(work, 'elements', prompt), paths);
    if (unknown.length > 0) {
      steps.tell(`ignored elements of files that were not shown: ${unknown.join(', ')}`);
    }
    const elements = places.filter((place) => place.kind !== 'lines');
    if (elements.length === 0)
      steps.tell('the model names no element; continuing with whole files');
    return elements;
  });
}
