import { basename } from 'node:path';
import { z } from 'zod';
import { parseForeignJson } from '../../files/json';
import { nothingKnown, type RunEntry } from '../../study/entry';
import { readPlainText } from '../../files/plainFile';

const ids = z.array(z.string());

/**
 * A summary of the reference harness, `evaluation_results/<model>.<run>.json`, as it wrote it or as
 * OpenHands copies it (`output.report.json`). Older ones leave `completed_ids` empty.
 */
const harnessSummarySchema = z.looseObject({
  resolved_ids: ids,
  unresolved_ids: ids.optional().catch(undefined),
  completed_ids: ids.optional().catch(undefined),
  error_ids: ids.optional().catch(undefined),
  empty_patch_ids: ids.optional().catch(undefined),
  model_name_or_path: z.string().optional().catch(undefined),
});

/** `results.json` of the leaderboard of SWE-bench, whose layout submissions to SWT-Bench share. */
const leaderboardSchema = z.looseObject({
  resolved: ids,
  no_generation: ids.optional().catch(undefined),
  no_logs: ids.optional().catch(undefined),
});

/** A summary larger than this is not one. */
const mostBytes = 1 << 25;

/** What a summary says: of each instance whether it is resolved, and no more. */
export interface HarnessSummary {
  readonly path: string;
  /** Name of the file without its ending, and without the model where it begins with one. */
  readonly run: string;
  readonly model: string;
  readonly resolved: ReadonlySet<string>;
  readonly unresolved: ReadonlySet<string>;
  /** Instances with an empty patch. */
  readonly empty: ReadonlySet<string>;
  /** Instances without a grade. */
  readonly errors: ReadonlySet<string>;
}

/** Reads a summary; undefined where a file is not one. */
export async function readHarnessSummary(path: string): Promise<HarnessSummary | undefined> {
  const text = await readPlainText(path).catch(() => '');
  if (text.length > mostBytes || !/"resolved(?:_ids)?"/.test(text)) return undefined;
  const value = jsonOf(text);
  const found = harnessSummarySchema.safeParse(value).data ?? ofLeaderboard(value);
  if (found === undefined) return undefined;
  const { model, run } = namesOf(path);
  const resolved = new Set(found.resolved_ids);
  const empty = without(found.empty_patch_ids, resolved);
  const errors = without(found.error_ids, resolved, empty);
  const graded = [...(found.unresolved_ids ?? []), ...(found.completed_ids ?? [])];
  const unresolved = without(graded, resolved, empty, errors);
  return {
    ...{ path, run, resolved, unresolved, empty, errors },
    model: found.model_name_or_path ?? model,
  };
}

function ofLeaderboard(value: unknown): z.infer<typeof harnessSummarySchema> | undefined {
  const { data } = leaderboardSchema.safeParse(value);
  return (
    data && {
      resolved_ids: data.resolved,
      empty_patch_ids: data.no_generation,
      error_ids: data.no_logs,
    }
  );
}

function jsonOf(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}

const without = (
  list: readonly string[] = [],
  ...others: readonly ReadonlySet<string>[]
): ReadonlySet<string> => new Set(list.filter((id) => !others.some((other) => other.has(id))));

/** The harness calls a summary `<model>.<run>.json`; a model may have dots in its versions. */
function namesOf(path: string): { readonly model: string; readonly run: string } {
  const name = basename(path).replace(/\.json$/, '');
  const [, model = name, run = name] = /^(.+)\.([^.]+)$/.exec(name) ?? [];
  return { model, run };
}

const unknownWhy = "The reference harness's summary has no details.";

/** The entries of a summary. Only S is known of them (`RunData.known`), and no number of tests. */
export function entriesOfSummary(summary: HarnessSummary, model: string): RunEntry[] {
  const common = (instance: string) => ({ instance, model, sample: 1, seconds: 0 });
  const harness = { addedFailToPass: 0, coverageDelta: null };
  return [
    ...[...summary.resolved].map((id): RunEntry => ({
      ...common(id),
      ...nothingKnown,
      ...{ evaluated: true, wellFormed: true, success: true },
      ...{ reason: 'success', explanation: `Resolved under harness grading. ${unknownWhy}` },
      harness: { ...harness, resolved: true },
    })),
    ...[...summary.unresolved].map((id): RunEntry => ({
      ...{ ...common(id), ...nothingKnown, evaluated: true },
      ...{ reason: 'not resolved', explanation: unknownWhy },
      harness: { ...harness, resolved: false },
    })),
    ...[...summary.empty].map((id): RunEntry => emptyEntry(common(id))),
    ...[...summary.errors].map((id): RunEntry => ungradedEntry(common(id))),
  ];
}

type Named = Pick<RunEntry, 'instance' | 'model' | 'sample' | 'seconds'>;

/** The entry of an empty patch, which the harness does not run. */
export const emptyEntry = (named: Named): RunEntry => ({
  ...{ ...named, ...nothingKnown, evaluated: true },
  ...{ reason: 'no candidate', explanation: 'The published patch is empty.' },
  harness: { resolved: false, addedFailToPass: 0, coverageDelta: null },
});

/** The entry of a candidate that was published without a grade. */
export const ungradedEntry = (named: Named): RunEntry => ({
  ...{ ...named, ...nothingKnown },
  ...{ reason: 'no report', explanation: 'The reference harness did not grade it.' },
});
