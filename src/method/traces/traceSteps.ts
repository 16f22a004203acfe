import { z } from 'zod';
import { outcomes, phases, type TestResult } from '../../domain/outcome';
import { finishes } from '../models/chatModel';

/**
 * How the session of an agent ended: it finished its turn, refused, was cut off by a limit of its own
 * or of its model, broke off, never answered, or reached a limit of ours.
 */
const acpEndings = [
  ...['finished', 'refused', 'cut off', 'crashed', 'silent'],
  ...['time', 'calls', 'cost', 'output', 'disk', 'memory', 'processes', 'cancelled'],
] as const;
export type AcpEnding = (typeof acpEndings)[number];

/** The fields of every step. */
const common = {
  /** Digest of all that the step depends on. */
  key: z.string(),
  /** When it was done, ISO 8601. */
  at: z.string(),
  instance: z.string(),
};

const message = z.object({ role: z.enum(['user', 'assistant']), content: z.string() });

const diagnostic = z.object({
  severity: z.enum(['error', 'warning', 'info']),
  line: z.number(),
  message: z.string(),
});

const testResult: z.ZodType<TestResult> = z.object({
  test: z.string(),
  outcome: z.enum(outcomes),
  exception: z.string().exactOptional(),
  message: z.string().exactOptional(),
  details: z.string().exactOptional(),
  phase: z.enum(phases).exactOptional(),
  /** Frames inside R, innermost last. */
  frames: z
    .array(z.object({ path: z.string(), line: z.number(), function: z.string() }))
    .exactOptional(),
  comparison: z.object({ expected: z.string(), actual: z.string() }).exactOptional(),
});

/** What an agent with a shell keeps beside the files. The trajectory has it after each turn. */
const shellState = z.object({
  /** Folder of the shell. */
  cwd: z.string(),
  /** Absolute path of the file that a window shows. */
  openFile: z.string().optional(),
  /** Its first line in the window, 1-based. */
  firstLine: z.number().optional(),
});
export type ShellState = Readonly<z.infer<typeof shellState>>;

/** What an agent without a shell keeps beside the files: what its next request is for. */
const filesState = z.object({
  /** The agent's own word for the next request. */
  stage: z.string(),
  /** Number of the round, from 1. */
  round: z.number(),
  /** Failed tries of the stage. */
  tries: z.number(),
  /** Paths of files that the model sees whole. */
  files: z.array(z.string()).readonly().optional(),
  /** What the next request shows of R, and no later one. Untrusted. */
  shown: z.string().optional(),
});
export type FilesState = Readonly<z.infer<typeof filesState>>;

const toolCall = z.object({
  id: z.string(),
  name: z.string(),
  input: z.unknown().optional(),
  metadata: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
});

/**
 * Purposes of a request: a candidate, whether the failure of one matches the issue, an agent's turn,
 * a code patch, or a stage of a pipeline.
 */
const purposes = ['tests', 'judge', 'act', 'fix', 'stage'] as const;

/** Set where the step depends on the answer. */
const oracle = z.literal(true).optional();

/** One line of a trace. Texts that a model or tested code wrote are untrusted. */
export const stepSchema = z.discriminatedUnion('step', [
  /** Identifies the tree of R by the object id of its git tree. */
  z.object({ ...common, step: z.literal('tree'), tree: z.string() }),
  z.object({
    ...common,
    step: z.literal('prompt'),
    purpose: z.enum(purposes),
    /** Digest of `system` and `messages`. */
    prompt: z.string(),
    system: z.string(),
    messages: z.array(message),
    /** Files of R in the prompt, the best first. */
    files: z.array(z.string()),
    /** Counted by our tokenizer. */
    tokens: z.number(),
    /** What was taken out of an agent's own request before it was sent. */
    removed: z.array(z.string()).optional(),
    /** How many tools an agent's own request offers. */
    offeredTools: z.number().optional(),
    oracle,
  }),
  z.object({
    ...common,
    step: z.literal('answer'),
    purpose: z.enum(purposes),
    /** The way of asking; methods with the same way share their answers. */
    method: z.string(),
    model: z.string(),
    /** Number of the sample, from 1. */
    sample: z.number(),
    parameters: z.object({
      temperature: z.number().nullable(),
      topP: z.number().optional(),
      reasoningEffort: z.string().optional(),
      body: z.record(z.string(), z.unknown()).optional(),
      maxOutputTokens: z.number(),
    }),
    /** Digest of the prompt. */
    prompt: z.string(),
    text: z.string(),
    /** What the model thought before it answered. */
    reasoning: z
      .array(
        z.object({
          text: z.string(),
          metadata: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
          isFromText: z.literal(true).optional(),
        }),
      )
      .readonly()
      .optional(),
    /** How the request that was sent differs from `parameters`, where the server wanted it so. */
    changes: z.array(z.string()).readonly().optional(),
    /** The text has calls that the server should have read. */
    hasCallsAsText: z.boolean().optional(),
    /** Calls of tools; `input` is absent where it was no JSON. */
    calls: z.array(toolCall).readonly().optional(),
    finish: z.enum(finishes),
    /** Number of the try, from 1, where the answer of the try before it had no text. */
    attempt: z.number().optional(),
    inputTokens: z.number(),
    /** Includes reasoning. */
    outputTokens: z.number(),
    reasoningTokens: z.number().optional(),
    /** Those of the input that came from the provider's cache. */
    cachedInputTokens: z.number().optional(),
    /** Those of the input that the provider wrote to its cache. */
    cacheWriteTokens: z.number().optional(),
    isEstimate: z.boolean().optional(),
    dollars: z.number().optional(),
    seconds: z.number(),
    oracle,
  }),
  /** A request for the vectors of texts. The vectors are in the storage folder. */
  z.object({
    ...common,
    step: z.literal('embedding'),
    model: z.string(),
    /** Digests of the lists of texts that the request had. */
    documents: z.array(z.string()),
    texts: z.number(),
    inputTokens: z.number(),
    isEstimate: z.boolean().optional(),
    /** Absent where no price is known. */
    dollars: z.number().optional(),
    seconds: z.number(),
  }),
  z.object({
    ...common,
    step: z.literal('patch'),
    /** Key of the answer that it comes from. Traces of earlier versions do not have it. */
    answer: z.string().optional(),
    /** W: whether the answer applies to R. */
    applies: z.boolean(),
    /** Why it does not apply, or has no tests to run. */
    problem: z.string().optional(),
    /** Unified diff on R; empty when it does not apply. */
    patch: z.string(),
    ownTests: z.array(z.string()),
    diagnostics: z.array(diagnostic),
  }),
  z.object({
    ...common,
    step: z.literal('run'),
    /** Why the outcomes are incomplete; undefined when they are complete. */
    problem: z.string().optional(),
    /** Outcomes on R of the candidate's tests. */
    tests: z.array(testResult),
    /** Those of the tests that R has as well, and that fail there without the candidate too. */
    failingBefore: z.array(z.string()),
    seconds: z.number(),
  }),
  /** The verdict of Pass@k's oracle, which no model sees. */
  z.object({
    ...common,
    step: z.literal('verdict'),
    applies: z.boolean(),
    success: z.boolean(),
    reason: z.string(),
    /** How many tests go F→P. */
    failToPass: z.number(),
    /** ΔC; null where it is not defined or not known. */
    delta: z.number().nullable(),
  }),
  /** A code patch from an answer, and the oracle's verdict on it, which no model sees. */
  z.object({
    ...common,
    step: z.literal('fix'),
    /** Unified diff on R without edits of tests; empty if the answer is not one. */
    patch: z.string(),
    /** Why the answer is no code patch on R. */
    problem: z.string().optional(),
    /** Whether T* passes with it as on R∘X*; absent where that is unknown. */
    resolved: z.boolean().optional(),
  }),
  /** What a stage of a pipeline found. */
  z.object({
    ...common,
    step: z.literal('stage'),
    stage: z.string(),
    /** As the stage describes it. */
    output: z.unknown(),
    /** Keys of the answers and requests for vectors that it comes from. */
    from: z.array(z.string()).optional(),
    /** Whether it was given to the run instead of computed. */
    isGiven: z.boolean().optional(),
  }),
  /** Where agents work: absolute path of R in the workspace. */
  z.object({ ...common, step: z.literal('workspace'), folder: z.string() }),
  /** The state in which an agent without a shell begins. */
  z.object({ ...common, step: z.literal('begin'), agent: z.string(), state: filesState }),
  /** One action of an agent on an answer, and what it saw. A model may call several tools in an answer. */
  z.object({
    ...common,
    step: z.literal('act'),
    agent: z.string(),
    model: z.string(),
    /** Key of the answer. */
    answer: z.string(),
    thought: z.string(),
    action: z.string(),
    /** The call of a tool, where the action is one. */
    call: z.object({ name: z.string(), input: z.unknown(), isError: z.boolean() }).optional(),
    observation: z.string(),
    /** Whether the agent submitted. */
    isSubmission: z.boolean(),
    /** The state of the agent after the action; absent where the model calls tools. */
    state: z.union([shellState, filesState]).optional(),
    seconds: z.number(),
    /** Unified diff from R to the workspace after the action. */
    patch: z.string(),
    /** Changed paths that the diff does not contain, each with the reason. */
    leftOut: z.array(z.tuple([z.string(), z.string()])),
    /** Whether the agent has no try left. */
    isGivenUp: z.boolean().optional(),
    /** Whether the action ran in a new workspace with the files of the last turn. */
    isRestarted: z.boolean().optional(),
  }),
  /** The session of an agent that brings its own tools. Its prompts have only new messages. */
  z.object({
    ...common,
    step: z.literal('session'),
    agent: z.string(),
    model: z.string(),
    /** Name and version of the program, as it says. */
    program: z.string().optional(),
    /** SHA-256 of the folder with the program; absent where the image has it. */
    programDigest: z.string().optional(),
    ending: z.enum(acpEndings),
    /** More about the ending; empty when there is nothing to say. */
    why: z.string(),
    /** Keys of its answers. */
    answers: z.array(z.string()),
    /** The first and the last of what it wrote to standard error. */
    output: z.string(),
    /** Requests that were no requests to the model. */
    refused: z.array(z.string()).optional(),
    seconds: z.number(),
    /** Unified diff from R to what the agent left. */
    patch: z.string(),
    leftOut: z.array(z.tuple([z.string(), z.string()])),
  }),
  /** The choice that became the prediction. */
  z.object({
    ...common,
    step: z.literal('choice'),
    method: z.string(),
    model: z.string(),
    /** Undefined when there was nothing to choose from. */
    sample: z.number().optional(),
    why: z.string(),
    patch: z.string(),
    oracle,
  }),
]);

export type Step = z.infer<typeof stepSchema>;
