import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { changeKinds, lineStates, type ChangeCoverage } from '../../domain/changeCoverage';
import type { Instance } from '../../domain/instance';
import {
  outcomes,
  phases,
  type TestResult,
  transitions,
  type TestTransition,
} from '../../domain/outcome';
import { verdictReasons, type Verdict } from '../../domain/verdict';
import { mutantResultsSchema } from '../../mutation/mutantSchema';
import type { CandidateResult } from '../../evaluation/candidateResult';
import type { TestRun } from '../../evaluation/testRun';
import { runReportSchema } from '../../results/reportSchema';
import { findingSchema } from '../../study/entrySchema';
import { harnessReportSchema } from '../../domain/harness';
import { sha256 } from '../../files/digest';
import { writeWholeFile } from '../../files/wholeFile';
import type { Evaluated } from './evaluated';

/**
 * Version of the file format. Raise it when a kept evaluation changes its meaning; older files are
 * ignored.
 */
const format = 3;

const texts = z.array(z.string());

const testResult: z.ZodType<TestResult> = z.object({
  test: z.string(),
  outcome: z.enum(outcomes),
  seconds: z.number().exactOptional(),
  phase: z.enum(phases).exactOptional(),
  exception: z.string().exactOptional(),
  message: z.string().exactOptional(),
  details: z.string().exactOptional(),
  frames: z
    .array(z.object({ path: z.string(), line: z.number(), function: z.string() }))
    .exactOptional(),
  comparison: z.object({ expected: z.string(), actual: z.string() }).exactOptional(),
});

const testTransition: z.ZodType<TestTransition> = z.object({
  test: z.string(),
  transition: z.enum(transitions),
  base: testResult,
  fixed: testResult,
});

const verdict: z.ZodType<Verdict> = z.object({
  success: z.boolean(),
  reason: z.enum(verdictReasons),
  explanation: z.string(),
  wellFormed: z.boolean(),
  failToPass: texts,
  failToFail: texts,
  passToPass: texts,
  passToFail: texts,
  failToAny: texts,
  anyToFail: texts,
});

const coverage: z.ZodType<ChangeCoverage> = z.object({
  lines: z.array(
    z.object({
      path: z.string(),
      line: z.number(),
      text: z.string(),
      change: z.enum(changeKinds),
      state: z.enum(lineStates),
      counts: z.object({ base: z.number(), candidate: z.number(), golden: z.number() }),
      coveredBy: texts,
      executions: z.record(z.string(), z.number()),
      lost: z.literal(true).exactOptional(),
    }),
  ),
  covered: z.number(),
  executable: z.number(),
  delta: z.number().optional(),
}) as z.ZodType<ChangeCoverage>;

const testRun = runReportSchema.extend({ log: z.string() }) satisfies z.ZodType<TestRun>;

/** JSON has no undefined: such keys are absent in the file, and reading adds them again. */
const result = z.object({
  instance: z.string(),
  model: z.string(),
  source: z.object({ kind: z.enum(['commit', 'snapshot']), from: z.string() }),
  // Quick fixes are left out: they are about a text that the user gave, and git wrote this patch.
  diagnostics: z.array(
    z.object({
      severity: z.enum(['error', 'warning', 'info']),
      line: z.number(),
      message: z.string(),
      hint: z.string().exactOptional(),
    }),
  ),
  notes: texts,
  findings: z.array(findingSchema),
  patch: z.string(),
  ownTests: texts,
  tests: z.array(testTransition),
  strict: verdict,
  harness: harnessReportSchema,
  difference: z.string().optional(),
  changeCoverage: coverage.optional(),
  goldenCoverage: coverage.optional(),
  runs: z.object({ base: testRun.exactOptional(), fixed: testRun.exactOptional() }),
  affected: z.object({ ran: z.number(), kept: z.number() }).exactOptional(),
});

const kept = z.object({
  format: z.literal(format),
  version: z.string(),
  row: z.string(),
  digest: z.string(),
  // Ids, texts and bases of tests.
  texts: z.array(z.tuple([z.string(), z.string(), z.string().nullable()])),
  evaluatedAt: z.iso.datetime(),
  milliseconds: z.number(),
  reusedFrom: z.iso.datetime().optional(),
  result,
  environment: z.string().optional(),
  mutants: mutantResultsSchema.exactOptional(),
});

/** What a verdict depends on apart from the candidate. */
interface Grounds {
  /** Version of the extension, whose rules graded the candidate. */
  readonly version: string;
  /** `rowDigest` of the instance that the candidate was graded against. */
  readonly row: string;
}

/** A verdict that was read back, with the digest of the row that it was graded against. */
export interface Restored {
  readonly evaluated: Evaluated;
  readonly row: string;
}

/** SHA-256 (hexadecimal) of the parts of an instance that a verdict depends on: R, X* and T*. */
export function rowDigest({
  baseCommit,
  goldenPatch,
  goldenTests,
}: Pick<Instance, 'baseCommit' | 'goldenPatch' | 'goldenTests'>): string {
  const row = JSON.stringify([baseCommit, goldenPatch, goldenTests]);
  return sha256(row);
}

/**
 * The last verdict on a workspace, which outlives the window. It contains text of X*, so it is in
 * the storage of the extension and not in the workspace.
 */
export class StoredEvaluation {
  private writing: Promise<void> = Promise.resolve();
  private next: { readonly evaluated: Evaluated; readonly row: string } | undefined;

  /**
   * @param path of the file
   * @param instance id of the instance; a verdict of another is ignored
   * @param version of the extension; a verdict of another version is ignored
   */
  constructor(
    readonly path: string,
    private readonly instance: string,
    private readonly version: string,
  ) {}

  /** The stored verdict; undefined when there is none that can be read. */
  async read(): Promise<Restored | undefined> {
    const text = await readFile(this.path, 'utf8').catch(() => undefined);
    return text === undefined
      ? undefined
      : parseEvaluated(text, { instance: this.instance, version: this.version });
  }

  /**
   * Replaces the stored verdict. Of several concurrent calls the last one wins.
   *
   * @param row `rowDigest` of the instance that it was graded against
   * @throws when the disk is full or the folder cannot be written
   */
  write(evaluated: Evaluated, row: string): Promise<void> {
    this.next = { evaluated, row };
    const work = async (): Promise<void> => {
      const { next } = this;
      this.next = undefined;
      if (next === undefined) return;
      const grounds = { version: this.version, row: next.row };
      await writeWholeFile(this.path, printEvaluated(next.evaluated, grounds));
    };
    this.writing = this.writing.then(work, work);
    return this.writing;
  }

  /** Resolves when all writes have ended. */
  settled(): Promise<void> {
    return this.writing.catch(() => undefined);
  }
}

/** A verdict as JSON. */
export function printEvaluated(evaluated: Evaluated, { version, row }: Grounds): string {
  const { digest, texts, evaluatedAt, milliseconds, reusedFrom, environment, mutants } = evaluated;
  return JSON.stringify({
    format,
    version,
    row,
    digest,
    texts: [...texts].map(([id, { text, basis }]) => [id, text, basis ?? null]),
    evaluatedAt: evaluatedAt.toISOString(),
    milliseconds,
    ...(reusedFrom === undefined ? {} : { reusedFrom: reusedFrom.toISOString() }),
    result: evaluated.result,
    ...(environment !== undefined && { environment }),
    ...(mutants !== undefined && { mutants }),
  });
}

/**
 * A verdict from JSON. Undefined when the text is invalid, cut off, or of another instance or
 * version. The caller compares the instance's row, since that may mean reading a dataset.
 */
export function parseEvaluated(
  text: string,
  { instance, version }: { readonly instance: string; readonly version: string },
): Restored | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const read = kept.safeParse(value);
  if (!read.success || read.data.version !== version) return undefined;
  if (read.data.result.instance !== instance) return undefined;
  const { result: found, ...about } = read.data;
  const whole: CandidateResult = {
    ...found,
    difference: found.difference,
    changeCoverage: withDelta(found.changeCoverage),
    goldenCoverage: withDelta(found.goldenCoverage),
  };
  const evaluated: Evaluated = {
    result: whole,
    digest: about.digest,
    texts: new Map(
      about.texts.map(([id, text, basis]) => [id, { text, basis: basis ?? undefined }]),
    ),
    evaluatedAt: new Date(about.evaluatedAt),
    milliseconds: about.milliseconds,
    reusedFrom: about.reusedFrom === undefined ? undefined : new Date(about.reusedFrom),
    restored: 'before the reload',
    ...(about.environment !== undefined && { environment: about.environment }),
    ...(about.mutants !== undefined && { mutants: about.mutants }),
  };
  return { evaluated, row: about.row };
}

const withDelta = (found: ChangeCoverage | undefined): ChangeCoverage | undefined =>
  found === undefined ? undefined : { ...found, delta: found.delta };
