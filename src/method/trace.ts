import { createHash } from 'node:crypto';
import { open, readFile, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HumanError, messageOf } from '../domain/problem';
import { stepSchema, type Step } from './traceSteps';
import { makeFolder } from '../repository/makeFolder';

/**
 * What a run of a method did, one JSON line for each step. A step is on the disk before the next begins
 * that depends on it, so that a run that was killed goes on where it was.
 */
export interface Trace {
  /** All steps, in the order in which they were done. */
  readonly steps: readonly Step[];
  /** The last step of this kind and digest; undefined when it has not been done. */
  find<Kind extends Step['step']>(kind: Kind, key: string): StepOf<Kind> | undefined;
  /** Adds a step. Resolves when it is on the disk. */
  add(step: Step): Promise<void>;
  close(): Promise<void>;
}

export type StepOf<Kind extends Step['step']> = Extract<Step, { step: Kind }>;

/** The digest of what a step depends on: equal digests, equal step. */
export function keyOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/**
 * Opens a trace to go on with it, or to read it. Its last line may be torn, if its writer was killed: it is
 * dropped. Nobody else may write to it meanwhile.
 *
 * @param told of lines that cannot be read and are passed over
 * @throws HumanError when the file cannot be read or written
 */
export async function openTrace(
  path: string,
  options: { readonly readOnly: boolean; readonly told: (line: string) => void },
): Promise<Trace> {
  const text = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && !options.readOnly) return Buffer.alloc(0);
    throw new HumanError(
      `The trace ${path} cannot be read (${error.code ?? messageOf(error)})`,
      options.readOnly ? 'A replay needs the trace of a run' : 'Name another file with --out',
    );
  });
  const whole = text.lastIndexOf(0x0a) + 1;
  const steps: Step[] = [];
  const known = new Map<string, Step>();
  const remember = (step: Step): void => {
    steps.push(step);
    known.set(`${step.step} ${step.key}`, step);
  };
  for (const [index, line] of text.toString('utf8', 0, whole).split('\n').entries()) {
    if (line === '') continue;
    const read = readStep(line);
    if (typeof read === 'string') {
      options.told(`${path}:${index + 1}: this line of the trace is passed over (${read})`);
    } else remember(read);
  }
  let file: FileHandle | undefined;
  if (!options.readOnly) {
    try {
      await makeFolder(dirname(path));
      file = await open(path, 'a');
      if (whole < text.length) await file.truncate(whole);
    } catch (error) {
      await file?.close();
      throw new HumanError(
        `The trace ${path} cannot be written (${messageOf(error)})`,
        'Name another file with --out',
      );
    }
  }
  let last: Promise<void> = Promise.resolve();
  return {
    steps,
    find: <Kind extends Step['step']>(kind: Kind, key: string) =>
      known.get(`${kind} ${key}`) as StepOf<Kind> | undefined,
    add(step) {
      // One after the other, so that lines do not mix.
      const written = last.then(async () => {
        if (file === undefined) throw new Error('the trace is open for reading only');
        await file.appendFile(`${JSON.stringify(step)}\n`);
        await file.datasync();
        remember(step);
      });
      last = written.catch(() => undefined);
      return written;
    },
    async close() {
      await last;
      await file?.close();
    },
  };
}

/** @returns the step, or why the line is none */
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
