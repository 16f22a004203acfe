import { z } from 'zod';
import { findingKinds, trajectoryFindingKinds } from '../domain/finding';
import type { Immutable } from '../domain/work';
import { entryReasons } from '../domain/verdict';
import { denominatorSchema } from './entrySchema';
import { gradings } from './entry';
import { granularities, type Granularity } from './resolution/correctLocation';
import { localisationSteps } from '../domain/instance';

/** Increases when a key of the document, or of that of a page, changes its meaning. */
export const studyVersion = 1;

const count = z.number().int().nonnegative();
const p = z.number().min(0).max(1);
const interval = z
  .tuple([z.number(), z.number()])
  .exactOptional()
  .describe('Lower and upper end of the bootstrap percentile interval');
const grading = z.enum(gradings);
const method = z.string().describe('`method` of one of `methods`');
const reason = z.enum([...entryReasons, 'not run yet']);

const share = z.object({ count, of: count, interval }).describe('A share of the instances');
const mean = z
  .object({ mean: z.number().optional(), of: count, interval })
  .describe('Mean ΔC from 0 to 1; without `mean` where it is known of no instance');

const groupSummary = z.object({
  method,
  /** For people; marked where the row uses the answer. */
  name: z.string(),
  oracle: z
    .boolean()
    .describe(
      'Whether candidates were created or selected with the answer; `name` is marked if so',
    ),
  grading: grading.describe('The grading of S, F→P and ΔC'),
  selected: count.describe('The denominator of every share'),
  evaluated: count,
  wellFormed: share.describe('W: the candidate applies to R'),
  success: share.describe('S: at least one F→P and no ×→F'),
  failToAny: share.describe('F→×'),
  failToPass: share.describe('F→P'),
  passToPass: share.describe('P→P'),
  deltaAll: mean,
  deltaSuccess: mean,
  deltaFailure: mean,
  resolved: share.exactOptional().describe('Resolved under harness grading'),
});

const answerSeen = z
  .string()
  .exactOptional()
  .describe('What a published method is known to see of the answer; `oracle` is true if so');

const summary = groupSummary.extend({
  answerSeen,
  notEvaluated: z.array(z.object({ reason, instances: z.array(z.string()) })),
  mutants: z
    .object({
      killed: count.describe('Killed or timed out'),
      all: count,
      of: count.describe('Instances whose candidate was tested on mutants'),
    })
    .exactOptional()
    .describe('Bugs seeded in lines that X* adds; absent if no candidate was tested on any'),
  differing: count.describe('Entries on which the two gradings disagree'),
  reasons: z.array(z.object({ reason, count })),
  findings: z
    .object({
      of: count.describe(
        'Candidates with at least one F→P test (strict) that were checked for findings',
      ),
      kinds: z.record(z.enum(findingKinds), count).describe('Of these, by kind'),
      any: count.describe('Of these, with any finding'),
      successes: count.describe('Of these, successes (strict)'),
      successesWith: count.describe('Of the successes, with any finding'),
      others: count.describe('Candidates without F→P test that have a finding'),
      unknown: count.describe('Candidates with F→P tests that were not checked for findings'),
    })
    .describe('Reasons to question verdicts, for human review'),
  trajectoryFindings: z
    .object({
      of: count.describe('Candidates whose trajectory was searched'),
      kinds: z.record(z.enum(trajectoryFindingKinds), count).describe('With a warning, by kind'),
      any: count.describe('With any warning'),
      successes: count.describe('Successes (strict) among those searched'),
      successesWith: count.describe('Of the successes, with any warning'),
      notesOnly: count.describe('With notes and no warning'),
    })
    .exactOptional()
    .describe(
      'Signs of cheating in trajectories, for human review; absent if no trajectory is known',
    ),
});

const pairedShare = z.object({
  both: count,
  onlyFirst: count,
  onlySecond: count,
  neither: count,
  difference: z.number().describe('Share of the first minus that of the second'),
  interval,
  p: p.describe('Exact McNemar test, two-sided'),
});

const comparison = z.object({
  first: method,
  second: method,
  instances: count.describe('Selected for both'),
  shares: z.object({
    wellFormed: pairedShare,
    success: pairedShare,
    failToAny: pairedShare,
    failToPass: pairedShare,
    passToPass: pairedShare,
  }),
  delta: z.object({
    of: count,
    difference: z.number().optional(),
    interval,
    p: p.optional().describe('Paired permutation test, two-sided'),
  }),
  adjusted: z
    .object({ success: p, delta: p.optional() })
    .describe('p for all comparisons together (Holm)'),
});

const group = z.object({
  label: z.string(),
  instances: count,
  summaries: z.array(groupSummary),
});

const total = z.object({ sum: z.number(), known: count, mean: z.number() });

const counts = z.object(
  Object.fromEntries(granularities.map((each) => [each, count])) as Record<
    Granularity,
    typeof count
  >,
);

const statedTotal = z
  .object({ sum: z.number(), known: count, mean: z.number() })
  .describe('Over the `known` instances whose predictions state it')
  .exactOptional();

/** A row of table 1 of the Agentless paper. */
export const repairRatesSchema = z.object({
  name: z.string(),
  model: z.string(),
  madeBy: z.object({ method: z.string(), model: z.string() }).exactOptional(),
  oracle: z
    .boolean()
    .describe('Created with the answer, or the best of several samples; `name` is marked if so'),
  samples: count.describe('1, or the number of samples of which the row is the best'),
  selected: count.describe('Selected instances, the denominator of every rate'),
  tried: z.array(z.string()).readonly().describe('Instances with a patch that could be judged'),
  resolved: z.array(z.string()).readonly().describe('Instances resolved by SWE-bench’s rules'),
  strictlyResolved: z.array(z.string()).readonly().describe('By the recorded outcomes'),
  differing: count.describe('Instances on which the two judgements differ'),
  emptyPatches: count,
  errors: count,
  correctLocation: counts.describe('Instances whose patch edits a superset of the places of X*'),
  dollars: statedTotal,
  inputTokens: statedTotal,
  outputTokens: statedTotal,
});

const stageDollars = z
  .object({ sum: z.number(), known: count, mean: z.number() })
  .describe('Of the requests, over the `known` instances')
  .exactOptional();
const resolvedBy = {
  resolved: count.describe('Instances resolved by SWE-bench’s rules'),
  strictlyResolved: count.describe('By the recorded outcomes'),
};

/** The ablations of a run of Agentless. */
const agentless = z.object({
  name: z.string(),
  model: z.string(),
  madeBy: z.object({ method: z.string(), model: z.string() }).exactOptional(),
  selected: count.describe('Selected instances, the denominator of every rate'),
  unfinished: z.boolean().describe('Whether patches are not judged yet'),
  localisation: z
    .array(
      z.object({
        step: z.enum(localisationSteps),
        set: z
          .number()
          .int()
          .positive()
          .exactOptional()
          .describe('Number of the set of edit locations; absent for all of them together'),
        known: count.describe('Instances whose output of the step is known'),
        contains: counts.describe('Instances of which the step keeps all places that X* edits'),
        lines: z.number().describe('Mean lines of code that the step keeps'),
        dollars: stageDollars,
      }),
    )
    .readonly()
    .describe('Table 2 of the Agentless paper'),
  samples: z
    .array(
      z.object({
        samples: z
          .number()
          .int()
          .positive()
          .describe('First samples of each instance that take part'),
        ...resolvedBy,
        any: count.describe('Instances that any of the samples resolves: an oracle’s choice'),
      }),
    )
    .readonly()
    .describe('Figure 6'),
  selection: z
    .array(
      z.object({
        by: z.enum(['votes', 'regression', 'reproduction', 'both']),
        ...resolvedBy,
        dollars: stageDollars,
      }),
    )
    .readonly()
    .describe('Table 4: what decides between the patches'),
});

/** The document that `report --format json` prints. */
export const studyReportSchema = z.object({
  version: z.literal(studyVersion),
  created: z.string(),
  product: z.string(),
  resampling: z.object({ resamples: count, seed: z.number().int(), level: p }),
  runs: z.array(
    z.object({
      label: z.string(),
      dataset: z.string().exactOptional(),
      created: z.string().exactOptional(),
      selected: count,
      denominator: denominatorSchema
        .describe('How the selected instances were chosen, and the size of the dataset')
        .exactOptional(),
      entries: count,
      unfinished: z.boolean(),
      grading,
      nodeSeconds: z
        .record(z.string(), z.number())
        .describe('Seconds that sandboxes ran, by node of a cluster')
        .exactOptional(),
    }),
  ),
  nodes: z
    .array(
      z.object({
        purpose: z.enum(['tests', 'code patches', 'predictions']),
        name: z.string().describe('Label of the run, or the predictions file as it was named'),
        seconds: z.record(z.string(), z.number()),
      }),
    )
    .exactOptional()
    .describe('Seconds that sandboxes ran for runs, and for generating what they grade'),
  methods: z.array(summary).describe('Tables 2 and 3 of the SWT-Bench paper'),
  comparisons: z.array(comparison).describe('Every other method against the first of `methods`'),
  byRepository: z
    .array(group)
    .describe('Figure 9; empty for very many methods, like the next table'),
  byIssueLength: z
    .array(group.extend({ shortest: count, longest: count }))
    .describe('Figure 5; lengths in characters'),
  split: z
    .object({
      date: z.string(),
      before: group,
      after: group,
      undated: count,
      tests: z.array(
        z.object({
          method,
          exact: p.describe("Fisher's exact test of S, two-sided"),
          oneSided: p.optional().describe('z-test of S, one-sided'),
        }),
      ),
    })
    .exactOptional()
    .describe('Table 7'),
  overlap: z
    .object({
      names: z.array(z.string()),
      solved: z.array(count),
      union: count,
      regions: z.array(z.object({ methods: z.array(count), instances: z.array(z.string()) })),
      pairs: z
        .array(z.array(count))
        .exactOptional()
        .describe('Absent for more than about 300 methods'),
    })
    .exactOptional()
    .describe('Figure 6; methods by their place in `names`'),
  repairs: z
    .array(
      z.object({
        method: z.string(),
        repairs: z.string(),
        instances: count,
        tests: count,
        fixes: count,
        overlap: z.array(z.string()),
        expected: z.number(),
        p: p.describe('Hypergeometric, at least this overlap'),
      }),
    )
    .describe('Table 6'),
  repairRates: z
    .array(repairRatesSchema)
    .exactOptional()
    .describe('Table 1 of the Agentless paper, for judged code patches'),
  agentless: z
    .array(agentless)
    .exactOptional()
    .describe('Ablations of Agentless, for judged code patches that were ranked'),
  costs: z
    .array(
      z.object({
        method,
        name: z.string(),
        candidates: count,
        dollars: total.exactOptional(),
        inputTokens: total.exactOptional(),
        outputTokens: total.exactOptional(),
        makingSeconds: total.exactOptional(),
        evaluationSeconds: total.exactOptional(),
        dollarsPerSuccess: z.number().exactOptional(),
      }),
    )
    .describe('Tables 9 to 11'),
  passAtK: z.array(
    z.object({
      method,
      name: z.string(),
      values: z.array(z.object({ k: count, mean: p, of: count, samples: count })),
    }),
  ),
  published: z.array(
    z.object({
      method: z.string(),
      split: z.string(),
      selected: count,
      model: z.string().exactOptional(),
      source: z.string(),
      oracle: z.literal(true).exactOptional(),
      answerSeen,
      wellFormed: p.exactOptional(),
      success: p,
      failToAny: p.exactOptional(),
      failToPass: p.exactOptional(),
      passToPass: p.exactOptional(),
      deltaAll: p.exactOptional(),
      deltaSuccess: p.exactOptional(),
      deltaFailure: p.exactOptional(),
      dollars: z.number().exactOptional(),
      seconds: z.number().exactOptional(),
    }),
  ),
  problems: z.array(z.string()).describe('Files and lines that could not be read'),
});

/** All tables of a study, as figures: what `report --format json` prints. */
export type StudyReport = Immutable<z.infer<typeof studyReportSchema>>;

/** One row of the paper's Tables 2 and 3. */
export type Summary = StudyReport['methods'][number];
export type Share = Summary['success'];
/** A mean ΔC; without a mean if there is no instance. */
export type DeltaMean = Summary['deltaAll'];
/** A comparison with p-values that hold for all comparisons of one table together. */
export type AdjustedComparison = StudyReport['comparisons'][number];
/** Instances with a common property; summaries are in the order of the methods. */
export type GroupReport = StudyReport['byRepository'][number];
/** Costs of the candidates of a method. */
export type Costs = StudyReport['costs'][number];
/** The sum of a figure over the candidates that state it. */
export type Total = NonNullable<Costs['dollars']>;
/** Which methods solve the same instances. */
export type Overlap = NonNullable<StudyReport['overlap']>;
/** Tests and fixes of the same instances. */
export type RepairOverlap = StudyReport['repairs'][number];
/** A row of a published table or leaderboard. */
export type PublishedRow = StudyReport['published'][number];
/** A row of table 1 of the Agentless paper. */
export type RepairRates = NonNullable<StudyReport['repairRates']>[number];
/** The ablations of one model's run of Agentless. */
export type AgentlessAblation = NonNullable<StudyReport['agentless']>[number];
