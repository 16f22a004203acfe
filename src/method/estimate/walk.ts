import type { Prompt } from '../prompt/prompts';
import { tokenCounter } from '../prompt/tokens';
import type { AnswerStep, StepOf } from '../trace';
import { unknownText, unknownTokens } from './unknownText';

/** A request that a method makes, as far as it is known before anything is asked. */
export interface CountedRequest {
  /** What it is for, in a word or two. */
  readonly stage: string;
  /** By our tokenizer. */
  readonly inputTokens: number;
  /** Tokens that its answer usually has. */
  readonly outputTokens: number;
  /** Whether the trace has its answer. */
  readonly isAnswered: boolean;
  /** Whether it may have fewer tokens or not be needed, since that depends on answers. */
  readonly isAtMost?: true;
  /** Whether it goes to the embedding model, which gives no text. */
  readonly isEmbedding?: true;
}

type AskedAnswer = Pick<AnswerStep, 'purpose' | 'method'>;

/** Tokens beside the issue and of the answer that are usual; the limits by default. */
export interface TypicalTokens {
  readonly prompt?: number;
  readonly answer?: number;
}

/** A request that has no answer; the key is that of its answer. */
type AskedRequest = AskedAnswer &
  Prompt &
  Pick<AnswerStep, 'key'> &
  Partial<Pick<StepOf<'prompt'>, 'tokens'>> & { readonly typical?: TypicalTokens | undefined };

/** The limits of requests, and the issue. */
interface Sizes {
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly instance: { readonly issue: string };
}

/**
 * A walk through a method in which nothing is asked and nothing runs. Answers of the trace are
 * used. In place of any other stands an unknown text, and where a method decides by it, what leads
 * to most requests is supposed, within the limits of the method.
 */
export class Walk {
  private readonly list: CountedRequest[] = [];
  private readonly answered = new Set<string>();
  private readonly unanswered = new Set<string>();
  private isSure = true;

  constructor(
    private readonly of: {
      /** Whether R is not looked at, so that its files are unknown texts. */
      readonly isBlind: boolean;
      /** Whether code patches are for the prompts of candidates. */
      readonly isGiven: boolean;
    },
  ) {}

  get isBlind(): boolean {
    return this.of.isBlind;
  }

  /** All requests, in the order of the method. */
  get requests(): readonly CountedRequest[] {
    return this.list;
  }

  /** Whether nothing yet depends on an output that is only supposed. */
  get knowsOutputs(): boolean {
    return this.isSure;
  }

  /** Whether one of these answers is unknown. */
  isUnanswered(keys: readonly string[]): boolean {
    return keys.some((key) => this.unanswered.has(key));
  }

  /** What is asked from now on depends on an output that is only supposed. */
  suppose(): void {
    this.isSure = false;
  }

  /** Counts a request of which the trace has the answer. */
  addAnswered(answer: AnswerStep): void {
    if (this.answered.has(answer.key)) return;
    this.answered.add(answer.key);
    const { inputTokens, outputTokens } = answer;
    this.list.push({ stage: this.stageOf(answer), inputTokens, outputTokens, isAnswered: true });
  }

  /**
   * Counts a request that has no answer.
   *
   * @returns what its answer step has in place of an answer
   */
  async count(
    asked: AskedRequest,
    { contextTokens, maxOutputTokens, instance }: Sizes,
  ): Promise<Pick<AnswerStep, 'text' | 'inputTokens' | 'outputTokens'>> {
    const { purpose, key, typical = {}, tokens = 0 } = asked;
    this.unanswered.add(key);
    const { system, messages } = asked;
    const missing = unknownTokens([system, ...messages.map(({ content }) => content)].join('\n'));
    const isAtMost = missing > 0 || !this.isSure;
    const sum = tokens + missing;
    // All prompts but the judge's have as much as there is room for.
    const filled = Math.max(contextTokens, tokens);
    const bound = missing === 0 || purpose === 'judge' ? sum : filled;
    const inputTokens = !this.isBlind
      ? bound
      : typical.prompt === undefined
        ? Math.min(sum, filled)
        : typical.prompt + (await tokenCounter())(instance.issue);
    const outputTokens = Math.min(typical.answer ?? maxOutputTokens, maxOutputTokens);
    this.list.push({
      ...{ stage: this.stageOf(asked), inputTokens, outputTokens, isAnswered: false },
      ...(isAtMost && { isAtMost }),
    });
    return { text: unknownText(key.slice(0, 16), maxOutputTokens), inputTokens, outputTokens };
  }

  /** Counts what is to become vectors. @param tokens those whose vectors are not stored */
  countVectors(tokens: number): void {
    this.list.push({
      ...{ stage: 'retrieval', inputTokens: tokens, outputTokens: 0, isEmbedding: true },
      isAnswered: tokens === 0,
      ...(!this.isSure && { isAtMost: true }),
    });
  }

  private stageOf({ purpose, method }: AskedAnswer): string {
    if (purpose === 'judge') return 'judge';
    if (purpose === 'stage') return method.replace(/^\w+-/, '');
    if (purpose === 'fix') return this.of.isGiven ? 'wrong patches' : 'fixes';
    return method.endsWith('+refine') ? 'refinement' : 'candidates';
  }
}
