import type { KeptCode, LocalisationStep, TracedStages } from '../../domain/instance';
import { plainLines } from '../../files/plainFile';
import {
  agentlessNumbers,
  mergedIntervals,
  combinedFilesSchema,
  editLocationsSchema,
  locationsSchema,
  setsToRepair,
  type EditLocations,
  embeddingRetrievalSchema,
  suspiciousFilesSchema,
  repairSchema,
} from '../../method/agentless';
import { stepSchema } from '../../method/generating';

/** What a trace of Agentless has of an instance. */
export interface InstanceInTrace {
  /** The last output of each stage. */
  readonly outputs: ReadonlyMap<string, unknown>;
  readonly answers: readonly PaidRequest[];
}

interface PaidRequest {
  readonly stage: string;
  /** The model that answered; undefined for vectors. */
  readonly model: string | undefined;
  /** Undefined where no price is known. */
  readonly dollars: number | undefined;
}

/** Names of requests in a trace begin with it, and continue with the stage. */
const ofAgentless = 'agentless-';

/**
 * Reads the outputs of stages and the costs of requests from a trace, by instance. Other lines, and
 * lines that cannot be read, are left out.
 *
 * @throws what the system says, such as ENOENT; an AbortError
 */
export async function readStages(
  path: string,
  signal?: AbortSignal,
): Promise<Map<string, InstanceInTrace>> {
  type Own = { readonly outputs: Map<string, unknown>; readonly answers: PaidRequest[] };
  const found = new Map<string, Own>();
  for await (const { line } of plainLines(path, { named: true, signal })) {
    // Most lines are prompts and patches, which may be long.
    if (!/"step":"(?:stage|answer|embedding)"/.test(line.slice(0, 100))) continue;
    const { data } = stepSchema.safeParse(jsonOf(line));
    if (data === undefined) continue;
    const own: Own = found.get(data.instance) ?? { outputs: new Map(), answers: [] };
    found.set(data.instance, own);
    if (data.step === 'stage') own.outputs.set(data.stage, data.output);
    if (data.step === 'embedding') {
      own.answers.push({ stage: 'retrieval', model: undefined, dollars: data.dollars });
    }
    if (data.step === 'answer' && data.method.startsWith(ofAgentless)) {
      const stage = data.method.slice(ofAgentless.length);
      own.answers.push({ stage, model: data.model, dollars: data.dollars });
    }
  }
  return found;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The code that each step of localisation keeps. Both lists of files are as long as the combined
 * one. A step without an output is left out, and so is a retrieval that found nothing, as it does
 * without an embedding model.
 */
export function keptCode(outputs: InstanceInTrace['outputs']): KeptCode[] {
  const named = suspiciousFilesSchema.safeParse(outputs.get('files')).data;
  const near = embeddingRetrievalSchema.safeParse(outputs.get('retrieval')).data ?? [];
  const combined = combinedFilesSchema.safeParse(outputs.get('combined')).data;
  const code = locationsSchema.safeParse(outputs.get('lines')).data;
  const sets = editLocationsSchema.safeParse(outputs.get('locations')).data;
  const most = combined?.length ?? agentlessNumbers.topFiles.default;
  const whole = (step: LocalisationStep, paths: readonly string[]): KeptCode => ({
    step,
    files: paths.map((path) => ({ path })),
  });
  const kept: KeptCode[] = [];
  if (named !== undefined) kept.push(whole('files', named.slice(0, most)));
  if (near.length > 0) {
    kept.push(
      whole(
        'retrieval',
        near.slice(0, most).map(({ path }) => path),
      ),
    );
  }
  if (combined !== undefined) kept.push(whole('combined', combined));
  if (code === undefined) return kept;
  if (outputs.has('elements')) kept.push({ step: 'elements', files: code });
  if (sets !== undefined) kept.push(...ofLocations(setsToRepair(sets, code)));
  return kept;
}

/** All sets of locations together, and each of several. */
function ofLocations(sets: readonly EditLocations[]): KeptCode[] {
  const paths = new Set(sets.flatMap((set) => set.map(({ path }) => path)));
  const merged = [...paths].map((path) => {
    const own = sets.flat().filter((file) => file.path === path);
    const intervals = own.flatMap((file) => file.intervals);
    return { path, intervals: mergedIntervals(intervals, { around: 0, lines: Infinity }) };
  });
  const step = 'locations';
  const each = sets.map((files, at) => ({ step, set: at + 1, files }) as const);
  return [{ step, files: merged }, ...(sets.length > 1 ? each : [])];
}

/**
 * The stages of an instance, with the dollars of a model's requests.
 *
 * @param model that answered; undefined for any
 * @returns undefined where the trace has no stage of localisation
 */
export function tracedStages(
  { outputs, answers }: InstanceInTrace,
  model: string | undefined,
): TracedStages | undefined {
  const kept = keptCode(outputs);
  if (kept.length === 0) return undefined;
  const own = answers.filter(
    (each) => model === undefined || each.model === undefined || each.model === model,
  );
  if (own.length === 0 || own.some(({ dollars }) => dollars === undefined)) return { kept };
  const sums: Record<string, number> = {};
  for (const { stage, dollars = 0 } of own) sums[stage] = (sums[stage] ?? 0) + dollars;
  return { kept, dollars: sums };
}

/** Whether a trace ends with the run that has drawn this patch; true where it does not tell. */
export function hasDrawn(
  outputs: InstanceInTrace['outputs'],
  { sample, patch }: { readonly sample: number; readonly patch: string },
): boolean {
  const drawn = repairSchema.safeParse(outputs.get('repair')).data;
  const own = drawn?.find((each) => each.sample === sample);
  return own === undefined || own.patch === patch;
}
