import { markedAsOracle } from '../../domain/answerSeen';
import type { AgentlessAblation, Total } from '../studyReportSchema';
import { type RankedPatch, placeOfDraw, rankPatches } from '../../domain/ranking';
import { granularities } from './correctLocation';
import type { JudgedRepair, RepairRun } from './judgedRepair';
import type { StepLocation } from './localisation';
import { localisationSteps } from '../../domain/instance';

/** How much a step of localisation keeps, and of X*. */
export type LocalisationRow = AgentlessAblation['localisation'][number];
/** The choice among the first samples. */
export type SamplesRow = AgentlessAblation['samples'][number];
/** The choice by some of the tests, and votes. */
export type SelectionRow = AgentlessAblation['selection'][number];
export type SelectionKind = SelectionRow['by'];
type Resolved = Pick<SamplesRow, 'resolved' | 'strictlyResolved'>;

/** Numbers of samples that are compared, as far as a run has them; and all of them. */
const comparedSamples = [1, 4, 10, 20, 40];

/**
 * The ablations of the models whose judged patches say how they were localised or ranked. What is
 * chosen depends on what the pipeline has recorded, never on a judgement.
 */
export function agentlessAblations(runs: readonly RepairRun[]): AgentlessAblation[] {
  const parts = runs.flatMap((run) => {
    const models = new Set(run.judged.filter(isOfStages).map(({ model }) => model));
    return [...models].map((model) => ({ run, model }));
  });
  return parts.map(({ run, model }) => {
    const owners = runs.filter(({ judged }) => judged.some((each) => each.model === model));
    return ablationOf(run, model, owners.length === 1 ? model : `${model} [${run.label}]`);
  });
}

const isOfStages = ({ ranked, stages }: JudgedRepair): boolean =>
  ranked !== undefined || stages !== undefined;

function ablationOf(run: RepairRun, model: string, name: string): AgentlessAblation {
  const byInstance = new Map<string, JudgedRepair[]>(run.instances.map(({ id }) => [id, []]));
  for (const each of run.judged) {
    if (each.model === model) byInstance.get(each.instance)?.push(each);
  }
  const instances = [...byInstance.values()];
  const madeBy = instances.flat().find((each) => each.madeBy !== undefined)?.madeBy;
  const patches = instances.map((all) => all.flatMap((judged) => rankedOf(judged)));
  const usesAnswer = instances.flat().some(({ oracle }) => oracle === true);
  return {
    name: usesAnswer ? markedAsOracle(name) : name,
    ...{ model, selected: instances.length, unfinished: run.unfinished === true },
    ...(madeBy === undefined ? {} : { madeBy }),
    localisation: localisationRows(instances),
    samples: samplesRows(patches),
    selection: selectionRows(instances, patches),
  };
}

/** A ranked patch with its judgement. */
interface JudgedPatch {
  readonly judged: JudgedRepair;
  readonly ranked: RankedPatch;
}

const rankedOf = (judged: JudgedRepair): JudgedPatch[] =>
  judged.ranked === undefined ? [] : [{ judged, ranked: judged.ranked }];

function localisationRows(instances: readonly (readonly JudgedRepair[])[]): LocalisationRow[] {
  const stages = instances.flatMap((all) => all.find((each) => each.stages)?.stages ?? []);
  const located = stages.flatMap((each) => each.located);
  const sets = [...new Set(located.map(({ set }) => set ?? 0))].sort((one, other) => one - other);
  return localisationSteps.flatMap((step) =>
    sets.flatMap((set): LocalisationRow[] => {
      const rows = located.filter((each) => each.step === step && (each.set ?? 0) === set);
      if (rows.length === 0) return [];
      const contains = granularities.map((each) => [
        each,
        rows.filter((row) => row.contains[each]).length,
      ]);
      const dollars = totalDollars(stages, dollarsOfStep[step]);
      return [
        {
          step,
          ...(set === 0 ? {} : { set }),
          known: rows.length,
          contains: Object.fromEntries(contains) as LocalisationRow['contains'],
          lines: rows.reduce((sum, { lines }) => sum + lines, 0) / rows.length,
          // All sets together cost what their requests cost.
          ...(dollars === undefined || set > 0 ? {} : { dollars }),
        },
      ];
    }),
  );
}

/** The stages whose requests a step needs. */
const dollarsOfStep: Readonly<Record<StepLocation['step'], readonly string[]>> = {
  files: ['files'],
  retrieval: ['folders', 'retrieval'],
  combined: ['files', 'folders', 'retrieval'],
  elements: ['elements'],
  locations: ['locations'],
};

/** Dollars for some stages, over the instances that know them. */
function totalDollars(
  stages: readonly NonNullable<JudgedRepair['stages']>[],
  names: readonly string[],
): Total | undefined {
  const sums = stages.flatMap(({ dollars }) =>
    dollars === undefined ? [] : [names.reduce((sum, name) => sum + (dollars[name] ?? 0), 0)],
  );
  const sum = sums.reduce((before, value) => before + value, 0);
  return sums.length === 0 ? undefined : { sum, known: sums.length, mean: sum / sums.length };
}

function samplesRows(patches: readonly (readonly JudgedPatch[])[]): SamplesRow[] {
  const draws = patches.flat().map(({ ranked: { draw } }) => draw.sets * draw.rounds);
  const most = Math.max(0, ...draws);
  const numbers = [...comparedSamples.filter((number) => number < most), most];
  if (most === 0) return [];
  return numbers.map((samples) => {
    const first = patches.map((all) =>
      all.filter(({ ranked }) => placeOfDraw(ranked.draw) <= samples),
    );
    const any = first.filter((all) => all.some(({ judged }) => judged.status === 'resolved'));
    return { samples, ...resolvedBy(first, 'both'), any: any.length };
  });
}

function selectionRows(
  instances: readonly (readonly JudgedRepair[])[],
  patches: readonly (readonly JudgedPatch[])[],
): SelectionRow[] {
  const all = patches.flat();
  if (all.length === 0) return [];
  const stages = instances.flatMap((each) => each.find((one) => one.stages)?.stages ?? []);
  const isKnown = (test: keyof typeof evidence): boolean =>
    all.some(({ ranked }) => ranked[evidence[test]] !== undefined);
  return selections
    .filter((by) => testsOf[by].every(isKnown))
    .map((by) => {
      const dollars = totalDollars(stages, testsOf[by]);
      return {
        ...{ by, ...resolvedBy(patches, by) },
        ...(dollars === undefined ? {} : { dollars }),
      };
    });
}

/** What a patch says of each kind of tests. */
const evidence = { regression: 'regressions', reproduction: 'reproduction' } as const;

/** The tests of each way to choose. */
const testsOf: Readonly<Record<SelectionKind, readonly (keyof typeof evidence)[]>> = {
  votes: [],
  regression: ['regression'],
  reproduction: ['reproduction'],
  both: ['regression', 'reproduction'],
};

/** What decides between the patches, in the order of the paper's table. */
export const selections = Object.keys(testsOf) as readonly SelectionKind[];

/** Counts the instances whose chosen patch is resolved. */
function resolvedBy(patches: readonly (readonly JudgedPatch[])[], by: SelectionKind): Resolved {
  const chosen = patches.flatMap((all) => chosenPatch(all, by) ?? []);
  return {
    resolved: chosen.filter(({ judged }) => judged.status === 'resolved').length,
    strictlyResolved: chosen.filter(({ judged }) => judged.strict?.resolved === true).length,
  };
}

/** The patch that the pipeline would choose with these tests alone. */
function chosenPatch(patches: readonly JudgedPatch[], by: SelectionKind): JudgedPatch | undefined {
  const tests = testsOf[by];
  const places = rankPatches(
    patches.map(({ ranked: { sample, group, regressions, reproduction } }) => ({
      ...{ sample, same: group },
      regressions: tests.includes('regression') ? regressions : undefined,
      reproduction: tests.includes('reproduction') ? reproduction : undefined,
    })),
  );
  return patches.find((_, at) => places[at]?.rank === 1);
}
