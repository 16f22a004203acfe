import PQueue from 'p-queue';
import { messageOf, throwIfAborted, silent } from '../../domain/work';
import type { PythonParser } from '../../python/parser';
import {
  openSteps,
  optionsOf,
  queuesOf,
  type GenerationRequest,
  type InstanceOfRun,
} from './instanceSteps';
import type { Method, MethodOptions } from '../method';
import type { ModelView } from '../modelView';
import { budgetOf } from '../models/budget';
import { Steps } from '../steps/steps';
import type { StepsParts } from '../steps/stepsParts';
import { memoryTrace } from '../trace';
import { unknownText } from './unknownText';
import { Walk, type CountedRequest } from './walk';

/** What an instance would ask a model, or why its prompt cannot be made. */
export type InstanceEstimate = { readonly instance: string } & (
  | { readonly requests: readonly CountedRequest[] }
  | { readonly failure: string }
);

/**
 * Walks through a method on instances, several at once: makes their prompts, and asks for nothing.
 *
 * @throws Cancelled
 */
export async function estimateRun(request: GenerationRequest): Promise<InstanceEstimate[]> {
  const { instances, method, signal, reporter } = request;
  const queues = queuesOf(request.live, undefined);
  const work = new PQueue({ concurrency: Math.max(1, request.workers) });
  // What is supposed is nothing to tell the user.
  const quiet = { ...request, reporter: { ...reporter, log: () => undefined } };
  const one = async (instance: InstanceOfRun): Promise<InstanceEstimate> => {
    throwIfAborted(signal);
    const walk = new Walk({ isBlind: false, isGiven: method.given !== undefined });
    const { steps, dispose } = openSteps(instance, quiet, queues, {
      // Nothing of what is supposed gets into the trace.
      ...{ walk, trace: memoryTrace(request.trace), budget: budgetOf({}) },
      onAnswer: (answer) => walk.addAnswered(answer),
    });
    try {
      await method.produce(steps, optionsOf(request));
      return { instance: instance.id, requests: walk.requests };
    } catch (error) {
      throwIfAborted(signal);
      return { instance: instance.id, failure: messageOf(error) };
    } finally {
      await dispose();
    }
  };
  return Promise.all(instances.map((instance) => work.add(() => one(instance))));
}

/** What an estimate without a look at R needs to know. */
export interface BlindEstimateParts
  extends
    Pick<StepsParts, 'contextTokens' | 'maxOutputTokens' | 'embedding'>,
    Pick<MethodOptions, 'tries'> {
  readonly instance: Pick<StepsParts['instance'], 'repo' | 'issue'>;
  readonly python: () => Promise<PythonParser>;
}

/** Tokens of the names of all files of R in a prompt. */
const nameTokens = 8000;

/**
 * Walks through a method without a look at R: its prompts have as much code as there is room for.
 * Nothing is read or asked.
 */
export async function estimateBlind(
  method: Pick<Method, 'samples' | 'produce'>,
  { instance: { repo, issue }, python, tries, ...sizes }: BlindEstimateParts,
): Promise<readonly CountedRequest[]> {
  const walk = new Walk({ isBlind: true, isGiven: false });
  const never = (): Promise<never> => Promise.reject(new Error('an estimate runs no tests'));
  const now = <T>(work: () => Promise<T>): Promise<T> => work();
  const steps = new Steps({
    ...{ instance: { id: '', repo, issue }, walk, model: '', price: undefined, storage: '' },
    ...{ trace: memoryTrace(), budget: budgetOf({}), ...sizes },
    live: {
      model: { name: '', complete: never },
      view: async () => unseenView(await python(), sizes.contextTokens),
      ...{ oracle: never, inTurn: now, inEmbedding: now, inSandbox: now, inBuilding: now, runs: 1 },
    },
    ...{ testsOnly: false, engine: '', timeoutSeconds: 0, reporter: silent },
  });
  await method.produce(steps, { samples: method.samples, tries });
  return walk.requests;
}

/** R with a file and a test of which nothing is known but that they fill any prompt. */
function unseenView(python: PythonParser, contextTokens: number): ModelView {
  const files: Readonly<Record<string, string>> = {
    [`${unknownText('names', nameTokens)}.py`]: `def ${unknownText('code', contextTokens)}(): pass\n`,
    'tests/test_code.py': `def test_${unknownText('tests', contextTokens)}(): pass\n`,
  };
  const tree: Pick<ModelView['tree'], 'digest' | 'paths' | 'read'> = {
    digest: '',
    paths: () => Promise.resolve(Object.keys(files)),
    read: (path) => Promise.resolve(files[path]),
  };
  return { tree, python } as ModelView;
}
