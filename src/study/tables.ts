import { findingKinds, trajectoryFindingKinds } from '../domain/finding';
import { markedAsOracle } from '../domain/answerSeen';
import type { Interval } from './resampling';
import type { PublishedRow } from './document';
import { selectedText } from './denominator';
import { longestOf } from './methods';
import type { Costs, Total } from './costs';
import type { GroupReport, StudyReport } from './report';
import type { RepairRates } from './resolution/repairRates';
import {
  deltaKeys,
  deltaTitles,
  shareKeys,
  shareTitles,
  type DeltaMean,
  type MutantCounts,
  type Share,
} from './summary';
import { agentlessTables } from './agentlessTables';
import type { StudyTable } from './studyTable';

/** All tables of a report that have rows to show, in the order of the paper. */
export function tablesOf(report: StudyReport): StudyTable[] {
  return [
    ratesTable(report),
    deltaTable(report),
    reasonsTable(report),
    findingsTable(report),
    trajectoryFindingsTable(report),
    passTable(report),
    ...groupTables(report),
    ...splitTable(report),
    ...overlapTables(report),
    repairRatesTable(report),
    ...agentlessTables(report.agentless ?? []),
    repairsTable(report),
    costsTable(report),
    nodesTable(report),
  ].filter((table) => table.rows.length > 1);
}

/** `48.6`, as the paper prints shares. */
const percent = (share: number): string => (100 * share).toFixed(1);

function withInterval(value: number | undefined, interval: Interval | undefined): string {
  if (value === undefined) return '–';
  if (interval === undefined) return percent(value);
  const [low, high] = interval;
  return `${percent(value)} [${percent(low)}${low < 0 ? ' to ' : '–'}${percent(high)}]`;
}

const shareCell = ({ count, of, interval }: Share): string =>
  of === 0 ? '–' : withInterval(count / of, interval);

const meanCell = ({ mean, of, interval }: DeltaMean): string =>
  mean === undefined ? '–' : `${withInterval(mean, interval)} (${of})`;

/** `< 0.001`, `0.012`, `0.80`. */
function pCell(p: number | undefined): string {
  if (p === undefined) return '–';
  if (p < 0.001) return '< 0.001';
  return p < 0.1 ? p.toFixed(3) : p.toFixed(2);
}

const publishedName = ({ method, split, model, oracle }: PublishedRow): string =>
  `${oracle === true ? markedAsOracle(method) : method} [published: ${[split, model].filter(Boolean).join(', ')}]`;

function publishedNotes(rows: readonly PublishedRow[]): string[] {
  const sources = [...new Set(rows.map(({ source }) => source))];
  return sources.length === 0
    ? []
    : [`Published rows are not measured here, and use harness grading (${sources.join('; ')}).`];
}

const publishedShare = (share: number | undefined): string =>
  share === undefined ? '–' : percent(share);

/** What compares each method with the baseline, by `Summary.method`. */
export const comparisonsByMethod = ({
  comparisons,
}: Pick<StudyReport, 'comparisons'>): ReadonlyMap<string, StudyReport['comparisons'][number]> =>
  new Map(comparisons.map((each) => [each.first, each]));

function ratesTable(report: StudyReport): StudyTable {
  const resolved = report.methods.some((method) => method.resolved !== undefined);
  const compared = report.comparisons.length > 0;
  const comparisonOf = comparisonsByMethod(report);
  const rows = report.methods.map((method) => {
    const comparison = comparisonOf.get(method.method);
    return [
      method.grading === 'harness' ? `${method.name} (harness grading)` : method.name,
      String(method.selected),
      ...shareKeys.map((key) => shareCell(method[key])),
      ...(resolved ? [method.resolved === undefined ? '–' : shareCell(method.resolved)] : []),
      ...(compared ? [pCell(comparison?.shares.success.p)] : []),
      ...(compared ? [pCell(comparison?.adjusted.success)] : []),
      String(method.selected - method.evaluated),
    ];
  });
  const baseline = report.methods[0]?.name ?? '';
  const published = report.published.map((row) => [
    publishedName(row),
    String(row.selected),
    ...shareKeys.map((key) => publishedShare(row[key])),
    ...(resolved ? ['–'] : []),
    ...(compared ? ['–', '–'] : []),
    '–',
  ]);
  return {
    title: 'Rates in % of all selected instances (Table 2)',
    rows: [
      [
        'Method',
        'n',
        ...shareKeys.map((key) => shareTitles[key]),
        ...(resolved ? ['S (harness)'] : []),
        ...(compared ? ['p of S', 'p (Holm)'] : []),
        'not evaluated',
      ],
      ...rows,
      ...published,
    ],
    notes: [
      ...denominatorNotes(report),
      ...report.methods.flatMap(notEvaluatedNote),
      ...onlySuccessNote(report),
      intervalNote(report),
      ...oracleNotes(report),
      ...publishedNotes(report.published),
      ...(compared
        ? [
            `p of S: exact McNemar test against ${baseline}, two-sided, paired by instance; Holm: for all comparisons of the table together.`,
          ]
        : []),
    ],
  };
}

/** One sentence for each run whose instances a person chose; others say it with their options. */
const denominatorNotes = ({ runs }: StudyReport): string[] =>
  runs.flatMap(({ label, selected, denominator }) =>
    denominator === undefined
      ? []
      : [`${label}: shares of ${selectedText(selected, denominator)}.`],
  );

const notEvaluatedNote = ({ name, notEvaluated }: StudyReport['methods'][number]): string[] => {
  const counts = notEvaluated.map(({ reason, instances }) => `${reason} ${instances.length}`);
  return counts.length === 0 ? [] : [`${name}: not evaluated: ${counts.join(', ')}`];
};

/** Of a run that was published as a summary, the other shares have no instances. */
function onlySuccessNote({ methods }: StudyReport): string[] {
  const names = methods
    .filter(({ selected, wellFormed }) => selected > 0 && wellFormed.of === 0)
    .map(({ name }) => name);
  return names.length === 0
    ? []
    : [`Only S is known, from a summary of the reference harness: ${names.join(', ')}.`];
}

const oracleNotes = ({ methods, published }: StudyReport): string[] => {
  const seen = new Map<string, string[]>();
  for (const [name, why] of [
    ...methods.map(({ name, answerSeen }) => [name, answerSeen] as const),
    ...published.map((row) => [publishedName(row), row.answerSeen] as const),
  ]) {
    if (why === undefined) continue;
    const names = seen.get(why);
    if (names === undefined) seen.set(why, [name]);
    else names.push(name);
  }
  return [
    ...(methods.some(({ oracle }) => oracle)
      ? [
          '(oracle): made or chosen with the answer, so it is no method. It is compared with others only when --compare names it.',
        ]
      : []),
    ...[...seen].map(
      ([why, names]) => `Known to look at the answer (${why}): ${names.join(', ')}.`,
    ),
  ];
};

const intervalNote = ({ resampling: { level, resamples, seed } }: StudyReport): string =>
  resamples === 0
    ? 'Intervals and p of ΔC are left out, since resampling so many methods would take hours.'
    : `In brackets: ${100 * level} % percentile intervals of ${resamples} bootstrap resamples of the instances (seed ${seed}).`;

function deltaTable(report: StudyReport): StudyTable {
  const compared = report.comparisons.length > 0;
  const comparisonOf = comparisonsByMethod(report);
  const mutated = report.methods.some(({ mutants }) => mutants !== undefined);
  const rows = report.methods.map((method) => {
    const comparison = comparisonOf.get(method.method);
    return [
      method.grading === 'harness' ? `${method.name} (harness grading)` : method.name,
      ...deltaKeys.map((key) => meanCell(method[key])),
      ...(mutated ? [mutantsCell(method.mutants)] : []),
      ...(compared
        ? [
            comparison?.delta.difference === undefined
              ? '–'
              : withInterval(comparison.delta.difference, comparison.delta.interval),
            pCell(comparison?.delta.p),
          ]
        : []),
    ];
  });
  const published = report.published
    .filter((row) => row.deltaAll !== undefined)
    .map((row) => [
      publishedName(row),
      ...deltaKeys.map((key) => publishedShare(row[key])),
      ...(mutated ? ['–'] : []),
      ...(compared ? ['–', '–'] : []),
    ]);
  return {
    title: 'Change coverage in %: mean over all, successful and other instances (Table 3)',
    rows: [
      [
        'Method',
        ...deltaKeys.map((key) => deltaTitles[key]),
        ...(mutated ? ['mutants killed'] : []),
        ...(compared ? ['difference', 'p'] : []),
      ],
      ...rows,
      ...published,
    ],
    notes: [
      'In parentheses: instances whose ΔC is known and has executable lines.',
      ...(mutated ? [mutantsNote(report)] : []),
      ...(compared
        ? [
            `Difference and p against ${report.methods[0]?.name ?? ''}, where both are known: paired permutation test, two-sided.`,
          ]
        : []),
    ],
  };
}

const mutantsCell = (mutants: MutantCounts | undefined): string =>
  mutants === undefined || mutants.all === 0
    ? '–'
    : `${percent(mutants.killed / mutants.all)} (${mutants.killed} of ${mutants.all})`;

const mutantsNote = ({ methods }: StudyReport): string => {
  const counts = methods.map(
    ({ name, mutants, selected }) => `${name} ${mutants?.of ?? 0} of ${selected}`,
  );
  return `Mutants killed: of all faults made in lines that X* adds, over the instances whose candidates were tried on them (${counts.join(', ')}). Unlike ΔC, this subtracts nothing that T^R does.`;
};

function reasonsTable(report: StudyReport): StudyTable {
  const reasons = [
    ...new Set(report.methods.flatMap((method) => method.reasons.map(({ reason }) => reason))),
  ];
  return {
    title: 'Reasons, instances',
    rows: [
      ['Reason', ...report.methods.map(({ name }) => name)],
      ...reasons.map((reason) => [
        reason,
        ...report.methods.map((method) =>
          String(method.reasons.find((each) => each.reason === reason)?.count ?? 0),
        ),
      ]),
    ],
    notes: [],
  };
}

function findingsTable(report: StudyReport): StudyTable {
  const looked = report.methods.filter(({ findings: { of, others } }) => of + others > 0);
  const unknown = report.methods.filter(({ findings }) => findings.unknown > 0);
  const with_ = looked.filter(({ findings }) => findings.others > 0);
  const kinds = findingKinds.filter((kind) => looked.some(({ findings }) => findings.kinds[kind]));
  return {
    title: 'Findings: what looks wrong about verdicts, candidates with an F→P test',
    rows: [
      ['Method', 'with F→P', ...kinds, 'any finding', 'S', 'S with a finding'],
      ...looked.map(({ name, findings }) => [
        name,
        String(findings.of),
        ...kinds.map((kind) => String(findings.kinds[kind])),
        String(findings.any),
        String(findings.successes),
        String(findings.successesWith),
      ]),
    ],
    notes: [
      'Of candidates with at least one F→P test (strict grading); one may have several findings. A finding is for a person to judge and changes no rate.',
      ...with_.map(
        ({ name, findings }) => `${name}: ${findings.others} without F→P test have a finding too.`,
      ),
      ...unknown.map(
        ({ name, findings }) =>
          `${name}: ${findings.unknown} with F→P tests were not checked for findings (saved by an earlier version, or by the harness).`,
      ),
    ],
  };
}

/** Without rows where no trajectory has a finding. */
function trajectoryFindingsTable({ methods }: StudyReport): StudyTable {
  const searched = methods.flatMap(({ name, trajectoryFindings: found }) =>
    found === undefined ? [] : [{ name, found }],
  );
  const hasAny = searched.some(({ found }) => found.any + found.notesOnly > 0);
  const withoutTrajectory = methods.filter((method) => method.trajectoryFindings === undefined);
  return {
    title: 'Findings in trajectories: what looks like cheating, candidates',
    rows: [
      [
        ...['Method', 'with a trajectory', ...trajectoryFindingKinds],
        ...['any warning', 'S', 'S with a warning', 'notes only'],
      ],
      ...(hasAny ? searched : []).map(({ name, found }) => [
        ...[name, String(found.of)],
        ...trajectoryFindingKinds.map((kind) => String(found.kinds[kind])),
        ...[found.any, found.successes, found.successesWith, found.notesOnly].map(String),
      ]),
    ],
    notes: [
      'By kind are candidates with a warning; one may have several. A finding is for a person to judge and changes no rate.',
      ...withoutTrajectory.map(({ name }) => `${name}: no trajectory is known.`),
    ],
  };
}

/** More columns than this are unreadable; `--format json` has every k. */
const mostK = 100;

function passTable(report: StudyReport): StudyTable {
  const most = longestOf(report.passAtK.map(({ values }) => values));
  const ks = Array.from({ length: Math.min(most, mostK) }, (_, index) => index + 1);
  return {
    title: 'Pass@k in %, unbiased estimate from all samples',
    rows: [
      ['Method', 'samples', ...ks.map((k) => `k=${k}`)],
      ...report.passAtK.map(({ name, values }) => [
        name,
        String(values.length),
        ...ks.map((k) => {
          const value = values[k - 1];
          return value === undefined ? '–' : percent(value.mean);
        }),
      ]),
    ],
    notes: [
      'In the other tables, a method means its first sample, and its Pass@n the pick of an oracle.',
    ],
  };
}

function groupTables(report: StudyReport): StudyTable[] {
  const names = report.methods.map(({ name }) => name);
  const rows = (groups: readonly GroupReport[]): string[][] =>
    groups.map((group) => [
      group.label,
      String(group.instances),
      ...group.summaries.map(({ success }) =>
        success.of === 0 ? '–' : `${percent(success.count / success.of)} (${success.count})`,
      ),
    ]);
  const table = (title: string, first: string, groups: readonly GroupReport[]): StudyTable[] =>
    groups.length < 2
      ? []
      : [{ title, rows: [[first, 'n', ...names], ...rows(groups)], notes: [] }];
  return [
    ...table('S in % by repository (figure 9)', 'Repository', report.byRepository),
    ...table('S in % by length of the issue (figure 5)', 'Characters', report.byIssueLength),
  ];
}

function splitTable({ split, methods }: StudyReport): StudyTable[] {
  if (split === undefined) return [];
  const { before, after, tests, undated } = split;
  const rows = methods.flatMap((method, index) =>
    [before, after].map((group, side) => {
      const summary = group.summaries[index];
      const test = side === 1 ? tests[index] : undefined;
      return [
        side === 0 ? method.name : '',
        group.label,
        String(summary?.selected ?? 0),
        ...shareKeys.map((key) => (summary === undefined ? '–' : shareCell(summary[key]))),
        summary === undefined ? '–' : meanCell(summary.deltaAll),
        side === 0 ? '' : pCell(test?.exact),
        side === 0 ? '' : pCell(test?.oneSided),
      ];
    }),
  );
  return [
    {
      title: 'Before and after a date, in % (Table 7)',
      rows: [
        [
          'Method',
          'created',
          'n',
          ...shareKeys.map((key) => shareTitles[key]),
          deltaTitles.deltaAll,
          'p of S (Fisher)',
          'p of S (one-sided z)',
        ],
        ...rows,
      ],
      notes:
        undated === 0 ? [] : [`${undated} instances have no date and are left out of this table.`],
    },
  ];
}

function overlapTables({ overlap }: StudyReport): StudyTable[] {
  if (overlap === undefined || overlap.union === 0) return [];
  const { names, solved, union, regions, pairs = [] } = overlap;
  const shown = regions.slice(0, 20);
  const best = solved.reduce((most, each) => Math.max(most, each), 0);
  return [
    {
      title: 'Instances solved by each pair of methods (figure 6)',
      rows: [
        ['', ...names],
        ...pairs.map((row, index) => [names[index] ?? '', ...row.map(String)]),
      ],
      notes: [
        `All together solve ${union}; the best alone solves ${best}` +
          (best === 0 ? '.' : `, so together ${Math.round(100 * (union / best - 1))} % more.`),
      ],
    },
    {
      title: 'Instances solved by exactly these methods (figure 6)',
      rows: [
        ['Methods', 'instances'],
        ...shown.map((region) => [
          region.methods.map((index) => names[index] ?? '').join(' + '),
          String(region.instances.length),
        ]),
      ],
      notes:
        regions.length > shown.length
          ? [`${regions.length - shown.length} more combinations, each with fewer.`]
          : [],
    },
  ];
}

function repairRatesTable({ repairRates = [] }: StudyReport): StudyTable {
  const mean = (total: Total | undefined, digits: number): string =>
    total === undefined ? '–' : total.mean.toFixed(digits);
  const tokens = ({ inputTokens, outputTokens }: RepairRates): string =>
    inputTokens === undefined && outputTokens === undefined
      ? '–'
      : String(Math.round((inputTokens?.mean ?? 0) + (outputTokens?.mean ?? 0)));
  const rows = repairRates.map((row) => {
    const share = (count: number): string =>
      row.selected === 0 ? '–' : percent(count / row.selected);
    const counted = (ids: readonly string[]): string => `${share(ids.length)} (${ids.length})`;
    return [
      row.madeBy === undefined ? row.name : row.name.replace(row.model, row.madeBy.method),
      row.madeBy?.model ?? '–',
      String(row.selected),
      ...[counted(row.resolved), counted(row.strictlyResolved)],
      ...[mean(row.dollars, 2), tokens(row)],
      ...reportedGranularities.map((each) => share(row.correctLocation[each])),
      ...[String(row.emptyPatches), String(row.errors)],
    ];
  });
  const partly = repairRates.flatMap(({ name, dollars, selected }) =>
    dollars === undefined || dollars.known === selected
      ? []
      : [
          `${name}: ${dollars.known} of ${selected} instances have patches that say what they cost.`,
        ],
  );
  return {
    title: 'Code repair in % of all selected instances (Agentless paper, Table 1)',
    rows: [
      [
        ...['Method', 'Model', 'n', 'resolved', 'strictly', 'mean USD', 'mean tokens'],
        ...reportedGranularities.map((each) => `correct ${each}`),
        ...['empty', 'errors'],
      ],
      ...rows,
    ],
    notes: [
      'resolved: by the rules of SWE-bench 5. strictly: every test that passes on R∘X* passes. Correct location: the patch edits a superset of the lines, functions or files of X*.',
      ...partly,
    ],
  };
}

/** In the order of the paper. */
const reportedGranularities = ['line', 'function', 'file'] as const;

function repairsTable({ repairs }: StudyReport): StudyTable {
  return {
    title: 'Overlap with resolved instances of code repair (Table 6)',
    rows: [
      ['Method', 'Repairs', 'n', 'tests', 'repairs', 'overlap', 'expected', 'p'],
      ...repairs.map((row) => [
        row.method,
        row.repairs,
        String(row.instances),
        String(row.tests),
        String(row.fixes),
        String(row.overlap.length),
        row.expected.toFixed(1),
        pCell(row.p),
      ]),
    ],
    notes: [
      'p: chance of at least this overlap if both were independent and all instances equally hard (hypergeometric).',
    ],
  };
}

function costsTable({ costs, published }: StudyReport): StudyTable {
  const number = (value: number | undefined, digits: number): string =>
    value === undefined ? '–' : value.toFixed(digits);
  const tokens = ({ inputTokens, outputTokens }: Costs): string =>
    inputTokens === undefined && outputTokens === undefined
      ? '–'
      : `${inputTokens?.sum ?? 0} + ${outputTokens?.sum ?? 0}`;
  const mean = (total: Total | undefined): string => number(total?.mean, 1);
  const known = costs.filter(
    (each) =>
      each.dollars !== undefined ||
      each.makingSeconds !== undefined ||
      each.inputTokens !== undefined ||
      each.outputTokens !== undefined ||
      each.evaluationSeconds !== undefined,
  );
  return {
    title: 'Cost and time (tables 9 to 11)',
    rows: [
      [
        'Method',
        'USD',
        'USD per success',
        'tokens in + out',
        's per candidate to make',
        's per candidate to evaluate',
      ],
      ...known.map((each) => [
        each.name,
        number(each.dollars?.sum, 2),
        number(each.dollarsPerSuccess, 2),
        tokens(each),
        mean(each.makingSeconds),
        mean(each.evaluationSeconds),
      ]),
      ...published
        .filter((row) => row.dollars !== undefined || row.seconds !== undefined)
        .map((row) => [
          publishedName(row),
          number(row.dollars, 2),
          number(
            row.dollars === undefined
              ? undefined
              : row.dollars / Math.round(row.success * row.selected),
            2,
          ),
          '–',
          number(row.seconds, 1),
          '–',
        ]),
    ],
    notes: known.flatMap((each) =>
      each.dollars !== undefined && each.dollars.known < each.candidates
        ? [
            `${each.name}: ${each.dollars.known} of ${each.candidates} predictions say what they cost.`,
          ]
        : [],
    ),
  };
}

/** How long sandboxes ran on each node, since nodes are paid by time. */
const nodesTable = ({ nodes = [] }: StudyReport): StudyTable => ({
  title: 'Nodes',
  rows: [
    ['For', 'Run or file', 'Node', 'Seconds of sandboxes'],
    ...nodes.flatMap(({ purpose, name, seconds }) =>
      Object.entries(seconds).map(([node, used]) => [purpose, name, node, used.toFixed(0)]),
    ),
  ],
  notes: [
    'A sandbox counts from its start to its end. A killed command loses the last ten seconds of that.',
  ],
});
