import { z } from 'zod';
import { changeKinds, lineStates } from '../domain/changeCoverage';
import { harnessReportSchema, transitionLists } from '../domain/harness';
import { findingSchema, trajectoryFindingSchema } from '../study/entrySchema';
import { mutantSchema, mutantStatuses } from '../mutation/mutantSchema';
import { outcomes } from '../domain/outcome';
import { entryReasons } from '../domain/verdict';

/** Raised when a key of the `strict` block changes its meaning. */
export const reportVersion = 1;

const ids = z.array(z.string());
const count = z.number().int().nonnegative();
const share = z.number().nullable();

const outcome = z.object({
  outcome: z.enum(outcomes),
  seconds: z.number().exactOptional(),
  exception: z.string().exactOptional(),
  message: z.string().exactOptional(),
});

const coverageLine = z.object({
  path: z.string(),
  line: z.number().int().describe('From 1 on; of R for a removed line, of R∘X* for an added one'),
  change: z.enum(changeKinds),
  state: z.enum(lineStates),
  counts: z
    .object({ base: count, candidate: count, golden: count })
    .describe('Executions in each run, by any code'),
  covered_by: ids.describe('Tests that the candidate adds or changes and that ran the line'),
  lost: z
    .literal(true)
    .exactOptional()
    .describe('Would be newly covered if the candidate had not removed or disabled existing tests'),
});

const fraction = {
  covered: count,
  executable: count,
  delta: share.describe('covered / executable; null where nothing is executable'),
};

const strict = z
  .object({
    version: z.literal(reportVersion),
    success: z.boolean().describe('At least one F→P and no ×→F'),
    reason: z.string(),
    explanation: z.string(),
    well_formed: z.boolean().describe('W: the candidate applies to R'),
    FAIL_TO_PASS: ids,
    FAIL_TO_FAIL: ids,
    PASS_TO_PASS: ids,
    PASS_TO_FAIL: ids,
    fail_to_any: ids.describe('F→×'),
    any_to_fail: ids.describe('×→F'),
    candidate_tests: ids.describe('Functions that the candidate adds or changes'),
    tests: z.array(
      z.object({ test: z.string(), transition: z.string(), base: outcome, fixed: outcome }),
    ),
    change_coverage: z
      .object({
        ...fraction,
        states: z.record(z.enum(lineStates), count),
        lines: z.array(coverageLine),
      })
      .nullable()
      .describe('ΔC; null where golden or base tests could not be run to their end'),
    golden_change_coverage: z.object(fraction).nullable().describe('ΔC of T* itself'),
    findings: z.array(findingSchema).describe('Reasons to question the verdict, for human review'),
  })
  .describe('The definitions of the SWT-Bench paper, section 3');

const mutants = z
  .object({
    made: count.describe('Mutants of the instance, the same for every candidate'),
    all: count.describe('Mutants that the candidate was tested on; a sample if `made` is larger'),
    killed: count.describe('Mutants on which a test fails, or that time out'),
    killed_by_FAIL_TO_PASS: count.describe('Of these, mutants that an F→P test kills'),
    score: share.describe('killed / all; null where there is no mutant'),
    statuses: z.record(z.enum(mutantStatuses), count),
    list: z.array(
      mutantSchema.extend({
        status: z.enum(mutantStatuses),
        killed_by: ids.describe('Tests that pass on R∘X* and fail on the mutant'),
      }),
    ),
  })
  .describe("Bugs seeded in lines that X* adds, on which the candidate's tests ran");

/** One run on one side, without its output. */
export const runReportSchema = z.object({
  ending: z.string(),
  exit_code: z.number().int().nullable(),
  seconds: z.number(),
  runner: z.string(),
  techniques: z.array(z.string()),
  problems: z.array(z.string()),
});

const run = runReportSchema.nullable();

const diagnostic = z.object({
  severity: z.string(),
  message: z.string(),
});

/** The report of one candidate on one instance, as this program writes it. */
export const reportSchema = z.object({
  instance_id: z.string(),
  model_name_or_path: z.string(),
  sample: z.number().int().positive().exactOptional(),
  oracle: z
    .literal(true)
    .exactOptional()
    .describe('Set if the candidate was created or selected with the answer'),
  ...harnessReportSchema.shape,
  reason: z
    .enum(entryReasons)
    .describe('`success`, or the reason why the candidate is not a success'),
  explanation: z.string(),
  error: z.string().exactOptional().describe('Why there is no grade; absent if there is one'),
  program: z
    .object({ name: z.string(), version: z.string() })
    .exactOptional()
    .describe('What wrote this'),
  source: z
    .object({ kind: z.enum(['commit', 'snapshot']), from: z.string() })
    .exactOptional()
    .describe('Source of R'),
  environment: z
    .object({
      description: z.string(),
      interpreter: z.string(),
      python: z.string(),
      pytest: z.string().nullable(),
      image: z.string().exactOptional(),
      package_day: z
        .object({ wanted: z.string(), taken: z.string() })
        .exactOptional()
        .describe(
          'Dates (YYYY-MM-DD) of the instance and of its packages; absent if they are equal',
        ),
      digest: z.string(),
    })
    .nullable()
    .exactOptional()
    .describe('Environment of the tests'),
  seconds: z.number().exactOptional().describe('Wall clock of the evaluation'),
  trajectory_findings: z
    .array(trajectoryFindingSchema)
    .exactOptional()
    .describe(
      "Signs of cheating in the candidate's trajectory, for human review; absent if no trajectory is known",
    ),
  strict: strict.nullable().describe('null where there is no grade'),
  mutants: mutants.exactOptional().describe('Absent if the candidate was not tested on mutants'),
  gradings_differ: z
    .string()
    .nullable()
    .exactOptional()
    .describe('The rule by which the harness grading differs from the strict one'),
  diagnostics: z
    .array(z.looseObject(diagnostic.shape))
    .exactOptional()
    .describe('Diagnostics from the conversion to a unified diff'),
  notes: z.array(z.string()).exactOptional(),
  runs: z.object({ base: run, fixed: run }).exactOptional().describe('Runs of the candidate'),
});

/** The keys of the reference harness are at the top; `strict` has the paper's definitions. */
export type Report = z.infer<typeof reportSchema>;

const { shape } = reportSchema;
const { shape: ofStrict } = strict;
/** The harness lists tests in `UNMATCHED` that no study needs. */
const readTransitions = transitionLists.omit({ UNMATCHED: true }).nullish();
const readFraction = z.object(fraction).pick({ covered: true, executable: true }).nullish();

/**
 * What a study reads of a `report.json` of this program or of the reference harness. The
 * keys are those of {@link reportSchema}; most may be absent or null. Other keys pass.
 */
export const readableReportSchema = z
  .looseObject({
    patch_is_None: shape.patch_is_None,
    patch_exists: shape.patch_exists,
    patch_successfully_applied: shape.patch_successfully_applied,
    resolved: shape.resolved,
    added_f2p: shape.added_f2p.unwrap().nullish(),
    coverage_pred: shape.coverage_pred.optional(),
    coverage_delta_pred: shape.coverage_delta_pred.optional(),
    tests_base: readTransitions,
    tests_pred: readTransitions,
    model_name_or_path: shape.model_name_or_path.optional(),
    sample: shape.sample,
    oracle: shape.oracle,
    reason: shape.reason.optional(),
    explanation: shape.explanation.optional(),
    error: shape.error,
    seconds: shape.seconds,
    gradings_differ: shape.gradings_differ,
    trajectory_findings: shape.trajectory_findings,
    mutants: mutants.pick({ list: true }).nullish(),
    strict: z
      .looseObject({
        success: ofStrict.success,
        reason: z.enum(entryReasons),
        explanation: ofStrict.explanation,
        well_formed: ofStrict.well_formed,
        FAIL_TO_PASS: ids,
        FAIL_TO_FAIL: ids,
        PASS_TO_PASS: ids,
        PASS_TO_FAIL: ids,
        fail_to_any: ids,
        any_to_fail: ids,
        change_coverage: readFraction,
        golden_change_coverage: readFraction,
        findings: ofStrict.findings,
      })
      .nullish(),
  })
  .refine(
    ({ reason, strict }) => !strict || ((reason ?? strict.reason) === 'success') === strict.success,
    {
      path: ['strict', 'success'],
      message: 'contradicts the reason',
    },
  );

/** A report of this program or of the reference harness, with what studies read of it. */
export type ReadableReport = z.infer<typeof readableReportSchema>;

/** A whole `report.json`. */
export const reportFileSchema = z.record(z.string(), reportSchema);
