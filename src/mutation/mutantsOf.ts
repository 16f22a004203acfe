import type { Mutant } from './mutantSchema';
import { turnsOf } from '../domain/work';
import { sha256OfJson } from '../files/digest';
import { makeUnified } from '../patch/makeUnified';
import { hindrancesInWords } from '../evaluation/results';
import { readWithin, type InstanceSession } from '../evaluation/session';
import { goldenEvidence, type EvidenceOptions } from '../evaluation/testSetRuns';
import { mutantsIn, type MadeMutant, type MutableLines } from './mutantsIn';

/** A mutant of an instance, ready to be run. */
export interface RunnableMutant extends Omit<MadeMutant, 'source'> {
  /** Unified diff on R∘X*. */
  readonly patch: string;
  /** Whether the tracer counts each line of its statement, since X* adds them all. */
  readonly isCounted: boolean;
}

/** The mutants of an instance. */
export interface MutantsOfInstance {
  /** How many there are; `mutants` may be a sample of them. */
  readonly made: number;
  /** In the order of X*, then of lines. */
  readonly mutants: readonly RunnableMutant[];
}

/**
 * The mutants of an instance: faults in the lines that X* adds and that T* or T^R execute on R∘X*.
 * They do not depend on a candidate. The golden tests and the base tests beside them run if they
 * have not yet.
 *
 * @param limit most mutants that are returned; see `sampleOf`
 * @returns why there are none, where golden or base tests do not run to their end, so that it is
 *   unknown which lines are executable
 * @throws Cancelled; what the engine throws
 */
export async function mutantsOf(
  session: InstanceSession,
  limit: number,
  options: EvidenceOptions,
): Promise<MutantsOfInstance | { readonly failure: string }> {
  const { coverage, hindrances } = await goldenEvidence(session, options);
  if (coverage === undefined) return { failure: hindrancesInWords(hindrances) };
  const added = coverage.lines
    .filter(({ change, path }) => change === 'added' && path.endsWith('.py'))
    .map(({ path, line, state }) => ({ path, line, isExecutable: state !== 'not executable' }));
  const key = JSON.stringify(added);
  const known = memories.get(session);
  const made = known?.key === key ? known.made : await makeMutants(session, added, options.signal);
  memories.set(session, { key, made });
  return { made: made.length, mutants: sampleOf(made, limit) };
}

/** The mutants that a session has made last, by the lines that they were made in. */
const memories = new WeakMap<
  InstanceSession,
  { readonly key: string; readonly made: readonly RunnableMutant[] }
>();

/** A line of R∘X* that X* adds. */
interface AddedLine {
  readonly path: string;
  readonly line: number;
  readonly isExecutable: boolean;
}

async function makeMutants(
  session: InstanceSession,
  added: readonly AddedLine[],
  signal: AbortSignal | undefined,
): Promise<RunnableMutant[]> {
  const turns = turnsOf(signal);
  const made: RunnableMutant[] = [];
  for (const path of new Set(added.map((line) => line.path))) {
    const mine = added.filter((line) => line.path === path);
    const lines: MutableLines = {
      changed: new Set(mine.map(({ line }) => line)),
      executable: new Set(mine.flatMap(({ line, isExecutable }) => (isExecutable ? [line] : []))),
    };
    const source = await readWithin(session.trees.fixed, path);
    if (source === undefined) continue;
    await turns.pause();
    for (const { source: mutated, ...mutant } of mutantsIn(
      session.python,
      { path, source },
      lines,
    )) {
      await turns.pause();
      made.push({
        ...mutant,
        patch: makeUnified([{ path, before: source, after: mutated }]),
        isCounted: mutant.statement.every((line) => lines.changed.has(line)),
      });
    }
  }
  return made;
}

/**
 * A sample that is the same for every candidate, on every machine and in every run: the mutants
 * whose digests are smallest. It is in the order of the mutants, and a larger one contains it.
 */
export function sampleOf<M extends Mutant>(mutants: readonly M[], limit: number): M[] {
  if (mutants.length <= limit) return [...mutants];
  const ranked = mutants.map((mutant, place) => {
    const { path, line, column, operator, before, after } = mutant;
    return { place, digest: sha256OfJson([path, line, column, operator, before, after]) };
  });
  ranked.sort((a, b) => (a.digest < b.digest ? -1 : a.digest > b.digest ? 1 : a.place - b.place));
  const chosen = new Set(ranked.slice(0, limit).map(({ place }) => place));
  return mutants.filter((_, place) => chosen.has(place));
}
