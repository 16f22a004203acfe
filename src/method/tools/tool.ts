import { z } from 'zod';
import {
  Cancelled,
  HumanError,
  throwIfAborted,
  type Immutable,
  type Reporter,
} from '../../domain/work';
import { redactKeys } from '../../engine/keysInUse';
import type { ModelView } from '../modelView';
import { TestsCannotRun } from '../testsOfModels';
import { coerceInput } from './coerceInput';

/** The current candidate, wherever it is stored: in memory, or as edits of a workspace. */
export interface CandidateSlot {
  /** A patch on R; empty when there is none. */
  read(): Promise<string>;
  /**
   * Replaces the candidate.
   *
   * @param patch unified diff on R, or empty to remove the candidate
   * @throws HumanError when the candidate cannot be stored
   */
  apply(patch: string): Promise<void>;
}

export interface ToolWork {
  readonly candidate: CandidateSlot;
  /** Limit of one run in seconds. */
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
}

/** The effects of a call apart from its answer. */
export type ToolEffect = 'reads' | 'changes the candidate' | 'runs code';

/** What a tool found: the same facts as text for a model, and as data for a program. */
export interface ToolResult<Output = unknown> {
  readonly text: string;
  /** Has the tool's output schema. Bounded by the tool itself. */
  readonly data: Output;
}

/** A tool that a model may call. It works on a view, which contains nothing of the answer. */
export interface Tool<Input = unknown, Output = unknown> {
  /** Name such as `run_tests`. */
  readonly name: string;
  readonly title: string;
  /** For a model: what the tool returns, and when to use it. */
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  readonly effect: ToolEffect;
  /** Whether the answer depends on the candidate, so that the order of calls matters. */
  readonly usesCandidate: boolean;
  /** Maximum number of characters of an answer in text; {@link answerLimit} by default. */
  readonly mostCharacters?: number;
  /** One sentence by which the user decides whether to allow the call. */
  readonly confirmation: string;
  /** @throws HumanError, Cancelled */
  run(view: ModelView, input: Input, work: ToolWork): Promise<ToolResult<Output>>;
}

/** A tool whose input and output have the types that its schemas describe. */
export const toolOf = <Input extends z.ZodType, Output extends z.ZodType>(
  tool: Omit<Tool<z.infer<Input>, Immutable<z.infer<Output>>>, 'input' | 'output'> & {
    readonly input: Input;
    readonly output: Output;
  },
): Tool => tool;

export interface ToolAnswer {
  readonly text: string;
  readonly isError: boolean;
  /** Has the tool's output schema; undefined for an error. */
  readonly data?: unknown;
}

/**
 * Maximum number of characters of an answer, about 10,000 tokens. A longer answer is cut in the middle, and says
 * so.
 */
export const answerLimit = 40_000;

/** Maximum number of characters of an answer with a whole patch, which is of no use in parts. */
export const patchLimit = 400_000;

/**
 * Calls a tool with unchecked input. An error becomes text that tells a model what happened and
 * what to do instead. The text is about the input, and never about this machine.
 *
 * @throws Cancelled
 */
export async function callTool(
  tool: Tool,
  view: ModelView,
  input: unknown,
  work: ToolWork,
): Promise<ToolAnswer> {
  throwIfAborted(work.signal);
  const read = tool.input.safeParse(coerceInput(inputSchema(tool), input ?? {}));
  if (!read.success) return { text: wrongInput(tool, read.error), isError: true };
  try {
    const { text, data } = await tool.run(view, read.data, work);
    const shown = bounded(redactKeys(text), tool.mostCharacters);
    return { text: shown, isError: false, data: redactedData(data) };
  } catch (error) {
    if (error instanceof Cancelled || work.signal?.aborted === true) throw new Cancelled();
    if (error instanceof TestsCannotRun) {
      // Only readers of the log may see names of images, folders and settings.
      work.reporter.log(`${tool.name}: ${error.message}`);
      return { text: cannotRun, isError: true };
    }
    if (error instanceof HumanError) return { text: `${error.message}.`, isError: true };
    work.reporter.log(`${tool.name}: ${error instanceof Error ? error.stack : String(error)}`);
    const text = `${tool.name} failed because of an internal error, not because of its input. Calling it again may fail in the same way. Continue without it.`;
    return { text, isError: true };
  }
}

const cannotRun =
  'Tests cannot run here; the log says why. Continue without running them, and tell the user: they can choose the docker engine, or allow model-written tests to run on their machine.';

/** The JSON schema of a tool's input, for offering the tool to a model. */
export function inputSchema(tool: Tool): Record<string, unknown> {
  return z.toJSONSchema(tool.input, { io: 'input' });
}

/** The JSON schema of the data that a tool answers with. */
export function outputSchema(tool: Tool): Record<string, unknown> {
  return z.toJSONSchema(tool.output);
}

/** @param shape the fields of an object; others are refused */
export const fields = <T extends z.ZodRawShape>(shape: T): z.ZodObject<T, z.core.$strict> =>
  z.strictObject(shape);

function wrongInput(tool: Tool, error: z.ZodError): string {
  const problems = error.issues.slice(0, 5).map(({ path, message }) => {
    const field = path.length === 0 ? 'the input' : `\`${path.join('.')}\``;
    return `- ${field}: ${message}`;
  });
  const schema = JSON.stringify(inputSchema(tool));
  return `The input of ${tool.name} is invalid:\n${problems.join('\n')}\nCall it again with input that matches this JSON schema: ${schema}`;
}

/** A text without its middle where it is too long. It says how much is left out. */
export function bounded(text: string, limit = answerLimit): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  const end = half === 0 ? '' : text.slice(-half);
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters omitted]\n${end}`;
}

function redactedData(data: unknown): unknown {
  if (typeof data === 'string') return redactKeys(data);
  if (Array.isArray(data)) return data.map(redactedData);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([key, each]) => [key, redactedData(each)]));
}

/** A candidate that is kept in memory. */
export function candidateInMemory(): CandidateSlot {
  let patch = '';
  return {
    read: () => Promise.resolve(patch),
    apply: (next) => {
      patch = next;
      return Promise.resolve();
    },
  };
}
