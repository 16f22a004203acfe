import { z } from 'zod';
import type { Instance } from '../domain/instance';

/**
 * Rows as SWE-bench (`patch`, `test_patch`) and SWT-Bench (`golden_code_patch`, `golden_test_patch`)
 * publish them, recognised by their fields. Ids become file names, hence the narrow pattern.
 */
const text = z.string();
const list = z.union([z.array(text), text], 'is not a list of texts').nullish();

/** Milliseconds since 1970, as far as a `Date` goes. */
const instant = z.number().min(-8.64e15, 'is not a date').max(8.64e15, 'is not a date');

const rowSchema = z.looseObject({
  instance_id: text.regex(/^[A-Za-z0-9][A-Za-z0-9_.+-]{0,199}$/, 'is not a plain identifier'),
  repo: text.regex(/^[A-Za-z0-9_-][A-Za-z0-9_.-]*\/(?!\.+$)[A-Za-z0-9_.-]+$/, 'is not owner/name'),
  base_commit: text.regex(/^[0-9a-f]{7,64}$/i, 'is not a commit id'),
  problem_statement: text,
  patch: text.nullish(),
  test_patch: text.nullish(),
  golden_code_patch: text.nullish(),
  golden_test_patch: text.nullish(),
  hints_text: text.nullish(),
  created_at: z.union([text, instant], 'is not a date').nullish(),
  version: z.union([text, z.number()], 'is not a text').nullish(),
  FAIL_TO_PASS: list,
  PASS_TO_PASS: list,
});

/** What is wrong with one row; the other rows load all the same. */
export interface RowProblem {
  /** 1-based line of a JSONL file, or index + 1 in a JSON list. */
  readonly row: number;
  readonly id?: string;
  readonly field?: string;
  readonly message: string;
}

export type RowResult = { readonly instance: Instance } | { readonly problem: RowProblem };

/** One row of a dataset, checked. */
export function readRow(row: unknown, number: number): RowResult {
  const parsed = rowSchema.safeParse(row);
  const named =
    typeof row === 'object' &&
    row !== null &&
    'instance_id' in row &&
    typeof row.instance_id === 'string'
      ? { id: row.instance_id.slice(0, 200) }
      : {};
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue?.path.map(String).join('.') ?? '';
    return {
      problem: {
        row: number,
        ...named,
        ...(field === '' ? {} : { field }),
        message:
          field === ''
            ? 'the row is not an object with an instance_id'
            : `${field} ${issue?.code === 'invalid_type' ? 'is missing or not a text' : (issue?.message ?? 'is not valid')}`,
      },
    };
  }
  const data = parsed.data;
  const goldenPatch = data.golden_code_patch ?? data.patch ?? '';
  const goldenTests = data.golden_test_patch ?? data.test_patch ?? '';
  const fail = (field: string, message: string): RowResult => ({
    problem: { row: number, id: data.instance_id, field, message },
  });
  if (goldenPatch.trim() === '') {
    return fail('patch', 'patch is empty: without the golden patch there is no R∘X* to run on');
  }
  if (goldenTests.trim() === '') {
    return fail('test_patch', 'test_patch is empty: without golden tests nothing can be graded');
  }
  const failToPass = readList(data.FAIL_TO_PASS);
  const passToPass = readList(data.PASS_TO_PASS);
  if (failToPass === 'broken') return fail('FAIL_TO_PASS', 'FAIL_TO_PASS is not a list of texts');
  if (passToPass === 'broken') return fail('PASS_TO_PASS', 'PASS_TO_PASS is not a list of texts');
  return {
    instance: {
      id: data.instance_id,
      repo: data.repo,
      baseCommit: data.base_commit.toLowerCase(),
      version: String(data.version ?? ''),
      issue: data.problem_statement,
      hints: data.hints_text ?? '',
      createdAt:
        typeof data.created_at === 'number'
          ? new Date(data.created_at).toISOString()
          : (data.created_at ?? ''),
      goldenPatch,
      goldenTests,
      failToPass,
      passToPass,
    },
  };
}

/** Older rows hold lists as JSON text, newer ones as lists. */
function readList(value: string | string[] | null | undefined): string[] | undefined | 'broken' {
  if (value === null || value === undefined) return undefined;
  if (typeof value !== 'string') return value;
  try {
    const parsed = z.array(text).safeParse(JSON.parse(value));
    return parsed.success ? parsed.data : 'broken';
  } catch {
    return 'broken';
  }
}
