import { isFailure } from '../domain/outcome';
import { HumanError } from '../domain/problem';
import type { Reporter } from '../domain/reporter';
import { findTests } from '../python/tests';
import type { ModelView } from './modelView';
import { inputTokensOf } from './models/answering';
import { dollarsOf, type Budget, type Price } from './models/budget';
import type { ChatModel, ChatRequest } from './models/chatModel';
import { packFiles } from './pack';
import {
  candidatePrompt,
  judgePrompt,
  promptVersion,
  readJudgement,
  type CandidateFormat,
  type Prompt,
} from './prompts';
import { searchIndex } from './searchIndex';
import type { Oracle } from './oracle';
import { tokenCounter } from './tokens';
import { keyOf, type StepOf, type MethodTrace } from './trace';
import type { Step } from './traceSteps';

export type AnswerStep = StepOf<'answer'>;
export type PatchStep = StepOf<'patch'>;
export type RunStep = StepOf<'run'>;
export type VerdictStep = StepOf<'verdict'>;

/** What the methods are put together from. Each step that a trace has is taken from it. */
export interface Steps {
  /** Asks for one candidate. */
  sample(asked: {
    readonly format: CandidateFormat;
    /** From 1. */
    readonly sample: number;
    readonly temperature: number | undefined;
  }): Promise<AnswerStep>;
  /** Turns an answer into a unified diff on R, or says why it is none. */
  convert(answer: string): Promise<PatchStep>;
  /** Runs a candidate's own tests on R. */
  runOnR(patch: PatchStep): Promise<RunStep>;
  /** Asks whether a failure on R is the problem of the issue; undefined when the answer says neither. */
  judge(
    patch: PatchStep,
    run: RunStep,
    temperature: number | undefined,
  ): Promise<{ readonly matches: boolean | undefined; readonly answer: AnswerStep }>;
  /** The verdict of the oracle, which only Pass@k may ask. */
  verdict(patch: PatchStep): Promise<VerdictStep>;
}

export interface StepsParts {
  /** With its id, for the trace and for people: no prompt has it. */
  readonly instance: Pick<ModelView, 'repo' | 'issue'> & { readonly id: string };
  /** Undefined for a replay: then nothing is done that the trace does not have. */
  readonly live:
    | {
        readonly model: ChatModel;
        readonly view: () => Promise<ModelView>;
        readonly oracle: () => Promise<Oracle>;
        /** Lets only so many requests out at once. */
        readonly inTurn: <T>(request: () => Promise<T>) => Promise<T>;
      }
    | undefined;
  /** Name of the model; part of what makes two requests the same. */
  readonly model: string;
  readonly trace: MethodTrace;
  readonly budget: Budget;
  readonly price: Price | undefined;
  /** Where indexes are kept. */
  readonly storage: string;
  /** Tokens of a whole prompt. */
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  /** Leave out edits of files that are not tests. */
  readonly testsOnly: boolean;
  /** Where tests run, as far as it changes what they do. */
  readonly engine: string;
  readonly timeoutSeconds: number;
  readonly signal?: AbortSignal | undefined;
  readonly reporter: Reporter;
  /** Told of each answer that is used, paid now or before. */
  readonly onAnswer?: (answer: AnswerStep) => void;
  /** Told of each piece of an answer that is being written; a try that failed is begun anew. */
  readonly onText?:
    | ((asked: Pick<AnswerStep, 'instance' | 'purpose' | 'sample'>, piece: string) => void)
    | undefined;
}

interface Recalling<Kind extends Step['step']> {
  /** Whether a step of the trace can be used. */
  readonly isGood?: (step: StepOf<Kind>) => boolean;
  /** Lets the step be made when there is room. */
  readonly within?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
}

/** What of a failure a judge is shown, in characters: the end tells more than the beginning. */
const failureLength = 4000;
/** Failures that a judge is shown. */
const mostFailures = 5;

export function stepsOf(parts: StepsParts): Steps {
  const { instance, live, trace, signal, reporter } = parts;
  const { id } = instance;
  const underWay = new Map<string, Promise<Step>>();

  /** The step of the trace, or else what `make` gives, which is then in the trace. */
  const recall = async <Kind extends Step['step']>(
    kind: Kind,
    key: string,
    make: (
      with_: NonNullable<StepsParts['live']>,
    ) => Promise<Omit<StepOf<Kind>, 'step' | 'key' | 'at' | 'instance'>>,
    { isGood = () => true, within = (work) => work() }: Recalling<Kind> = {},
  ): Promise<StepOf<Kind>> => {
    const known = trace.find(kind, key);
    if (known !== undefined && (live === undefined || isGood(known))) return known;
    if (live === undefined) {
      throw new HumanError(
        `${id}: the trace has no ${nameOf[kind]} for what is asked for`,
        'Replay with the method, model and options of the run, or run it without --replay',
      );
    }
    const name = `${kind} ${key}`;
    const waiting = underWay.get(name);
    if (waiting !== undefined) return waiting as Promise<StepOf<Kind>>;
    const making = within(async () => {
      const made = await make(live);
      const step = { step: kind, key, at: new Date().toISOString(), instance: id, ...made };
      await trace.add(step as unknown as Step);
      return step as unknown as StepOf<Kind>;
    });
    underWay.set(name, making);
    try {
      return await making;
    } finally {
      underWay.delete(name);
    }
  };

  let known: Promise<string> | undefined;
  const tree = (): Promise<string> =>
    (known ??= (async () => {
      const key = keyOf('tree', instance);
      const now = live === undefined ? undefined : (await live.view()).tree.digest;
      const make = async (): Promise<{ tree: string }> => ({ tree: now ?? '' });
      return (await recall('tree', key, make, { isGood: (step) => step.tree === now })).tree;
    })());

  const ask = async (
    purpose: AnswerStep['purpose'],
    prompt: StepOf<'prompt'>,
    asked: { method: string; sample: number; temperature: number | undefined },
  ): Promise<AnswerStep> => {
    const { method, sample } = asked;
    const parameters = {
      temperature: asked.temperature ?? null,
      maxOutputTokens: parts.maxOutputTokens,
    };
    const key = keyOf('answer', method, parts.model, parameters, prompt.prompt, sample);
    const { system, messages } = prompt;
    const { temperature } = asked;
    const { maxOutputTokens } = parts;
    const request: ChatRequest = { system, messages, temperature, maxOutputTokens };
    const answer = await recall(
      'answer',
      key,
      async ({ model }) => {
        const settle = await parts.budget.reserve(await mostOf(request, parts.price));
        let cost = { tokens: 0, dollars: 0 };
        try {
          const started = Date.now();
          reporter.progress(`${id}: asking ${parts.model} (${method}, sample ${sample})`);
          const said = await model.complete(request, {
            ...{ signal, reporter },
            onText: (piece) => parts.onText?.({ instance: id, purpose, sample }, piece),
          });
          cost = { tokens: said.inputTokens + said.outputTokens, dollars: said.dollars ?? 0 };
          if (said.finish === 'length') {
            reporter.log(`${id}: the answer is cut off at ${maxOutputTokens} tokens`);
          } else if (said.finish === 'refused') {
            reporter.log(`${id}: the model refuses to answer`);
          }
          const seconds = (Date.now() - started) / 1000;
          const of = { purpose, method, model: parts.model, sample, parameters };
          return { ...of, prompt: prompt.prompt, ...said, seconds };
        } finally {
          settle(cost);
        }
      },
      // Until the answer is on the disk, so that the next one is not asked for before.
      { within: live?.inTurn },
    );
    parts.onAnswer?.(answer);
    return answer;
  };

  const promptFor = async (format: CandidateFormat): Promise<StepOf<'prompt'>> => {
    const key = keyOf('prompt', promptVersion, instance, await tree(), format, parts.contextTokens);
    return recall('prompt', key, async ({ view: open }) => {
      const view = await open();
      const count = await tokenCounter();
      const without = candidatePrompt({ ...instance, files: '', format });
      const budget = parts.contextTokens - (await tokensOf(without));
      reporter.progress(`${id}: looking for files that matter`);
      const index = await searchIndex(view.tree, { storage: parts.storage, instance: id }, signal);
      const packed = await packFiles(view.tree, index.rank(instance.issue), budget, count);
      const prompt = candidatePrompt({ ...instance, files: packed.text, format });
      return promptStep('tests', prompt, packed.paths, await tokensOf(prompt));
    });
  };

  return {
    async sample({ format, sample, temperature }) {
      const method = format === 'unified' ? 'zero-shot' : 'zero-shot-plus';
      return ask('tests', await promptFor(format), { method, sample, temperature });
    },
    async convert(answer) {
      const key = keyOf('patch', await tree(), answer, parts.testsOnly);
      return recall('patch', key, async ({ view: open }) => {
        const view = await open();
        const { testsOnly } = parts;
        let read = await view.read(answer, { testsOnly, signal });
        if (!read.applies) {
          // As the paper does: hunks go where their context fits best.
          const placed = await view.read(answer, { testsOnly, signal, format: 'fuzzy' });
          if (placed.applies) read = placed;
        }
        const isEmpty = answer.trim() === '';
        return {
          applies: read.applies && !isEmpty,
          ...(read.problem !== undefined && { problem: read.problem }),
          patch: read.patch,
          ownTests: [...read.ownTests],
          diagnostics: read.diagnostics.map(({ severity, line, message }) => ({
            severity,
            line,
            message,
          })),
        };
      });
    },
    async runOnR({ patch }) {
      const key = keyOf('run', await tree(), patch, parts.engine, parts.timeoutSeconds);
      return recall(
        'run',
        key,
        async ({ view: open }) => {
          const view = await open();
          const { timeoutSeconds } = parts;
          const options = { timeoutSeconds, signal, reporter };
          reporter.progress(`${id}: running a candidate on R`);
          const run = await view.runOnR(patch, { ...options, format: 'unified' });
          const failing = run.tests.filter(isFailure).map(({ test }) => test);
          const known = await knownToR(view, failing);
          const before =
            known.length === 0 ? [] : (await view.runOnR('', { ...options, tests: known })).tests;
          return {
            ...(run.problem !== undefined && { problem: run.problem }),
            tests: run.tests.map(({ test, outcome, exception, message, details }) => ({
              test,
              outcome,
              ...(exception !== undefined && { exception }),
              ...(message !== undefined && { message }),
              ...(details !== undefined && { details: details.slice(-failureLength) }),
            })),
            failingBefore: before.filter(isFailure).map(({ test }) => test),
            seconds: run.seconds,
          };
        },
        { isGood: ({ problem }) => problem === undefined },
      );
    },
    async judge(patch, run, temperature) {
      const prompt = judgePrompt({
        ...instance,
        patch: patch.patch,
        failures: run.tests
          .filter(isFailure)
          .slice(0, mostFailures)
          .map(({ test, exception, message, details }) => ({
            test,
            text: details ?? [exception, message].filter((each) => each !== undefined).join(': '),
          })),
        failingBefore: run.failingBefore,
      });
      const key = keyOf('prompt', prompt);
      const step = await recall('prompt', key, async () =>
        promptStep('judge', prompt, [], await tokensOf(prompt)),
      );
      const answer = await ask('judge', step, { method: 'libro-judge', sample: 1, temperature });
      return { matches: readJudgement(answer.text), answer };
    },
    async verdict({ patch }) {
      const key = keyOf('verdict', await tree(), patch, parts.engine, parts.timeoutSeconds);
      return recall(
        'verdict',
        key,
        async ({ oracle }) => {
          reporter.progress(`${id}: asking the oracle`);
          return (await oracle()).judge(patch);
        },
        { isGood: ({ reason }) => reason !== 'could not run' },
      );
    },
  };
}

const nameOf: Readonly<Record<Step['step'], string>> = {
  tree: 'tree of R',
  prompt: 'prompt',
  answer: 'answer',
  patch: 'patch',
  run: 'run on R',
  verdict: 'verdict of the oracle',
  choice: 'choice',
};

/** Whether a test of the candidate fails on R that does not without it. */
export function failsOnR({ tests, failingBefore }: RunStep): boolean {
  return tests.some((each) => isFailure(each) && !failingBefore.includes(each.test));
}

/** Those of the tests that R has, under the same id. */
async function knownToR(view: ModelView, tests: readonly string[]): Promise<string[]> {
  const functions = [...new Set(tests.map((test) => test.replace(/\[.*$/s, '')))];
  const known: string[] = [];
  for (const path of new Set(functions.map((test) => test.split('::')[0] ?? ''))) {
    const source = path.endsWith('.py') ? await view.tree.read(path) : undefined;
    if (source === undefined) continue;
    const ids = new Set(findTests(view.python, source, { path }).map((test) => test.id));
    known.push(...functions.filter((test) => ids.has(test)));
  }
  return known;
}

const promptStep = (
  purpose: 'tests' | 'judge',
  { system, messages }: Prompt,
  files: readonly string[],
  tokens: number,
): Omit<StepOf<'prompt'>, 'step' | 'key' | 'at' | 'instance'> => ({
  purpose,
  prompt: keyOf(system, messages),
  system,
  messages: [...messages],
  files: [...files],
  tokens,
});

const tokensOf = (prompt: Prompt): Promise<number> =>
  inputTokensOf({ ...prompt, temperature: undefined, maxOutputTokens: 0 });

/** The most that a request can cost, with a tenth for the tokenizers of others. */
async function mostOf(
  request: ChatRequest,
  price: Price | undefined,
): Promise<{ tokens: number; dollars: number }> {
  const input = Math.ceil((await inputTokensOf(request)) * 1.1);
  const dollars = price === undefined ? 0 : dollarsOf(price, input, request.maxOutputTokens);
  return { tokens: input + request.maxOutputTokens, dollars };
}
