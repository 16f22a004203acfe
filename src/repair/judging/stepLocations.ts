import {
  type EditedPlaces,
  keepsPlaces,
  type KeptPlaces,
  type StepLocation,
} from '../../study/resolution';
import { type KeptCode } from '../../domain/instance';
import { findDefinitions, type Definition } from '../../python/definitions';
import type { PythonParser } from '../../python/parser';
import { definitionAround } from './editedPlaces';

/**
 * How much each step of localisation keeps, and whether it keeps all places of X*.
 *
 * @param golden the places that X* edits
 * @param read a file of R; undefined where R has none
 */
export async function stepLocations(
  kept: readonly KeptCode[],
  golden: readonly EditedPlaces[],
  read: (path: string) => Promise<string | undefined>,
  python: PythonParser,
): Promise<StepLocation[]> {
  const files = new Map<string, FileOfR>();
  for (const path of new Set(kept.flatMap((each) => each.files.map((file) => file.path)))) {
    const source = await read(path);
    if (source === undefined) continue;
    const definitions = path.endsWith('.py') ? findDefinitions(python, source) : [];
    files.set(path, { lines: numberOfLines(source), definitions });
  }
  return kept.map(({ step, set, files: ofStep }) => {
    const places = ofStep.flatMap(({ path, intervals }) => {
      const file = files.get(path);
      return file === undefined ? [] : [keptPlaces(path, file, intervals)];
    });
    return {
      step,
      ...(set === undefined ? {} : { set }),
      lines: places.reduce(
        (sum, { path, lines }) =>
          sum + (lines === 'all' ? (files.get(path)?.lines ?? 0) : lines.size),
        0,
      ),
      contains: keepsPlaces(places, golden),
    };
  });
}

interface FileOfR {
  readonly lines: number;
  readonly definitions: readonly Definition[];
}

function numberOfLines(text: string): number {
  const lines = text.split('\n');
  return lines.at(-1) === '' ? lines.length - 1 : lines.length;
}

function keptPlaces(
  path: string,
  file: FileOfR,
  intervals: KeptCode['files'][number]['intervals'],
): KeptPlaces {
  if (intervals === undefined) return { path, lines: 'all', functions: new Set() };
  const lines = new Set<number>();
  for (const [first, last] of intervals) {
    for (let line = first; line <= Math.min(last, file.lines); line += 1) lines.add(line);
  }
  const functions = [...lines].map((line) => definitionAround(file.definitions, line));
  return { path, lines, functions: new Set(functions) };
}
