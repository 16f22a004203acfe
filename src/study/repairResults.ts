import { parseForeignJson } from '../files/json';
import { readPlainText } from '../files/plainFile';
import { basename } from 'node:path';
import { z } from 'zod';
import { readRecords } from '../dataset/records';
import type { RepairResults } from './document/document';
import { HumanError, systemCode } from '../domain/work';

const ids = z.array(z.string());

/** Summaries of the SWE-bench harness, and `results.json` of its leaderboard. */
const summary = z.union([
  z.looseObject({
    resolved_ids: ids,
    submitted_ids: ids.optional(),
    completed_ids: ids.optional(),
    unresolved_ids: ids.optional(),
    error_ids: ids.optional(),
    empty_patch_ids: ids.optional(),
  }),
  z.looseObject({ resolved: ids }),
]);

const byId = z.record(z.string(), z.union([z.boolean(), z.looseObject({ resolved: z.boolean() })]));
const row = z.looseObject({ instance_id: z.string(), resolved: z.boolean() });

/**
 * Reads which instances a code repair method resolved. It accepts:
 * - a summary of the SWE-bench harness (`resolved_ids`);
 * - a `results.json` of its leaderboard (`resolved`);
 * - an object by instance id (`true` or `{resolved}`);
 * - rows of `instance_id` and `resolved` (JSON or JSONL);
 * - a list of ids (JSON, or one a line).
 *
 * @throws HumanError when the file is none of these
 */
export async function readRepairResults(path: string): Promise<RepairResults> {
  const name = basename(path).replace(/\.(jsonl?|txt)(\.gz)?$/, '');
  const text = await textOf(path);
  const value = jsonOf(text);
  if (value === undefined) return { name, ...(await ofLines(path, text)) };
  const list = ids.safeParse(value);
  if (list.success) return { name, resolved: list.data };
  const rows = z.array(row).safeParse(value);
  if (rows.success) return { name, ...ofRows(rows.data) };
  const one = row.safeParse(value);
  if (one.success) return { name, ...ofRows([one.data]) };
  const summed = summary.safeParse(value);
  if (summed.success) return { name, ...ofSummary(summed.data) };
  const keyed = byId.safeParse(value);
  if (!keyed.success) throw unusable(path);
  return {
    name,
    ...ofRows(
      Object.entries(keyed.data).map(([instance_id, is]) => ({
        instance_id,
        resolved: typeof is === 'boolean' ? is : is.resolved,
      })),
    ),
  };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readPlainText(path, { named: true });
  } catch (error) {
    const code = systemCode(error);
    throw new HumanError(
      code === 'ENOENT'
        ? `There is no file of repair results at ${path}`
        : `The repair results ${path} cannot be read (${String(code)})`,
      'Specify a SWE-bench harness summary, or a list of ids of resolved instances',
    );
  }
}

function jsonOf(text: string): unknown {
  try {
    return parseForeignJson(text);
  } catch {
    return undefined;
  }
}

function ofSummary(of: z.infer<typeof summary>): Omit<RepairResults, 'name'> {
  if (!('resolved_ids' in of) || !Array.isArray(of.resolved_ids)) {
    return { resolved: ids.parse(of.resolved) };
  }
  const resolved = ids.parse(of.resolved_ids);
  const lists = [
    'submitted_ids',
    'completed_ids',
    'unresolved_ids',
    'error_ids',
    'empty_patch_ids',
  ];
  const others = lists.flatMap((key) => ids.safeParse(of[key]).data ?? []);
  return {
    resolved,
    ...(others.length === 0 ? {} : { attempted: [...new Set([...resolved, ...others])] }),
  };
}

const ofRows = (rows: readonly z.infer<typeof row>[]): Omit<RepairResults, 'name'> => ({
  resolved: rows.filter((each) => each.resolved).map((each) => each.instance_id),
  attempted: rows.map((each) => each.instance_id),
});

/** Reads rows of JSONL, or ids with one on each line. */
async function ofLines(path: string, text: string): Promise<Omit<RepairResults, 'name'>> {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const filled = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (filled.length > 0 && filled.every((line) => /^[\w.-]+__[\w.-]+$/.test(line))) {
    return { resolved: filled };
  }
  const rows = (await readRecords(path, 'file of repair results', { named: true })).map((record) =>
    'error' in record ? undefined : row.safeParse(record.value).data,
  );
  if (rows.length === 0 || rows.includes(undefined)) throw unusable(path);
  return ofRows(rows.filter((each) => each !== undefined));
}

const unusable = (path: string): HumanError =>
  new HumanError(
    `${path} does not list resolved instances`,
    'Specify a SWE-bench harness summary (resolved_ids), rows of instance_id and resolved, or a list of ids',
  );
