import { studyReportSchema } from '../../../src/study/studyReportSchema';
import type { ReproductionAnswer, RankedPatch } from '../../../src/domain/ranking';
import { studyReport, reportCsv, reportMarkdown, reportText } from '../../../src/study/reportText';
import {
  type SelectionKind,
  agentlessAblations,
  selections,
} from '../../../src/study/resolution/agentlessAblation';
import type { JudgedRepair, RepairRun } from '../../../src/study/resolution/judgedRepair';
import { studyDocument } from '../../../src/study/document/studyDocument';
import assert from 'node:assert/strict';

const facts = (id: string) => ({ id, repo: 'a/b', created: '', issueLength: 1 });
type Stages = NonNullable<JudgedRepair['stages']>;

interface Patch {
  readonly ranked: RankedPatch;
  readonly isResolved: boolean;
  readonly isStrict: boolean;
}

/** The judged patches of an instance, the first of which has the stages. */
const judgedOf = (
  instance: string,
  patches: readonly Patch[],
  more: Partial<JudgedRepair> = {},
): JudgedRepair[] =>
  patches.map(({ ranked, isResolved, isStrict }, at) => ({
    ...{ instance, model: 'agentless/m', sample: at + 1, seconds: 0, ranked },
    status: isResolved ? 'resolved' : 'unresolved',
    strict: { resolved: isStrict, reason: isStrict ? 'resolved' : 'still fails', explanation: '' },
    ...(at === 0 ? more : {}),
  }));

const runOf = (judged: readonly JudgedRepair[], ids: readonly string[]): RepairRun => ({
  label: 'run',
  instances: ids.map(facts),
  judged,
});

/** Numbers from 0 that a seed decides. */
function numbersOf(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * most);
  };
}

/** Some patches of an instance with 3 sets of 4 samples, of which not all apply. */
function patchesOf(below: (most: number) => number): Patch[] {
  const said: readonly ReproductionAnswer[] = ['Issue resolved', 'Issue reproduced', 'none'];
  const kinds = Array.from({ length: 4 }, () => ({
    ...{ regressions: below(3), reproduction: said[below(3)] ?? ('none' as const) },
    ...{ isResolved: below(2) === 0, isStrict: below(2) === 0 },
  }));
  const firstOf = new Map<number, number>();
  const patches: Patch[] = [];
  for (let sample = 1; sample <= 12; sample += 1) {
    if (below(4) === 0) continue;
    const kind = below(4);
    if (!firstOf.has(kind)) firstOf.set(kind, sample);
    const { isResolved, isStrict, ...tested } = kinds[kind] as (typeof kinds)[number];
    const draw = {
      ...{ set: Math.ceil(sample / 4), sets: 3 },
      ...{ round: ((sample - 1) % 4) + 1, rounds: 4 },
    };
    const group = firstOf.get(kind) ?? 0;
    patches.push({ ranked: { sample, draw, group, ...tested }, isResolved, isStrict });
  }
  return patches;
}

/** The choice of the paper, by filters and a vote. */
function chosenByFilters(patches: readonly Patch[], by: SelectionKind): Patch | undefined {
  let left = [...patches].sort((one, other) => one.ranked.sample - other.ranked.sample);
  if (by === 'regression' || by === 'both') {
    const fewest = Math.min(...left.map(({ ranked }) => ranked.regressions ?? 0));
    left = left.filter(({ ranked }) => ranked.regressions === fewest);
  }
  if (by === 'reproduction' || by === 'both') {
    const resolving = left.filter(({ ranked }) => ranked.reproduction === 'Issue resolved');
    if (resolving.length > 0) left = resolving;
  }
  const votesOf = ({ ranked: { group } }: Patch): number =>
    left.filter(({ ranked }) => ranked.group === group).length;
  return left.find((each) => left.every((other) => votesOf(other) <= votesOf(each)));
}

describe('ablations of Agentless', () => {
  it('choose as the paper does, among the first samples and with fewer tests', () => {
    for (let seed = 1; seed <= 60; seed += 1) {
      const below = numbersOf(seed);
      const all = Array.from({ length: 4 }, () => patchesOf(below));
      const ids = all.map((_, at) => `i${at}`);
      const judged = all.flatMap((patches, at) => judgedOf(`i${at}`, patches));
      const [found] = agentlessAblations([runOf(judged, [...ids, 'without patches'])]);
      const countOf = (chosen: readonly (Patch | undefined)[]) => ({
        resolved: chosen.filter((each) => each?.isResolved).length,
        strictlyResolved: chosen.filter((each) => each?.isStrict).length,
      });
      assert.deepEqual(
        found?.samples,
        [1, 4, 10, 12].map((samples) => {
          const first = all.map((patches) =>
            patches.filter(({ ranked: { draw } }) => {
              const before = Array.from({ length: 12 }, (_, at) => [at % 3, Math.floor(at / 3)]);
              return before
                .slice(0, samples)
                .some(
                  ([set, round]) => draw.set === (set ?? 0) + 1 && draw.round === (round ?? 0) + 1,
                );
            }),
          );
          const any = first.filter((patches) => patches.some(({ isResolved }) => isResolved));
          return {
            samples,
            ...countOf(first.map((patches) => chosenByFilters(patches, 'both'))),
            any: any.length,
          };
        }),
        `seed ${seed}`,
      );
      assert.deepEqual(
        found.selection,
        selections.map((by) => ({
          by,
          ...countOf(all.map((patches) => chosenByFilters(patches, by))),
        })),
        `seed ${seed}`,
      );
      assert.equal(found.selected, 5);
    }
  });

  const places = (file: boolean, inside: boolean, line: boolean) => ({
    contains: { file, function: inside, line },
  });
  const stages: readonly Stages[] = [
    {
      located: [
        { step: 'files', lines: 100, ...places(true, true, true) },
        { step: 'elements', lines: 20, ...places(true, true, false) },
        { step: 'locations', lines: 9, ...places(true, false, false) },
        { step: 'locations', set: 1, lines: 6, ...places(true, false, false) },
        { step: 'locations', set: 2, lines: 3, ...places(false, false, false) },
      ],
      dollars: { files: 0.5, locations: 0.25, regression: 0.125, reproduction: 1 },
    },
    { located: [{ step: 'files', lines: 50, ...places(false, false, false) }] },
  ];
  const draw = { set: 1, sets: 2, round: 1, rounds: 1 };
  const patch = (sample: number, ranked: Partial<RankedPatch>, isResolved: boolean): Patch => ({
    ranked: { sample, group: sample, draw: { ...draw, set: sample }, ...ranked },
    ...{ isResolved, isStrict: isResolved },
  });
  const [first, second] = stages;
  const run = runOf(
    [
      ...judgedOf('i1', [patch(2, { regressions: 0 }, true), patch(1, { regressions: 1 }, false)], {
        ...(first && { stages: first }),
        madeBy: { method: 'agentless', model: 'm' },
      }),
      {
        ...{ instance: 'i2', model: 'agentless/m', sample: 1, status: 'empty patch', seconds: 0 },
        ...(second && { stages: second }),
      },
      { instance: 'i1', model: 'rag/m', sample: 1, status: 'resolved', seconds: 0 },
    ],
    ['i1', 'i2', 'i3'],
  );

  it('say how far each step localises, and what is known', () => {
    const [found, ...others] = agentlessAblations([run]);
    assert.deepEqual(others, []);
    assert.deepEqual(
      found?.localisation.map(({ step, set, known, contains, lines, dollars }) => [
        `${step} ${set ?? ''}`.trim(),
        ...[known, contains.file, contains.function, contains.line, lines, dollars?.mean],
      ]),
      [
        ['files', 2, 1, 1, 1, 75, 0.5],
        ['elements', 1, 1, 1, 0, 20, 0],
        ['locations', 1, 1, 0, 0, 9, 0.25],
        ['locations 1', 1, 1, 0, 0, 6, undefined],
        ['locations 2', 1, 0, 0, 0, 3, undefined],
      ],
    );
    assert.deepEqual(found?.samples, [
      { samples: 1, resolved: 0, strictlyResolved: 0, any: 0 },
      { samples: 2, resolved: 1, strictlyResolved: 1, any: 1 },
    ]);
    // No script ran, so that nothing is said of it.
    assert.deepEqual(
      found?.selection.map(({ by, resolved, dollars }) => [by, resolved, dollars?.mean]),
      [
        ['votes', 0, 0],
        ['regression', 1, 0.125],
      ],
    );
  });

  it('are named as the rows of code repair, by model and run', () => {
    const again = { ...run, label: 'again', unfinished: true as const };
    assert.deepEqual(
      agentlessAblations([run, again]).map(({ name, unfinished }) => [name, unfinished]),
      [
        ['agentless/m [run]', false],
        ['agentless/m [again]', true],
      ],
    );
  });

  it('stand in the report in every format', () => {
    const report = studyReport(studyDocument({ runs: [], repairRuns: [run] }));
    studyReportSchema.strict().parse(JSON.parse(JSON.stringify(report)));
    const text = reportText(report);
    assert.match(text, /^Localisation by Agentless .*\(Agentless paper, Table 2\)$/m);
    assert.match(
      text,
      /^agentless +m +3 +files, by the model +2 +33\.3 \(1\) +33\.3 \(1\) +33\.3 \(1\) +75 +0\.50$/m,
    );
    assert.match(text, /^agentless +m +3 +edit locations, set 2 +1 +0\.0 \(0\).* 3 +–$/m);
    assert.match(text, /samples +resolved +strictly +any sample \(oracle\)$/m);
    assert.match(text, /^agentless +m +3 +2 +33\.3 \(1\) +33\.3 \(1\) +33\.3 \(1\)$/m);
    assert.match(text, /^agentless +m +3 +\+ regression tests +33\.3 \(1\) +33\.3 \(1\) +0\.13$/m);
    assert.match(reportMarkdown(report), /^\| agentless \| m \| 3 \| edit locations, set 1 \|/m);
    const [head = '', ...rows] = reportCsv(report).replaceAll('"', '').split('\r\n');
    const row = rows.find((line) => line.startsWith('agentless/m,')) ?? '';
    // A comma in a head is quoted.
    const heads = head.replaceAll(', ', '; ').split(',');
    const cells = new Map(heads.map((name, at) => [name, row.split(',')[at]]));
    assert.deepEqual(
      [
        ...['localised_file: files; by the model', 'localised_lines_of_code: related elements'],
        ...['samples_resolved: first 1', 'samples_any_oracle: first 2'],
        ...['selection_resolved: votes', 'selection_dollars_mean: regression'],
      ].map((name) => cells.get(name)),
      [`${1 / 3}`, '20', '0', `${1 / 3}`, '0', '0.125'],
    );
  });
});
