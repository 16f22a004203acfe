import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sha256OfJson } from '../files/digest';
import { HumanError, messageOf } from '../domain/work';
import { openLineJournal, wholeLines, type LineJournal } from '../files/lineJournal';
import { redactKeys } from '../engine/keysInUse';
import { stepSchema, type Step } from './traces/traceSteps';
import { makeFolder } from '../files/wholeFile';

/**
 * The record of a method's run, one JSON line for each step. A step is on the disk before a step
 * that depends on it begins, so that a killed run can resume. The record never contains a key in
 * use.
 */
export interface MethodTrace {
  /** All steps, in the order in which they were done. */
  readonly steps: readonly Step[];
  /** The last step of this kind and digest; undefined when there is none. */
  find<Kind extends Step['step']>(kind: Kind, key: string): StepOf<Kind> | undefined;
  /** Adds a step. Resolves when it is on the disk. */
  add(step: Step): Promise<void>;
  close(): Promise<void>;
}

export type StepOf<Kind extends Step['step']> = Extract<Step, { step: Kind }>;

export type AnswerStep = StepOf<'answer'>;
export type PatchStep = StepOf<'patch'>;
export type RunStep = StepOf<'run'>;
export type ActStep = StepOf<'act'>;

/** The steps that a provider was paid for. */
export const paidSteps = (steps: readonly Step[]): readonly PaidStep[] =>
  steps.flatMap((step): readonly PaidStep[] => {
    if (step.step === 'answer') return [step];
    if (step.step !== 'embedding') return [];
    // The price of answers is not that of embeddings.
    return [{ ...step, outputTokens: 0, dollars: step.dollars ?? 0 }];
  });

/** What a paid step has cost. */
type PaidStep = Pick<StepOf<'answer'>, 'inputTokens' | 'outputTokens' | 'dollars'> &
  Partial<Pick<StepOf<'answer'>, 'cachedInputTokens' | 'cacheWriteTokens'>>;

/** The digest of what a step depends on: steps with equal digests are equal. */
export function keyOf(...parts: readonly unknown[]): string {
  return sha256OfJson(parts);
}

/**
 * Opens a trace to resume or to read it. A torn last line, left by a killed writer, is dropped.
 * Nobody else may write to the trace meanwhile.
 *
 * @param told called with a message for each line that cannot be read and is skipped
 * @throws HumanError when the file cannot be read or written
 */
export async function openTrace(
  path: string,
  options: {
    readonly readOnly: boolean;
    /** Whether the file may be missing, when it is read only. */
    readonly mayBeMissing?: boolean;
    readonly told: (line: string) => void;
  },
): Promise<MethodTrace> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const mayBeNew = !options.readOnly || options.mayBeMissing === true;
    if (error.code === 'ENOENT' && mayBeNew) return '';
    throw new HumanError(
      `The trace ${path} cannot be read (${error.code ?? messageOf(error)})`,
      options.readOnly ? 'A replay needs the trace of a run' : 'Specify another file with --out',
    );
  });
  const memory = memoryTrace();
  for (const { number, line } of wholeLines(text)) {
    const read = readStep(line);
    if (typeof read === 'string') {
      options.told(`${path}:${number}: skipped a trace line (${read})`);
    } else await memory.add(read);
  }
  const journal = options.readOnly ? undefined : await openForMore(path);
  return {
    ...memory,
    async add(step) {
      const line = redactKeys(JSON.stringify(step));
      if (journal === undefined) throw new Error('the trace is open for reading only');
      await journal.append(line);
      await memory.add(JSON.parse(line) as Step);
    },
    close: async () => journal?.close(),
  };
}

/** A trace that is on no disk. @param below has the steps that this one begins with */
export function memoryTrace(below?: MethodTrace): MethodTrace {
  const steps: Step[] = [...(below?.steps ?? [])];
  const known = new Map<string, Step>();
  return {
    steps,
    find: <Kind extends Step['step']>(kind: Kind, key: string) =>
      (known.get(`${kind} ${key}`) as StepOf<Kind> | undefined) ?? below?.find(kind, key),
    add(step) {
      steps.push(step);
      known.set(`${step.step} ${step.key}`, step);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
}

async function openForMore(path: string): Promise<LineJournal> {
  try {
    await makeFolder(dirname(path));
    return await openLineJournal(path);
  } catch (error) {
    throw new HumanError(
      `The trace ${path} cannot be written (${messageOf(error)})`,
      'Specify another file with --out',
    );
  }
}

/** @returns the step, or why the line is not one */
function readStep(line: string): Step | string {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return 'it is not JSON';
  }
  const parsed = stepSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'it is not a step'}`;
}
