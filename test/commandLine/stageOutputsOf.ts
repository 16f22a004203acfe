import { jsonLinesOf } from './jsonLinesOf';

/** What the stages of a run have found, by name, as the trace beside its predictions has it. */
export async function stageOutputsOf(out: string): Promise<Map<unknown, unknown>> {
  const steps = await jsonLinesOf(`${out}.trace.jsonl`);
  const stages = steps.filter(({ step }) => step === 'stage');
  return new Map(stages.map(({ stage, output }) => [stage, output]));
}
