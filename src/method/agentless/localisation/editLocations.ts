import { z } from 'zod';
import { declarationsOf } from '../../../python/outline';
import { firstThenOthers } from '../../method';
import { askInStage, stage } from '../../steps/stages';
import type { ModelView } from '../../modelView';
import { stagesVersion, type StageWork } from '../stageWork';
import {
  intervalsOf,
  linesOfCode,
  mergedIntervals,
  shownIntervals,
  type LineInterval,
} from './codeIntervals';
import { fittingPrompt } from '../fittingPrompt';
import { readNamedPlaces, type NamedPlace } from './namedPlaces';
import type { RelatedElement } from './relatedElements';
import { editLocationsPrompt } from '../stagePrompts';

/** The lines of files to change: 1-based, both ends included, sorted, and apart from each other. */
export const locationsSchema = z.array(
  z.object({ path: z.string(), intervals: z.array(z.tuple([z.int().min(1), z.int().min(1)])) }),
);

export type EditLocations = readonly {
  readonly path: string;
  readonly intervals: readonly LineInterval[];
}[];

/** Each sample has a set of locations, which may be empty. */
export const editLocationsSchema = z.array(locationsSchema);

/** The lines of the elements in their files; the whole files where there is no element. */
export function linesOfElements(
  { steps }: Pick<StageWork, 'steps'>,
  paths: readonly string[],
  elements: readonly RelatedElement[],
): Promise<EditLocations> {
  const of = [stagesVersion, paths, elements];
  return stage(steps, { stage: 'lines', of, schema: locationsSchema }, async () => {
    const view = await steps.view();
    const { found, unknown } = await locatedIn(view, elements, paths);
    if (unknown.length > 0) {
      steps.tell(`ignored elements that do not exist: ${unknown.join(', ')}`);
    }
    if (found.length > 0) return found;
    const whole: typeof found = [];
    for (const path of paths) {
      const lines = linesOfCode((await view.tree.read(path)) ?? '').length;
      if (lines > 0) whole.push({ path, intervals: [[1, lines]] });
    }
    return whole;
  });
}

/**
 * The sets of locations that continue to the repair. A set without a location continues with the code
 * that was shown for it.
 */
export const setsToRepair = (
  sets: readonly EditLocations[],
  code: EditLocations,
): readonly EditLocations[] =>
  (sets.length > 0 ? sets : [code])
    .map((set) => (set.length > 0 ? set : code))
    .filter((set) => set.length > 0);

/** The sets of locations that the model names in samples, of the code of these lines. */
export async function editLocations(
  work: StageWork,
  code: EditLocations,
): Promise<EditLocations[]> {
  const { steps, settings, sampled } = work;
  const { locationSamples, locationTemperature } = settings;
  const temperature = sampled(locationTemperature);
  const of = [stagesVersion, code, locationSamples, temperature, steps.contextTokens];
  const schema = editLocationsSchema;
  return stage(steps, { stage: 'locations', of, schema }, async () => {
    const view = await steps.view();
    const shown = await shownCode(view, code, { around: 0, isNumbered: true });
    if (shown.length === 0) return [];
    const prompt = await fittingPrompt(work, shown, (files) =>
      editLocationsPrompt({ ...steps.instance, files }),
    );
    const paths = code.map(({ path }) => path);
    const asked = { method: 'agentless-locations', prompt, temperature };
    return firstThenOthers(
      locationSamples,
      (sample) => askInStage(steps, { ...asked, sample, isReused: locationSamples > 1 }),
      async (sample, { text }) => {
        const { places, unknown: files } = readNamedPlaces(text, paths);
        const { found, unknown } = await locatedIn(view, places, paths);
        const ignored = [...files, ...unknown];
        if (ignored.length > 0) {
          steps.tell(
            `ignored locations of sample ${sample} that were not shown: ${ignored.join(', ')}`,
          );
        }
        if (found.length === 0) steps.tell(`sample ${sample} names no location`);
        return found;
      },
    );
  });
}

/** The lines of named places, in the order of the files. */
async function locatedIn(
  { tree, python }: ModelView,
  places: readonly NamedPlace[],
  paths: readonly string[],
) {
  const found: { path: string; intervals: [number, number][] }[] = [];
  const missing: string[] = [];
  for (const path of paths) {
    const own = places.filter((place) => place.path === path);
    const source = own.length === 0 ? undefined : await tree.read(path);
    if (source === undefined) continue;
    const lines = linesOfCode(source).length;
    const { intervals, unknown } = intervalsOf(own, declarationsOf(python, source), lines);
    missing.push(...unknown.map((each) => `${each} of ${path}`));
    const merged = mergedIntervals(intervals, { around: 0, lines });
    if (merged.length > 0) found.push({ path, intervals: merged.map(([a, b]) => [a, b]) });
  }
  return { found, unknown: missing };
}

/**
 * The code of some lines as prompts show it, a text for each file.
 *
 * @param options.around lines that are shown before and after each interval
 */
export async function shownCode(
  { tree }: Pick<ModelView, 'tree'>,
  code: EditLocations,
  { around, isNumbered }: { readonly around: number; readonly isNumbered: boolean },
): Promise<string[]> {
  const shown: string[] = [];
  for (const { path, intervals } of code) {
    const source = await tree.read(path);
    if (source === undefined) continue;
    const lines = linesOfCode(source).length;
    const merged = mergedIntervals(intervals, { around, lines }).filter(([a, b]) => a <= b);
    if (merged.length > 0) shown.push(shownIntervals(path, source, merged, { isNumbered }));
  }
  return shown;
}
