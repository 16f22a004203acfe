import { z } from 'zod';
import { HumanError } from '../../domain/humanError';
import { agentlessStages } from './agentlessSettings';

const lineSchema = z.looseObject({ instance: z.string(), stage: z.string(), output: z.unknown() });

/** Outputs of stages by instance and stage. */
export type GivenStages = ReadonlyMap<string, ReadonlyMap<string, unknown>>;

/** Other outputs in a trace follow from those of stages and R, and patches are always asked for. */
const givable = new Set<string>(agentlessStages.filter((stage) => stage !== 'repair'));

/**
 * The outputs of stages in a file of JSON lines, such as a trace. Other lines of a trace are
 * ignored. Of two outputs of a stage the later one counts.
 *
 * @param path names the file in messages
 * @throws HumanError when a line is no JSON, or no line has an output
 */
export function readGivenStages(text: string, path: string): GivenStages {
  const given = new Map<string, Map<string, unknown>>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = jsonOf(line);
    if (value === undefined) {
      throw new HumanError(
        `${path}:${index + 1} is not JSON`,
        'Write one object on each line, with instance, stage and output',
      );
    }
    const { data } = lineSchema.safeParse(value);
    if (data?.output === undefined || !givable.has(data.stage)) continue;
    const own = given.get(data.instance) ?? new Map<string, unknown>();
    given.set(data.instance, own.set(data.stage, data.output));
  }
  if (given.size === 0) {
    throw new HumanError(
      `${path} has no output of a stage`,
      'Write one object on each line, with instance, stage and output, or name a trace that has some',
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
