import type { z } from 'zod';
import { HumanError } from '../../domain/work';
import { workerPool } from '../../engine/workerPool';
import type { RunsOnR } from '../modelView';
import type { RunOnROptions } from '../view/runOnR';
import type { Prompt } from '../prompt/prompts';
import type { Asked, Steps } from './steps';
import { keyOf, type AnswerStep } from '../trace';
import { promptStep } from './filledPrompts';

interface StageOf<Output> {
  readonly stage: string;
  /** All that the output depends on, apart from R and the model. */
  readonly of: readonly unknown[];
  /** Checks what comes from outside. */
  readonly schema: z.ZodType<Output>;
}

/** A stage that runs something on R. */
export interface StageOnR<Output> extends StageOf<Output> {
  run(
    on: RunsOnR,
    options: Pick<RunOnROptions, 'timeoutSeconds' | 'signal' | 'reporter'>,
  ): Promise<Output>;
  /** What a walk takes for it: the output that leads to most requests. */
  supposed(): Output | Promise<Output>;
}

/** Whether the output of a stage was given to the run, so that nothing is needed to make it. */
export const isGiven = ({ parts }: Steps, stage: string): boolean =>
  parts.givenStages?.has(stage) === true;

/**
 * Sends the prompt of a stage.
 *
 * @param asked.method name of the method and the stage, which are part of the answer's key
 */
export async function askInStage(
  steps: Steps,
  { prompt, ...asked }: Asked & { readonly prompt: Prompt },
): Promise<AnswerStep> {
  const step = await steps.recall('prompt', keyOf('prompt', prompt), () =>
    promptStep('stage', prompt, []),
  );
  return steps.ask('stage', step, asked);
}

/**
 * The output of a stage: given to the run, or in the trace, or made now.
 *
 * @throws HumanError when a given output does not fit
 */
export async function stage<Output>(
  steps: Steps,
  { stage: name, of, schema }: StageOf<Output>,
  make: () => Promise<Output>,
): Promise<Output> {
  const { givenStages, instance, model, walk, onStage } = steps.parts;
  const { repo, issue } = instance;
  const given = givenStages?.get(name);
  const isOwn = isGiven(steps, name);
  const key = keyOf('stage', name, await steps.tree(), repo, issue, model, of, isOwn, given);
  const found = await steps.recall(
    'stage',
    key,
    async () => {
      if (isOwn) return { stage: name, output: checkedOutput(name, schema, given), isGiven: true };
      const { output, from } = await steps.withOrigin(make);
      if (walk?.isUnanswered(from) === true) walk.suppose();
      return { stage: name, output, ...(from.length > 0 && { from }) };
    },
    { isGood: ({ output }) => schema.safeParse(output).success },
  );
  useAgain(steps, found.from ?? []);
  onStage?.(found);
  return schema.parse(found.output);
}

/** Marks the answers and vectors behind an output of the trace as used. */
function useAgain(steps: Steps, keys: readonly string[]): void {
  const { trace, onAnswer, onEmbedding } = steps.parts;
  for (const key of keys) {
    const answer = trace.find('answer', key);
    const embedding = trace.find('embedding', key);
    if (answer !== undefined) onAnswer?.(answer);
    if (embedding !== undefined) onEmbedding?.(embedding);
    steps.addOrigin(key);
  }
}

/**
 * The outputs of stages that run something on R, several at once, each run in a warm sandbox. An
 * output is in the trace, or made now; it also depends on the engine and the time limit.
 *
 * @returns the outputs in the order of `stages`
 */
export async function stagesOnR<Output>(
  steps: Steps,
  stages: readonly StageOnR<Output>[],
): Promise<Output[]> {
  const { live, walk, engine, timeoutSeconds, signal, reporter } = steps.parts;
  const outputs: Output[] = [];
  let next = 0;
  let done = 0;
  /** Makes one stage after the other, in one sandbox, as long as there are any. */
  const work = async (stop: AbortSignal | undefined): Promise<void> => {
    let on: RunsOnR | undefined;
    const options = { timeoutSeconds, signal: stop, reporter };
    try {
      for (let at = next++; at < stages.length; at = next++) {
        const asked = stages[at] as StageOnR<Output>;
        const of = [asked.of, engine, timeoutSeconds];
        outputs[at] = await stage(steps, { ...asked, of }, async () => {
          walk?.suppose();
          if (walk !== undefined) return asked.supposed();
          steps.progress(`${asked.stage}, ${done} of ${stages.length} done`);
          return asked.run((on ??= await (await steps.view()).openRuns()), options);
        });
        done += 1;
      }
    } finally {
      await on?.dispose();
    }
  };
  if (live === undefined || walk !== undefined) await work(signal);
  else {
    // A worker has its place among the runs of all instances as long as its sandbox is open.
    const workers = [...stages.slice(0, live.runs).keys()];
    const { signal: whole = new AbortController().signal } = steps.parts;
    await workerPool(workers, workers.length, whole, (_, stop) => live.inSandbox(() => work(stop)));
  }
  return outputs;
}

/** @throws HumanError when an output that was given does not fit the stage */
function checkedOutput<Output>(name: string, schema: z.ZodType<Output>, given: unknown): Output {
  const { success, data, error } = schema.safeParse(given);
  if (success) return data;
  const [issue] = error.issues;
  throw new HumanError(
    `The given output of the stage ${name} is invalid (${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''})`,
    "Use that stage's line in a trace as a template",
  );
}
