import type {
  AdjustedComparison,
  GroupReport,
  Overlap,
  PublishedRow,
  RepairOverlap,
  RepairRates,
  StudyReport,
  Summary,
} from '../studyReportSchema';
import { selectedText } from '../measures/denominator';
import {
  type MethodRow,
  costColumns,
  coverageColumns,
  deltaHeads,
  findingColumns,
  hasCosts,
  hasTrajectoryFindings,
  nameColumn,
  publishedName,
  rateColumns,
  reasonColumns,
  shareHeads,
  trajectoryColumns,
} from './methodColumns';
import { longestOf } from '../measures/methods';
import { inPercent } from '../numbers';
import { agentlessTables } from './agentlessTables';
import { repairColumns } from './repairColumns';
import { shareKeys } from '../measures/summary';
import {
  type StudyTable,
  type TextTable,
  asTexts,
  formats,
  shareFigure,
  textTable,
} from './tableColumn';

/** All tables of a report that have rows to show, in the order of the paper. */
export function tablesOf(report: StudyReport): TextTable[] {
  const { methods, agentless = [] } = report;
  return [
    asTexts(ratesTable(report)),
    asTexts(deltaTable(report)),
    reasonsTable(methods),
    asTexts(findingsTable(methods)),
    asTexts(trajectoryFindingsTable(methods)),
    passTable(report.passAtK),
    ...groupTables(report),
    ...(report.split === undefined ? [] : [splitTable(methods, report.split)]),
    ...overlapTables(report.overlap),
    asTexts(repairRatesTable(report.repairRates)),
    ...agentlessTables(agentless),
    repairsTable(report.repairs),
    asTexts(costsTable(report)),
    nodesTable(report),
  ].filter((table) => table.rows.length > 1);
}

function publishedNotes(rows: readonly PublishedRow[]): string[] {
  const sources = [...new Set(rows.map(({ source }) => source))];
  return sources.length === 0
    ? []
    : [`Published rows were not measured here and use harness grading (${sources.join('; ')}).`];
}

/** The measured methods of a report, as rows. */
export function measuredRows({
  methods,
  comparisons,
  costs,
}: Pick<StudyReport, 'methods' | 'comparisons' | 'costs'>): MethodRow[] {
  const others = new Map<string, AdjustedComparison>(comparisons.map((each) => [each.first, each]));
  const baseline = comparisons[0]?.second;
  return methods.map((summary, index) => ({
    summary,
    comparison: summary.method === baseline ? 'baseline' : others.get(summary.method),
    costs: costs[index],
  }));
}

const asRows = (published: readonly PublishedRow[]): MethodRow[] =>
  published.map((row) => ({ published: row }));

const summaryRows = (methods: readonly Summary[]): MethodRow[] =>
  methods.map((summary) => ({ summary }));

function ratesTable(report: StudyReport): StudyTable<MethodRow> {
  const baseline = report.methods[0]?.name ?? '';
  return {
    title: 'Rates in % of all selected instances (Table 2)',
    columns: [nameColumn, ...rateColumns],
    rows: [...measuredRows(report), ...asRows(report.published)],
    notes: [
      ...denominatorNotes(report),
      ...report.methods.flatMap(notEvaluatedNote),
      ...onlySuccessNote(report),
      intervalNote(report),
      ...oracleNotes(report),
      ...publishedNotes(report.published),
      ...(report.comparisons.length > 0
        ? [
            `ΔS vs. baseline: difference from ${baseline}, with p of the two-sided exact McNemar test, paired by instance. Holm: corrected for all comparisons in the table.`,
          ]
        : []),
    ],
  };
}

/** One sentence for each run whose instances the user chose; others say it with their options. */
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
    : [`Only S is known, from a reference harness summary: ${names.join(', ')}.`];
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
          '(oracle): created or selected with the answer, so this is not a method. It is compared with others only if --compare names it.',
        ]
      : []),
    ...[...seen].map(([why, names]) => `Known to see the answer (${why}): ${names.join(', ')}.`),
  ];
};

const intervalNote = ({ resampling: { level, resamples, seed } }: StudyReport): string =>
  resamples === 0
    ? 'Intervals and p of ΔC are omitted because resampling so many methods would take hours.'
    : `In brackets: ${100 * level} % percentile intervals of ${resamples} bootstrap resamples of the instances (seed ${seed}).`;

function deltaTable(report: StudyReport): StudyTable<MethodRow> {
  const mutated = report.methods.some(({ mutants }) => mutants !== undefined);
  return {
    title: 'Change coverage in %: mean over all, successful and other instances (Table 3)',
    columns: [nameColumn, ...coverageColumns],
    rows: [
      ...measuredRows(report),
      ...asRows(report.published.filter((row) => row.deltaAll !== undefined)),
    ],
    notes: [
      'In parentheses: instances whose ΔC is known and has executable lines.',
      ...(mutated ? [mutantsNote(report)] : []),
      ...(report.comparisons.length > 0
        ? [
            `ΔC vs. baseline: difference from ${report.methods[0]?.name ?? ''} where both are known, with p of the two-sided paired permutation test.`,
          ]
        : []),
    ],
  };
}

const mutantsNote = ({ methods }: StudyReport): string => {
  const counts = methods.map(
    ({ name, mutants, selected }) => `${name} ${mutants?.of ?? 0} of ${selected}`,
  );
  return `Mutants killed: share of all bugs seeded in lines that X* adds, over instances whose candidates were tested on them (${counts.join(', ')}). Unlike ΔC, this does not subtract what T^R catches.`;
};

/** A row for each reason that occurs, and a column for each method. */
export function reasonsTable(methods: readonly Summary[]): TextTable {
  const rows = summaryRows(methods);
  return {
    title: 'Reasons, instances',
    rows: [
      ['Reason', ...methods.map(({ name }) => name)],
      ...reasonColumns
        .filter(({ isShown }) => isShown(rows))
        .map(({ head, text }) => [head, ...rows.map(text)]),
    ],
    notes: [],
  };
}

/** Without rows where no candidate was looked at. */
export function findingsTable(methods: readonly Summary[]): StudyTable<MethodRow> {
  const looked = methods.filter(({ findings: { of, others } }) => of + others > 0);
  const withOthers = looked.filter(({ findings }) => findings.others > 0);
  const unknown = methods.filter(({ findings }) => findings.unknown > 0);
  return {
    title: 'Findings: signs that verdicts are wrong, for candidates with an F→P test',
    columns: [nameColumn, ...findingColumns],
    rows: summaryRows(looked),
    notes: [
      'Of candidates with at least one F→P test (strict grading); a candidate can have several findings. Findings are for human review and do not change rates.',
      ...withOthers.map(
        ({ name, findings }) =>
          `${name}: ${findings.others} without an F→P test also have a finding.`,
      ),
      ...unknown.map(
        ({ name, findings }) =>
          `${name}: ${findings.unknown} with F→P tests were not checked for findings because the reference harness saved them.`,
      ),
    ],
  };
}

/** Without rows where no trajectory has a finding. */
export function trajectoryFindingsTable(methods: readonly Summary[]): StudyTable<MethodRow> {
  const searched = methods.filter((method) => method.trajectoryFindings !== undefined);
  const without = methods.filter((method) => method.trajectoryFindings === undefined);
  const rows = summaryRows(searched);
  return {
    title: 'Findings in trajectories: signs of cheating, candidates',
    columns: [nameColumn, ...trajectoryColumns],
    rows: hasTrajectoryFindings(rows) ? rows : [],
    notes: [
      'Kinds count candidates with a warning; a candidate can have several. Findings are for human review and do not change rates.',
      ...without.map(({ name }) => `${name}: no trajectory is known.`),
    ],
  };
}

/** More columns than this are unreadable; `--format json` has every k. */
const mostK = 100;

/** A column for each k. */
export function passTable(all: StudyReport['passAtK']): TextTable {
  const most = longestOf(all.map(({ values }) => values));
  const ks = Array.from({ length: Math.min(most, mostK) }, (_, index) => index + 1);
  return {
    title: 'Pass@k in %, unbiased estimate from all samples',
    rows: [
      ['Method', 'samples', ...ks.map((k) => `k=${k}`)],
      ...all.map(({ name, values }) => [
        name,
        String(values.length),
        ...ks.map((k) => inPercent(values[k - 1]?.mean)),
      ]),
    ],
    notes: [
      "In the other tables, a method stands for its first sample, and its Pass@n for an oracle's choice.",
    ],
  };
}

/** S in groups of instances, with a column for each method. */
export const groupTable = (
  title: string,
  first: string,
  groups: readonly GroupReport[],
  names: readonly string[],
): TextTable => ({
  title,
  rows: [
    [first, 'n', ...names],
    ...groups.map(({ label, instances, summaries }) => [
      label,
      String(instances),
      ...summaries.map(({ success }) => formats.shareAndCount.text(success)),
    ]),
  ],
  notes: [],
});

function groupTables({ methods, byRepository, byIssueLength }: StudyReport): TextTable[] {
  const names = methods.map(({ name }) => name);
  return [
    ...(byRepository.length < 2
      ? []
      : [groupTable('S in % by repository (figure 9)', 'Repository', byRepository, names)]),
    ...(byIssueLength.length < 2
      ? []
      : [
          groupTable(
            'S in % by length of the issue (figure 5)',
            'Characters',
            byIssueLength,
            names,
          ),
        ]),
  ];
}

/** A method on one side of a date. */
interface SplitRow {
  readonly name: string;
  readonly group: GroupReport;
  readonly summary: GroupReport['summaries'][number] | undefined;
  /** Absent on the first of the two sides. */
  readonly test?: NonNullable<StudyReport['split']>['tests'][number] | undefined;
}

/** A text of figures that may not be known. */
const known = <Value>(value: Value | undefined, text: (of: Value) => string): string =>
  value === undefined ? '–' : text(value);

/** Two rows for each method: the instances created before a day, and from it on. */
export const splitTable = (
  methods: readonly { readonly name: string }[],
  { before, after, tests, undated }: NonNullable<StudyReport['split']>,
): TextTable =>
  textTable<SplitRow>(
    'Before and after a date, in % (Table 7)',
    {
      Method: ({ name, group }) => (group === before ? name : ''),
      created: ({ group }) => group.label,
      n: ({ summary }) => String(summary?.selected ?? 0),
      ...Object.fromEntries(
        shareKeys.map((key) => [
          shareHeads[key].head,
          ({ summary }: SplitRow) =>
            known(summary, (of) => formats.share.text(shareFigure(of[key]))),
        ]),
      ),
      [deltaHeads.deltaAll.head]: ({ summary }) =>
        known(summary, ({ deltaAll }) => formats.meanShare.text(deltaAll)),
      'p of S (Fisher)': ({ test, group }) =>
        group === before ? '' : known(test?.exact, formats.p.text),
      'p of S (one-sided z)': ({ test, group }) =>
        group === before ? '' : known(test?.oneSided, formats.p.text),
    },
    methods.flatMap(({ name }, index) => [
      { name, group: before, summary: before.summaries[index] },
      { name, group: after, summary: after.summaries[index], test: tests[index] },
    ]),
    undated === 0 ? [] : [`${undated} instances have no date and are not in this table.`],
  );

/** Regions that a report has. */
const shownRegions = 20;

/** The instances that exactly some methods solve, the most first. */
export function regionsTable({ names, regions }: Overlap, most: number): TextTable {
  const shown = regions.slice(0, most);
  return {
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
  };
}

function overlapTables(overlap: Overlap | undefined): TextTable[] {
  if (overlap === undefined || overlap.union === 0) return [];
  const { names, solved, union, pairs = [] } = overlap;
  const best = solved.reduce((most, each) => Math.max(most, each), 0);
  return [
    {
      title: 'Instances solved by each pair of methods (figure 6)',
      rows: [
        ['', ...names],
        ...pairs.map((row, index) => [names[index] ?? '', ...row.map(String)]),
      ],
      notes: [
        `Together they solve ${union}; the best alone solves ${best}` +
          (best === 0 ? '.' : `, so together ${Math.round(100 * (union / best - 1))} % more.`),
      ],
    },
    regionsTable(overlap, shownRegions),
  ];
}

const repairRatesTable = (repairRates: readonly RepairRates[] = []): StudyTable<MethodRow> => ({
  title: 'Code repair in % of all selected instances (Agentless paper, Table 1)',
  columns: [nameColumn, ...repairColumns],
  rows: repairRates.map((repair) => ({ repair })),
  notes: [
    "resolved: by SWE-bench 5's rules. strictly: every test that passes on R∘X* passes. Correct location: the patch changes a superset of the lines, functions or files that X* changes.",
    ...repairRates.flatMap(({ name, dollars, selected }) =>
      dollars === undefined || dollars.known === selected
        ? []
        : [`${name}: ${dollars.known} of ${selected} instances have patches with a known cost.`],
    ),
  ],
});

/** Tests and repairs of the same instances. */
export const repairsTable = (repairs: readonly RepairOverlap[]): TextTable =>
  textTable(
    'Overlap with resolved instances of code repair (Table 6)',
    {
      Method: ({ method }) => method,
      Repairs: ({ repairs: name }) => name,
      n: ({ instances }) => String(instances),
      tests: ({ tests }) => String(tests),
      repairs: ({ fixes }) => String(fixes),
      overlap: ({ overlap }) => String(overlap.length),
      expected: ({ expected }) => expected.toFixed(1),
      p: ({ p }) => formats.p.text(p),
    },
    repairs,
    [
      'p: chance of at least this overlap if both were independent and all instances equally hard (hypergeometric).',
    ],
  );

/** The methods whose costs are known. */
export function costsTable({
  methods,
  costs,
  published,
}: Pick<StudyReport, 'methods' | 'costs' | 'published'>): StudyTable<MethodRow> {
  const rows = [...measuredRows({ methods, costs, comparisons: [] }), ...asRows(published)];
  return {
    title: 'Cost and time (tables 9 to 11)',
    columns: [nameColumn, ...costColumns],
    rows: rows.filter(hasCosts),
    notes: costs.flatMap(({ name, dollars, candidates }) =>
      dollars !== undefined && dollars.known < candidates
        ? [`${name}: ${dollars.known} of ${candidates} predictions have a known cost.`]
        : [],
    ),
  };
}

/** How long sandboxes ran on each node, since nodes are paid by time. */
const nodesTable = ({ nodes = [] }: StudyReport): TextTable =>
  textTable(
    'Nodes',
    {
      For: ({ purpose }) => purpose,
      'Run or file': ({ name }) => name,
      Node: ({ node }) => node,
      'Sandbox seconds': ({ used }) => used.toFixed(0),
    },
    nodes.flatMap(({ purpose, name, seconds }) =>
      Object.entries(seconds).map(([node, used]) => ({ purpose, name, node, used })),
    ),
    [
      'Time from the start to the end of each sandbox. A killed command loses the last ten seconds.',
    ],
  );
