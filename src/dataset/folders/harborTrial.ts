import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { parseForeignJson } from '../../files/json';
import { readPlainText } from '../../files/plainFile';
import { throwIfAborted } from '../../domain/work';
import type { FolderRow } from '../predictions';

const text = z.string().nullish().catch(undefined);
const count = z.number().nonnegative().nullish().catch(undefined);

const agentResult = z
  .looseObject({ n_input_tokens: count, n_output_tokens: count, cost_usd: count })
  .nullish()
  .catch(undefined);
const exception = z
  .looseObject({ exception_type: z.string(), exception_message: z.string().catch('') })
  .nullish()
  .catch(undefined);

/** `result.json` of a trial of Harbor (`harbor.models.trial.result`). */
const resultSchema = z.looseObject({
  task_name: z.string(),
  trial_name: z.string(),
  agent_info: z.looseObject({
    name: z.string(),
    model_info: z.looseObject({ name: z.string(), provider: text }).nullish().catch(undefined),
  }),
  agent_result: agentResult,
  exception_info: exception,
  agent_execution: z
    .looseObject({ started_at: text, finished_at: text })
    .nullish()
    .catch(undefined),
  step_results: z
    .array(z.looseObject({ agent_result: agentResult, exception_info: exception }))
    .nullish()
    .catch(undefined),
});
type Result = z.infer<typeof resultSchema>;

/** `config.json` of a trial, which is there before it has ended. */
const configSchema = z.looseObject({
  trial_name: z.string(),
  task: z.looseObject({ path: text, name: text }),
});

/** Folders that are looked into for a first trial. */
const mostTried = 50;

/** Whether a folder is one of a job of Harbor, or of a trial. */
export async function isHarborFolder(folder: string): Promise<boolean> {
  if (await isTrial(folder)) return true;
  for (const name of (await namesIn(folder)).folders.slice(0, mostTried)) {
    if (await isTrial(join(folder, name))) return true;
  }
  return false;
}

const isTrial = async (folder: string): Promise<boolean> =>
  (await resultIn(folder)) !== undefined || (await configIn(folder)) !== undefined;

/** A trial: the name of its task, and the patch that its agent left, where it left one. */
interface HarborTrial {
  /** Without its organization; the id of the instance on the SWT-bench adapter of Harbor. */
  readonly task: string;
  readonly patch: string | undefined;
}

/** The trial in a folder; undefined for any other folder. @throws Cancelled */
export async function trialIn(
  folder: string,
  signal?: AbortSignal,
): Promise<HarborTrial | undefined> {
  const name = (await resultIn(folder))?.task_name ?? taskIn(await configIn(folder));
  const [task = ''] = name?.split('/').slice(-1) ?? [];
  return task === '' ? undefined : { task, patch: await patchOf(folder, signal) };
}

const taskIn = (config: z.infer<typeof configSchema> | undefined): string | undefined =>
  config?.task.name ??
  (typeof config?.task.path === 'string' ? basename(config.task.path) : undefined);

/**
 * The trials of a job of Harbor as rows of predictions, in the order of their names. A text says why one is not one. Several of one
 * agent on one task are samples.
 *
 * @param folder of the job, or of one trial
 * @param idOf the id of an instance for the name of a task
 * @throws Cancelled
 */
export async function harborRows(
  folder: string,
  idOf: (task: string) => string,
  signal?: AbortSignal,
): Promise<FolderRow[]> {
  const folders = (await isTrial(folder))
    ? [folder]
    : (await namesIn(folder)).folders.map((name) => join(folder, name));
  const seen = new Map<string, number>();
  const rows: FolderRow[] = [];
  for (const trial of folders) {
    throwIfAborted(signal);
    const result = await resultIn(trial);
    if (result === undefined) {
      if ((await configIn(trial)) !== undefined) {
        rows.push({
          origin: trial,
          value: `trial ${basename(trial)} has no result because it has not finished`,
        });
      }
      continue;
    }
    const found = await patchOf(trial, signal);
    const failure = failureOf(result);
    if (found === undefined && failure === undefined) {
      const why = 'neither its artifact model.patch nor its test output contains a patch';
      rows.push({ origin: trial, value: `trial ${result.trial_name}: ${why}` });
      continue;
    }
    const id = idOf(result.task_name.split('/').at(-1) ?? '');
    const { name: agent, model_info: info } = result.agent_info;
    const model = [info?.provider, info?.name].filter(Boolean).join('/');
    const who = [agent, model].filter(Boolean).join('/');
    const key = JSON.stringify([id, who]);
    const sample = (seen.get(key) ?? 0) + 1;
    seen.set(key, sample);
    rows.push({
      origin: trial,
      value: {
        instance_id: id,
        model_name_or_path: who,
        model_patch: found ?? '',
        cost: costOf(result),
        ...(model !== '' && { method: agent, model }),
        ...(sample > 1 && { sample }),
        // Harbor's oracle applies the solution of the task.
        ...(agent === 'oracle' && { oracle: true }),
        ...(failure !== undefined && { failure }),
      },
    });
  }
  return rows;
}

const longestFailure = 300;

/** Why a trial failed, on one line; undefined where it did not. */
function failureOf({ exception_info: whole, step_results: steps }: Result): string | undefined {
  const found = [whole, ...(steps ?? []).map((step) => step.exception_info)].find(
    (each) => each !== null && each !== undefined,
  );
  if (found === undefined || found === null) return undefined;
  const [first = ''] = found.exception_message.trim().split('\n', 1);
  return [found.exception_type, first].filter(Boolean).join(': ').slice(0, longestFailure);
}

function costOf({ agent_result: whole, step_results: steps, agent_execution: time }: Result) {
  const parts = [whole, ...(steps ?? []).map((step) => step.agent_result)];
  const sum = (field: 'n_input_tokens' | 'n_output_tokens' | 'cost_usd'): number | undefined => {
    const known = parts.flatMap((part) => part?.[field] ?? []);
    return known.length === 0 ? undefined : known.reduce((before, value) => before + value, 0);
  };
  const seconds = (Date.parse(time?.finished_at ?? '') - Date.parse(time?.started_at ?? '')) / 1000;
  return {
    dollars: sum('cost_usd'),
    input_tokens: sum('n_input_tokens'),
    output_tokens: sum('n_output_tokens'),
    ...(seconds >= 0 && { seconds }),
  };
}

/** Names of the patch of a candidate, the more telling ones first. */
const patchNames = ['model.patch', 'model_test.patch', 'model_patch.diff', 'patch.diff'];
/** Patches that a task brings, and no agent left. */
const givenPatch = /gold|oracle|solution|fix|base/i;

/**
 * The patch that an agent left in a trial: an artifact, a file of the verifier or of the agent, what
 * the tests of the SWT-bench adapter print, or the submission of SWE-agent or mini-SWE-agent. Of a
 * task of several steps the last counts.
 *
 * @returns undefined where there is none; empty where the agent changed nothing
 */
async function patchOf(trial: string, signal?: AbortSignal): Promise<string | undefined> {
  const hasSteps = (await namesIn(trial)).folders.includes('steps');
  const steps = hasSteps ? (await namesIn(join(trial, 'steps'))).folders : [];
  const roots = [trial, ...steps.toReversed().map((name) => join(trial, 'steps', name))];
  for (const part of ['artifacts', 'verifier', 'agent']) {
    for (const root of roots) {
      // An agent may have left a link in place of a folder.
      if (!(await namesIn(root)).folders.includes(part)) continue;
      const folder = join(root, part);
      const [best] = (await patchesBelow(folder, deepest)).sort(
        (one, other) => rank(one) - rank(other) || (one < other ? -1 : 1),
      );
      if (best !== undefined) return textOf(best, signal);
      if (part === 'verifier') {
        const printed = patchIn(await textOf(join(folder, 'test-stdout.txt'), signal));
        if (printed !== undefined) return printed;
      }
      if (part === 'agent') {
        const submitted = await submissionIn(folder, signal);
        if (submitted !== undefined) return submitted;
      }
    }
  }
  return undefined;
}

function rank(path: string): number {
  const at = patchNames.indexOf(basename(path));
  return at === -1 ? patchNames.length : at;
}

/** Artifacts mirror whole paths of the container. */
const deepest = 8;

async function patchesBelow(folder: string, depth: number): Promise<string[]> {
  const { files, folders } = await namesIn(folder);
  const found = files
    .filter((name) => /\.(?:patch|diff)$/.test(name) && !givenPatch.test(name))
    .map((name) => join(folder, name));
  if (depth === 1) return found;
  for (const name of folders) found.push(...(await patchesBelow(join(folder, name), depth - 1)));
  return found;
}

const line = '='.repeat(100);

/** What the tests of the SWT-bench adapter print between two lines, without traces of the shell. */
function patchIn(output: string | undefined): string | undefined {
  const lines = output?.split('\n') ?? [];
  const from = lines.indexOf(line);
  const to = lines.indexOf(line, from + 1);
  if (from === -1 || to === -1) return undefined;
  const printed = lines.slice(from + 1, to);
  if (printed[0]?.startsWith('+ cat ') === true) printed.shift();
  if (printed.at(-1) === `+ echo ${line}`) printed.pop();
  return printed.length === 0 ? '' : `${printed.join('\n')}\n`;
}

const submissionSchema = z.looseObject({ info: z.looseObject({ submission: z.string() }) });

async function submissionIn(folder: string, signal?: AbortSignal): Promise<string | undefined> {
  for (const name of ['mini-swe-agent.trajectory.json', 'swe-agent.trajectory.json']) {
    const value = jsonOf(await textOf(join(folder, name), signal));
    const { data } = submissionSchema.safeParse(value);
    if (data !== undefined) return data.info.submission;
  }
  return undefined;
}

const resultIn = async (folder: string): Promise<Result | undefined> =>
  resultSchema.safeParse(jsonOf(await textOf(join(folder, 'result.json')))).data;

const configIn = async (folder: string) =>
  configSchema.safeParse(jsonOf(await textOf(join(folder, 'config.json')))).data;

/** Undefined for a file that is not there, or is no plain one. */
const textOf = (path: string, signal?: AbortSignal): Promise<string | undefined> =>
  readPlainText(path, { signal }).catch(() => {
    throwIfAborted(signal);
    return undefined;
  });

function jsonOf(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : parseForeignJson(json);
  } catch {
    return undefined;
  }
}

/** Names in a folder, sorted; none of links, and none where it cannot be listed. */
async function namesIn(folder: string): Promise<{ files: string[]; folders: string[] }> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const of = (kind: 'isFile' | 'isDirectory'): string[] =>
    entries
      .filter((entry) => entry[kind]())
      .map(({ name }) => name)
      .sort();
  return { files: of('isFile'), folders: of('isDirectory') };
}
