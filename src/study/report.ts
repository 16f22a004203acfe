import type { Denominator } from './denominator';
import { usualResampling } from './resampling';
import { compareWith, type AdjustedComparison } from './compare';
import { costsOf, type Costs } from './costs';
import {
  studyVersion,
  type Grading,
  type PublishedRow,
  type StudyDocument,
  type StudyRequest,
} from './document';
import {
  beforeAndAfter,
  groupsByIssueLength,
  groupsByRepository,
  lengthGroups,
  type DateTest,
  type Group,
} from './groups';
import { methodsOf, type EvaluatedMethod } from './methods';
import { nodeUses, type NodeSeconds, type NodeUse } from './nodeUse';
import {
  mostCells,
  overlapOf,
  overlapWithRepairs,
  type Overlap,
  type RepairOverlap,
} from './overlap';
import { passAtK, type PassAtK } from './passAtK';
import { agentlessAblations, type AgentlessAblation } from './resolution/agentlessAblation';
import { repairRates, type RepairRates } from './resolution/repairRates';
import { summariseMethod, type Summary } from './summary';

/** A summary over part of the instances, without the lists of single instances. */
type GroupSummary = Omit<
  Summary,
  | ('notEvaluated' | 'reasons' | 'differing' | 'findings' | 'trajectoryFindings' | 'mutants')
  | 'answerSeen'
>;

/** Instances with a common property. */
export interface GroupReport {
  readonly label: string;
  readonly instances: number;
  /** In the order of the methods. */
  readonly summaries: readonly GroupSummary[];
}

/** All tables of a study, as figures: what `report --format json` prints. */
export interface StudyReport {
  readonly version: typeof studyVersion;
  /** ISO 8601. */
  readonly created: string;
  /** Version of the product. */
  readonly product: string;
  /** Settings of intervals and resampled p-values; fewer resamples where there is much to resample. */
  readonly resampling: {
    readonly resamples: number;
    readonly seed: number;
    readonly level: number;
  };
  readonly runs: readonly {
    readonly label: string;
    readonly dataset?: string;
    readonly created?: string;
    readonly selected: number;
    /** How a person chose the selected instances; absent where nobody was asked. */
    readonly denominator?: Denominator;
    readonly entries: number;
    /** The run was interrupted or is still going. */
    readonly unfinished: boolean;
    /** `harness` if strict figures were not saved. */
    readonly grading: Grading;
    /** Seconds that sandboxes ran, by node of a cluster. */
    readonly nodeSeconds?: NodeSeconds;
  }[];
  /** What the runs used of the nodes of a cluster; absent where none did. */
  readonly nodes?: readonly NodeUse[];
  /** Tables 2 and 3, with intervals and counts of reasons. */
  readonly methods: readonly Summary[];
  /**
   * Every other method (`first`) against the baseline (`second`), by their `method`. Contains rows
   * of oracles only on request.
   */
  readonly comparisons: readonly AdjustedComparison[];
  /** Figure 9; empty where it would have more than `mostCells`. */
  readonly byRepository: readonly GroupReport[];
  /** Figure 5; lengths in characters; empty as `byRepository`. */
  readonly byIssueLength: readonly (GroupReport & {
    readonly shortest: number;
    readonly longest: number;
  })[];
  /** Table 7; absent unless requested. */
  readonly split?: {
    readonly date: string;
    readonly before: GroupReport;
    readonly after: GroupReport;
    readonly undated: number;
    readonly tests: readonly DateTest[];
  };
  /** Figure 6; absent with fewer than two methods. */
  readonly overlap?: Overlap;
  /** Table 6. */
  readonly repairs: readonly RepairOverlap[];
  /** Table 1 of the Agentless paper; absent without judged code patches. */
  readonly repairRates?: readonly RepairRates[];
  /** Tables 2 and 4 and figure 6 of the Agentless paper; absent where no patch was ranked. */
  readonly agentless?: readonly AgentlessAblation[];
  /** Tables 9 to 11. */
  readonly costs: readonly Costs[];
  /** Of methods with several samples. */
  readonly passAtK: readonly {
    readonly method: string;
    readonly name: string;
    readonly values: readonly PassAtK[];
  }[];
  /** Published rows, for comparison. */
  readonly published: readonly PublishedRow[];
  readonly problems: readonly string[];
}

/** The methods that a document compares, baseline first, or all in their order if it names none. */
function askedMethods(
  methods: readonly EvaluatedMethod[],
  asked: StudyRequest,
): readonly EvaluatedMethod[] {
  if (asked.compare === undefined) return methods;
  return asked.compare.flatMap((name) => methods.find((method) => method.name === name) ?? []);
}

/** Computes every table of a document. */
export function studyReport(
  document: StudyDocument,
  options: { readonly grading?: Grading; readonly instances?: ReadonlySet<string> } = {},
): StudyReport {
  const { grading, instances } = options;
  const all = methodsOf(document.runs, {
    oracle: true,
    grading,
    ...(instances === undefined ? {} : { instances }),
  });
  const methods = askedMethods(all, document.asked);
  const graded = grading === undefined ? {} : { grading };
  // An oracle is not a method: it is neither tested against the baseline nor counted, unless
  // requested.
  const real = methods.filter((method) => !method.oracle || document.asked.compare !== undefined);
  const [baseline, ...others] = real;
  const several = methods.filter(
    (method) => method.sampleCount > 1 && method.oracleOf === undefined,
  );
  const resampling = { ...usualResampling, resamples: resamplesFor(methods) };
  const intervals = resampling.resamples > 0;
  return {
    version: studyVersion,
    created: document.created,
    product: document.product,
    resampling,
    runs: document.runs.map(runReport),
    ...nodesReport(document),
    methods: methods.map((method) =>
      summariseMethod(method, { ...graded, ...(intervals && { intervals: resampling }) }),
    ),
    comparisons:
      baseline === undefined
        ? []
        : compareWith(baseline, others, { ...graded, resampling, intervals }),
    byRepository: (isMany(methods, repositoriesOf(methods))
      ? []
      : groupsByRepository(methods, graded)
    ).map(groupReport),
    byIssueLength: (isMany(methods, lengthGroups) ? [] : groupsByIssueLength(methods, graded)).map(
      (group) => ({
        ...groupReport(group),
        shortest: group.shortest,
        longest: group.longest,
      }),
    ),
    ...splitReport(methods, document.asked.splitDate, graded),
    ...(real.length < 2 ? {} : { overlap: overlapOf(real, grading) }),
    repairs: document.repairs.flatMap((repairs) =>
      methods.map((method) => overlapWithRepairs(method, repairs, grading)),
    ),
    ...repairReport(document.repairRuns),
    costs: methods.map((method) => costsOf(method, grading)),
    passAtK: several.map((method) => ({
      method: method.id,
      name: method.name,
      values: passAtK(method, grading),
    })),
    published: document.published,
    problems: document.problems,
  };
}

/** Draws that one report makes, which take some ten seconds. */
const mostDraws = 4e8;
/** A resample of one method takes as much as this many draws, whatever its instances. */
const drawsBeside = 40;
/** An interval of fewer resamples says nothing. */
const fewestResamples = 100;

/**
 * Resamples for each figure of a report: fewer where many methods would take hours, and none where
 * not even a few could be afforded.
 */
export function resamplesFor(methods: readonly Pick<EvaluatedMethod, 'selected'>[]): number {
  // Each method is also compared with the baseline.
  const each = methods.reduce((sum, { selected }) => sum + 2 * (selected.length + drawsBeside), 0);
  const most = Math.min(usualResampling.resamples, Math.floor(mostDraws / each));
  return most < fewestResamples ? 0 : most;
}

/** Whether a table with a column for each method would have too many cells. */
const isMany = (methods: readonly EvaluatedMethod[], rows: number): boolean =>
  methods.length * rows > mostCells;

const repositoriesOf = (methods: readonly EvaluatedMethod[]): number =>
  new Set(methods.flatMap(({ selected }) => selected.map(({ repo }) => repo))).size;

const runReport = (run: StudyDocument['runs'][number]): StudyReport['runs'][number] => ({
  label: run.label,
  ...(run.dataset === undefined ? {} : { dataset: run.dataset }),
  ...(run.created === undefined ? {} : { created: run.created }),
  selected: run.instances.length,
  ...(run.denominator === undefined ? {} : { denominator: run.denominator }),
  entries: run.entries.length,
  unfinished: run.unfinished === true,
  grading: run.grading ?? 'strict',
  ...(run.nodeSeconds === undefined ? {} : { nodeSeconds: run.nodeSeconds }),
});

function nodesReport(document: StudyDocument): Pick<StudyReport, 'nodes'> {
  const nodes = nodeUses(document);
  return nodes.length === 0 ? {} : { nodes };
}

function repairReport(
  runs: StudyDocument['repairRuns'],
): Pick<StudyReport, 'repairRates' | 'agentless'> {
  if (runs === undefined) return {};
  const agentless = agentlessAblations(runs);
  return { repairRates: repairRates(runs), ...(agentless.length === 0 ? {} : { agentless }) };
}

function splitReport(
  methods: readonly EvaluatedMethod[],
  splitDate: string | undefined,
  graded: { readonly grading?: Grading },
): Pick<StudyReport, 'split'> {
  if (splitDate === undefined) return {};
  const split = beforeAndAfter(methods, splitDate, graded);
  return {
    split: { ...split, before: groupReport(split.before), after: groupReport(split.after) },
  };
}

const groupReport = ({ label, instances, summaries }: Group): GroupReport => ({
  label,
  instances,
  summaries: summaries.map(
    ({
      notEvaluated: _ids,
      reasons: _reasons,
      differing: _differing,
      findings: _findings,
      mutants: _mutants,
      answerSeen: _answerSeen,
      trajectoryFindings: _trajectoryFindings,
      ...rest
    }) => rest,
  ),
});
