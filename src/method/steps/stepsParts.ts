import type { Reporter } from '../../domain/work';
import type { Walk } from '../estimate/walk';
import type { GoldenAnswer } from '../given/goldenAnswer';
import type { Budget, Price } from '../models/budget';
import type { ChatModel, RequestSettings } from '../models/chatModel';
import type { EmbeddingModel } from '../models/embeddingModel';
import type { EmbeddingUse } from '../models/embeddingUse';
import type { ModelUpstream } from '../models/openModel';
import type { ModelView } from '../modelView';
import type { Oracle } from '../view/oracle';
import type { ActStep, AnswerStep, MethodTrace, StepOf } from '../trace';

/** What the steps of one instance work with. */
export interface StepsParts {
  /** With its id for the trace and for people, which no prompt contains. */
  readonly instance: Pick<ModelView, 'repo' | 'issue'> & { readonly id: string };
  /** Only in a setting of Table 5 that uses it. */
  readonly golden?: GoldenAnswer;
  /** Undefined for a replay, which only reads the trace. */
  readonly live: LiveSteps | undefined;
  /** Set where nothing is asked and nothing runs: the requests are counted. */
  readonly walk?: Walk | undefined;
  /** Name of the model, which is part of the key of a request. */
  readonly model: string;
  readonly trace: MethodTrace;
  readonly budget: Budget;
  /** What all requests have apart from what the method says. */
  readonly settings?: RequestSettings | undefined;
  readonly price: Price | undefined;
  /** The embedding model, and its price. */
  readonly embedding?: EmbeddingUse | undefined;
  /** Outputs of stages that are used instead of computed ones, by the name of the stage. */
  readonly givenStages?: ReadonlyMap<string, unknown> | undefined;
  /** Where indexes are kept. */
  readonly storage: string;
  /** Tokens of the whole prompt. */
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** Maximum number of tokens that the model takes; undefined if unknown. */
  readonly maxInputTokens?: number | undefined;
  /** Leave out edits outside test files. */
  readonly testsOnly: boolean;
  /** The engine of the tests, as far as it changes their results. */
  readonly engine: string;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** Called with each answer that is used, paid now or before. */
  readonly onAnswer?: ((answer: AnswerStep) => void) | undefined;
  /** Called with each request for vectors that are used, sent now or before. */
  readonly onEmbedding?: ((step: StepOf<'embedding'>) => void) | undefined;
  /** Called with each action of an agent, done now or before. */
  readonly onAct?: ((act: ActStep) => void) | undefined;
  /** Called with each session of an agent that brings its own tools, held now or before. */
  readonly onSession?: ((session: StepOf<'session'>) => void) | undefined;
  /** Called with the output of each stage, found now or before. */
  readonly onStage?: ((stage: StepOf<'stage'>) => void) | undefined;
  /** Called with each piece of an answer as it arrives; a retry starts the answer again. */
  readonly onText?:
    | ((asked: Pick<AnswerStep, 'instance' | 'purpose' | 'sample'>, piece: string) => void)
    | undefined;
}

/** What makes the steps that the trace lacks. */
export interface LiveSteps {
  readonly model: ChatModel;
  readonly embedding?: EmbeddingModel | undefined;
  /** Where the requests of agents go that send their own. */
  readonly upstream?: ModelUpstream | undefined;
  readonly view: () => Promise<ModelView>;
  readonly oracle: () => Promise<Oracle>;
  /** Limits how many requests run at once. */
  readonly inTurn: Queue;
  /** Limits how many requests for vectors run at once. */
  readonly inEmbedding: Queue;
  /** Limits how many runs of tests there are at once. */
  readonly inSandbox: Queue;
  /** How many runs of tests there are at once. */
  readonly runs: number;
  /** Limits how many prompts are made at once. */
  readonly inBuilding: Queue;
}

/** Delays work until there is capacity. */
export type Queue = <T>(work: () => Promise<T>) => Promise<T>;
