import { z } from 'zod';
import { isInstanceId, type Instance, type PatchSize } from '../../domain/instance';
import { asLabel } from '../../domain/text';
import { goldenPatches } from './goldenPatches';
import { environmentFields, environmentOf } from './environmentFields';
import { readTexts } from './readTexts';

/** The year 5138 in nanoseconds. */
const latestInstant = 1e20;

/**
 * Rows as published, recognised by their fields. Ids become file names, hence the narrow pattern.
 *
 * - SWE-bench: `patch`, `test_patch`
 * - SWT-Bench: `golden_code_patch`, `golden_test_patch`, or for prompting `patch` between tags
 * - SWE-bench Live and SWE-bench Pro: lists in lower case
 */
const text = z.string();
const list = z.union([z.array(text), text], 'is not a list of texts').nullish();

/** Seconds, or as pandas writes them milli-, micro- or nanoseconds since 1970. */
const instant = z.number().min(-latestInstant, 'is not a date').max(latestInstant, 'is not a date');

const rowSchema = z.object({
  instance_id: text.refine(isInstanceId, 'is not a plain identifier'),
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
  fail_to_pass: list,
  pass_to_pass: list,
  ...environmentFields,
});

/** Every column that is used; other columns of a table need not be loaded. */
export const rowColumns: ReadonlySet<string> = new Set(Object.keys(rowSchema.shape));

/** What is wrong with one row. The other rows load nevertheless. */
export const rowProblem = z.object({
  /** 1-based line of a JSONL file, or else position in the list or table. */
  row: z.number(),
  /** The file of the row, relative to the dataset's folder; absent if the dataset is one file. */
  file: z.string().exactOptional(),
  id: z.string().exactOptional(),
  field: z.string().exactOptional(),
  message: z.string(),
});
export type RowProblem = Readonly<z.infer<typeof rowProblem>>;

/** What one usable row holds. */
export interface ReadRow {
  readonly instance: Instance;
  readonly patchSize: PatchSize;
  readonly testsSize: PatchSize;
}

type RowResult = ReadRow | { readonly problem: RowProblem };

/** Reads and checks one row of a dataset. */
export function readRow(row: unknown, number: number): RowResult {
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) {
    return { problem: problemOf(row, number, parsed.error.issues[0]) };
  }
  const data = parsed.data;
  const id = data.instance_id;
  const fail = (field: string, message: string): RowResult => ({
    problem: { row: number, id, field, message },
  });
  const code = chosen(data, 'golden_code_patch', 'patch');
  const tests = chosen(data, 'golden_test_patch', 'test_patch');
  if (code.text.trim() === '') {
    return fail(code.field, `${code.field} is empty: without a golden patch there is no R∘X*`);
  }
  if (tests.text.trim() === '') {
    return fail(tests.field, `${tests.field} is empty: without golden tests nothing can be graded`);
  }
  const golden = goldenPatches({ code, tests });
  if ('message' in golden) return fail(golden.field, golden.message);
  const lists: { failToPass?: readonly string[]; passToPass?: readonly string[] } = {};
  for (const [key, ...fields] of [
    ['failToPass', 'FAIL_TO_PASS', 'fail_to_pass'],
    ['passToPass', 'PASS_TO_PASS', 'pass_to_pass'],
  ] as const) {
    const field = fields.find((each) => data[each] !== null && data[each] !== undefined);
    const value = field === undefined ? undefined : data[field];
    if (field === undefined || value === null || value === undefined) continue;
    const texts = readTexts(value);
    if (texts === 'broken') return fail(field, `${field} is not a list of texts`);
    lists[key] = texts;
  }
  const { environment, remarks } = environmentOf(id, data);
  const allRemarks = [...golden.remarks, ...remarks];
  return {
    instance: {
      id,
      repo: data.repo,
      baseCommit: data.base_commit.toLowerCase(),
      version: asLabel(String(data.version ?? '')),
      issue: data.problem_statement,
      hints: data.hints_text ?? '',
      createdAt: dateOf(data.created_at ?? ''),
      goldenPatch: golden.patch,
      goldenTests: golden.tests,
      failToPass: lists.failToPass,
      passToPass: lists.passToPass,
      ...(environment === undefined ? {} : { environment }),
      ...(allRemarks.length === 0 ? {} : { remarks: allRemarks }),
    },
    patchSize: golden.patchSize,
    testsSize: golden.testsSize,
  };
}

function problemOf(row: unknown, number: number, issue: z.core.$ZodIssue | undefined): RowProblem {
  const field = issue?.path.map(String).join('.') ?? '';
  const id = idOf(row);
  return {
    row: number,
    ...(id === undefined ? {} : { id: asLabel(id) }),
    ...(field === '' ? {} : { field }),
    message:
      field === ''
        ? 'the row is not an object with an instance_id'
        : `${field} ${issue?.code === 'invalid_type' ? 'is missing or not a string' : (issue?.message ?? 'is not valid')}`,
  };
}

/** The `instance_id` of any value; undefined if it has none that is a text. */
export function idOf(row: unknown): string | undefined {
  return typeof row === 'object' &&
    row !== null &&
    'instance_id' in row &&
    typeof row.instance_id === 'string'
    ? row.instance_id
    : undefined;
}

function chosen<Field extends string>(
  data: { readonly [field in Field]?: string | null | undefined },
  first: Field,
  second: Field,
): { field: string; text: string } {
  const field = typeof data[first] === 'string' ? first : second;
  return { field, text: data[field] ?? '' };
}

/**
 * Converts the dates of rows to ISO 8601. Rows have ISO 8601, date and time with a space
 * between, or a number in any unit since 1970.
 */
function dateOf(value: string | number): string {
  if (typeof value === 'number') return dateOfInstant(value).toISOString();
  if (/^\d{9,19}$/.test(value.trim())) return dateOfInstant(Number(value)).toISOString();
  const match =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:?\d\d|UTC)?)?$/.exec(
      value.trim(),
    );
  if (match === null) {
    const other = new Date(value);
    return Number.isNaN(other.getTime()) ? '' : other.toISOString();
  }
  const [, day = '', time, zone = 'Z'] = match;
  return time === undefined ? day : `${day}T${time}${zone === 'UTC' ? 'Z' : zone}`;
}

/** The unit follows from the size: each keeps to the years before 5138. */
function dateOfInstant(since1970: number): Date {
  const size = Math.abs(since1970);
  const perSecond = size < 1e11 ? 1 : size < 1e14 ? 1e3 : size < 1e17 ? 1e6 : 1e9;
  return new Date((since1970 / perSecond) * 1000);
}
