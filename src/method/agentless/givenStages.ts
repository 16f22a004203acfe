import { z } from 'zod';
import { HumanError } from '../../domain/work';
import { agentlessStages, type AgentlessStage } from './agentlessSettings';

const lineSchema = z.looseObject({ instance: z.string(), stage: z.string(), output: z.unknown() });

/** A prediction of SWE-bench, or a line of ranked patches. */
const predictionSchema = z.looseObject({
  instance_id: z.string(),
  model_patch: z.string(),
  drawn_sample: z.int().min(1).optional(),
});

/** Outputs of stages by instance and stage. */
export type GivenStages = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/**
 * The outputs of stages in a file of JSON lines, such as a trace. Other lines of a trace are
 * ignored. Of two outputs of a stage the later one counts. Predictions of an instance are together
 * the output of its stage `repair`.
 *
 * @param path names the file in messages
 * @param taken the stages whose outputs count
 * @throws HumanError when a line is no JSON, or no line has an output
 */
export function readGivenStages(
  text: string,
  path: string,
  taken: readonly AgentlessStage[] = agentlessStages,
): GivenStages {
  const given = new Map<string, Map<string, unknown>>();
  // Other outputs in a trace follow from those of stages and R.
  const isTaken = (stage: string): boolean => taken.some((each) => each === stage);
  const put = (instance: string, stage: string, output: unknown): void => {
    const own = given.get(instance) ?? new Map<string, unknown>();
    if (isTaken(stage)) given.set(instance, own.set(stage, output));
  };
  const patches = new Map<string, object[]>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = jsonOf(line);
    if (value === undefined) {
      throw new HumanError(
        `${path}:${index + 1} is not JSON`,
        'Write one object per line with instance, stage and output',
      );
    }
    const { data } = lineSchema.safeParse(value);
    if (data?.output !== undefined) put(data.instance, data.stage, data.output);
    const { data: row } = predictionSchema.safeParse(value);
    if (row === undefined) continue;
    const own = patches.get(row.instance_id) ?? [];
    patches.set(row.instance_id, [...own, { patch: row.model_patch, sample: row.drawn_sample }]);
  }
  for (const [instance, own] of patches) put(instance, 'repair', own);
  if (given.size === 0) {
    const of = taken.length === agentlessStages.length ? 'a stage' : taken.join(' or ');
    throw new HumanError(
      `${path} has no output of ${of}`,
      'Write one object per line with instance, stage and output, or specify a trace that has them',
    );
  }
  return given;
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}
