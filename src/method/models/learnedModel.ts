import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { sha256 } from '../../files/digest';
import { writeWholeFile } from '../../files/wholeFile';
import type { Matter } from './serverError';

/** What is stored about a model between runs. */
const storedSchema = z.object({
  /** Tokens of prompt and answer together, by the server's count. */
  window: z.number().positive().optional(),
  /** The server's tokens for one of ours. */
  ratio: z.number().positive().optional(),
});
type Stored = z.infer<typeof storedSchema>;

/** Where what is learnt about a model is stored. */
interface LearnedStore {
  get(): Promise<Stored>;
  put(learned: Stored): Promise<void>;
}

/**
 * What is learnt about the model at an address, in a file of the storage folder. A file that cannot
 * be read or written costs one refused request and is no reason to fail.
 */
export function learnedStore(
  storage: string,
  { name, baseUrl }: { readonly name: string; readonly baseUrl?: string | undefined },
): LearnedStore {
  const file = join(storage, 'models', `${sha256(JSON.stringify([name, baseUrl]))}.json`);
  return {
    async get() {
      const text = await readFile(file, 'utf8').catch(() => '{}');
      try {
        return storedSchema.parse(JSON.parse(text));
      } catch {
        return {};
      }
    },
    put: (learned) => writeWholeFile(file, JSON.stringify(learned)).catch(() => undefined),
  };
}

/** Counts of fewer tokens say little about a tokenizer. */
const fewestForRatio = 500;
/** A server that counts less of a long prompt has cut it: no tokenizer is that thrifty. */
const cutBelow = 0.6;
const fewestForCut = 1000;

/**
 * What a run learns from the answers of one model's server: its window, how it counts, and what it
 * does not take. It changes the requests that follow.
 */
export class LearnedModel {
  /** Fields that the server refused, with the field to send instead. */
  private readonly changed = new Map<string, string | undefined>();
  private stored: Stored = {};
  /** The most tokens that an answer may have. */
  private mostOutput: number | undefined;
  private usesResponses = false;
  private saving: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly store: LearnedStore | undefined,
    /** As the user states it, which no server changes upward. */
    private readonly statedWindow: number | undefined,
  ) {}

  static async open(
    store: LearnedStore | undefined,
    statedWindow: number | undefined,
  ): Promise<LearnedModel> {
    const learned = new LearnedModel(store, statedWindow);
    learned.stored = (await store?.get()) ?? {};
    return learned;
  }

  /** Tokens of prompt and answer together; undefined if unknown. */
  get window(): number | undefined {
    const known = [this.statedWindow, this.stored.window].filter((each) => each !== undefined);
    return known.length === 0 ? undefined : Math.min(...known);
  }

  /** The server's tokens for one of ours. */
  get ratio(): number {
    return this.stored.ratio ?? 1;
  }

  /** Whether the model has the Responses API alone. */
  get hasResponsesOnly(): boolean {
    return this.usesResponses;
  }

  /** Whether the server sends an answer as a whole only. */
  get streams(): boolean {
    return !this.changed.has('stream');
  }

  /** The most tokens that a prompt may have by our tokenizer; undefined where the window is unknown. */
  room(maxOutputTokens: number): number | undefined {
    const { window } = this;
    if (window === undefined) return undefined;
    // The answer may take half of a small window at most.
    const output = Math.min(maxOutputTokens, Math.floor(window / 2));
    return Math.floor((0.97 * (window - output)) / this.ratio);
  }

  /** The limit of an answer that the model and its window allow. */
  outputWithin(maxOutputTokens: number): number {
    const half = this.window === undefined ? Infinity : Math.floor(this.window / 2);
    return Math.min(maxOutputTokens, this.mostOutput ?? Infinity, half);
  }

  /** What requests now have or lack, in words, for the log and the trace. */
  get changes(): string[] {
    return [...this.changed].map(([name, instead]) =>
      instead === undefined ? `without ${name}` : `${instead} in place of ${name}`,
    );
  }

  /**
   * Takes a refusal into account.
   *
   * @param sent.tokens of the prompt by our tokenizer
   * @returns whether the request should be sent once more
   */
  refused(matter: Matter, sent: { readonly tokens: number; readonly output: number }): boolean {
    switch (matter.of) {
      case 'parameter':
        if (this.changed.has(matter.name)) return false;
        this.changed.set(matter.name, matter.instead);
        return true;
      case 'output': {
        const most = matter.most ?? Math.floor(sent.output / 2);
        const isNew = most >= 1 && most < (this.mostOutput ?? sent.output);
        if (isNew) this.mostOutput = most;
        return isNew;
      }
      case 'responses': {
        const isNew = !this.usesResponses;
        this.usesResponses = true;
        return isNew;
      }
      case 'context':
        this.learnWindow(matter, sent);
        return false;
      case 'key':
      case 'credit':
      case 'model':
      case 'tools':
      case 'rate':
      case 'busy':
      case 'other':
        return false;
    }
  }

  /** Learns from the server's count of a prompt. @returns whether the server seems to have cut it */
  counted(serverTokens: number, ownTokens: number): boolean {
    if (ownTokens >= fewestForCut && serverTokens < cutBelow * ownTokens) return true;
    if (ownTokens < fewestForRatio) return false;
    const ratio = Math.min(4, Math.max(0.7, serverTokens / ownTokens));
    // A little more or less is noise, and not worth a file.
    if (Math.abs(ratio - this.ratio) > 0.03 * this.ratio && ratio > this.ratio) {
      this.keep({ ratio });
    }
    return false;
  }

  private learnWindow(
    { window, asked }: Extract<Matter, { of: 'context' }>,
    sent: { readonly tokens: number; readonly output: number },
  ): void {
    if (window !== undefined) {
      const counts = asked !== undefined && asked < 4 * (sent.tokens + sent.output);
      // Some servers count the room for the answer as asked for.
      const ratio = counts ? (asked - (asked > window ? 0 : sent.output)) / sent.tokens : undefined;
      const isPlausible = ratio !== undefined && ratio > this.ratio && ratio < 3;
      this.keep({ window, ...(isPlausible && sent.tokens >= fewestForRatio && { ratio }) });
      return;
    }
    // It does not say how much fits, so a quarter less is tried.
    const whole = sent.tokens * this.ratio + this.outputWithin(sent.output);
    this.keep({ window: Math.max(512, Math.floor(0.75 * Math.min(whole, this.window ?? whole))) });
  }

  private keep(more: Stored): void {
    this.stored = { ...this.stored, ...more };
    this.saving = this.saving.then(() => this.store?.put(this.stored));
  }

  /** Resolves when all that is learnt so far is stored. */
  async saved(): Promise<void> {
    await this.saving;
  }

  /** A body of a request as this server takes it. */
  adjusted(body: unknown): unknown {
    return this.changed.size === 0 ? body : this.cleaned(body, 0);
  }

  private cleaned(value: unknown, depth: number): unknown {
    if (Array.isArray(value)) return value.map((each) => this.cleaned(each, depth + 1));
    if (typeof value !== 'object' || value === null || depth > deepest) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
        if (!this.changed.has(name)) {
          const isContent = contents.has(name) && name !== 'messages';
          return [[name, isContent ? each : this.cleaned(each, depth + 1)]];
        }
        const instead = this.changed.get(name);
        return instead === undefined ? [] : [[instead, each]];
      }),
    );
  }
}

/** Fields that hold what a request is about. Nothing in them is a parameter. */
const contents = new Set([
  ...['model', 'messages', 'input', 'contents', 'system', 'systemInstruction', 'instructions'],
  ...['tools', 'content', 'parts', 'arguments'],
]);
/** Parameters are in objects of the body, such as generationConfig.thinkingConfig. */
const deepest = 3;

/** The names of a body's parameters, which a server may refuse. */
export function fieldsOfBody(body: unknown): string[] {
  const names: string[] = [];
  const collect = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > deepest)
      return;
    for (const [name, each] of Object.entries(value)) {
      if (contents.has(name)) continue;
      names.push(name);
      collect(each, depth + 1);
    }
  };
  collect(body, 0);
  // A part of the history that some servers give and others refuse.
  if (JSON.stringify(body)?.includes('"reasoning_content":') === true)
    names.push('reasoning_content');
  return names;
}
