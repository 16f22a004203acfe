import { silent } from '../../../src/domain/work';
import type { ModelView } from '../../../src/method/modelView';
import { budgetOf } from '../../../src/method/models/budget';
import type { Oracle } from '../../../src/method/view/oracle';
import { Steps, type Asked } from '../../../src/method/steps/steps';
import {
  memoryTrace,
  type AnswerStep,
  type PatchStep,
  type RunStep,
} from '../../../src/method/trace';
import { sharedStorage } from '../../sharedStorage';
import { loadParser } from '../python/loadParser';

/** A request of a method to its model. */
export interface ScriptedRequest extends Asked {
  readonly purpose: AnswerStep['purpose'];
  /** The texts of its messages. */
  readonly messages: readonly string[];
}

export interface Script {
  /** What the model says. */
  readonly say: (request: ScriptedRequest) => string | Promise<string>;
  /** What comes of a candidate's text. */
  readonly read?: (text: string) => Pick<PatchStep, 'applies' | 'patch' | 'problem'>;
  /** What tests do on R. */
  readonly run?: (patch: string) => Pick<RunStep, 'tests' | 'problem' | 'failingBefore'>;
  readonly verdict?: (patch: string) => Awaited<ReturnType<Oracle['judge']>>;
}

/** Real steps with a model, an R and an oracle that play a script. R has no files. */
export class ScriptedSteps extends Steps {
  readonly asked: ScriptedRequest[] = [];

  constructor(private readonly script: Script) {
    const now = <T>(work: () => Promise<T>): Promise<T> => work();
    super({
      ...{ instance: { id: 'octo__cat-1', repo: 'octo/cat', issue: 'ISSUE' }, model: 'm' },
      ...{ trace: memoryTrace(), budget: budgetOf({}), price: undefined, storage: sharedStorage() },
      live: {
        model: { name: 'm', complete: () => Promise.reject(new Error('the script answers')) },
        view: () => viewOf(script),
        oracle: () => Promise.resolve(oracleOf(script)),
        ...{ inTurn: now, inEmbedding: now, inSandbox: now, inBuilding: now, runs: 2 },
      },
      ...{ contextTokens: 27_000, maxOutputTokens: 1000, testsOnly: false, engine: 'local' },
      ...{ timeoutSeconds: 60, reporter: silent },
    });
  }

  override async ask(
    purpose: AnswerStep['purpose'],
    asking: Parameters<Steps['ask']>[1],
    asked: Asked,
  ): Promise<AnswerStep> {
    const messages = asking.messages.map(({ content }) => content);
    const request = { ...asked, purpose, messages };
    this.asked.push(request);
    const key = `${this.asked.length}`;
    const text = await this.script.say(request);
    const { method, sample, temperature } = asked;
    return {
      ...{ step: 'answer', key, at: '', instance: 'octo__cat-1', purpose, method, sample },
      ...{ model: 'm', prompt: asking.prompt, text, finish: 'stop', seconds: 0 },
      ...{ inputTokens: 1, outputTokens: 1 },
      parameters: { temperature: temperature ?? null, maxOutputTokens: 1000 },
    };
  }
}

async function viewOf({ read, run }: Script): Promise<ModelView> {
  const before = new Set<string>();
  const view = {
    tree: {
      digest: 'R',
      paths: () => Promise.resolve([]),
      // R has a test of each name that a run says to have failed before.
      read: () =>
        Promise.resolve(
          [...before].map((id) => `def ${id.split('::')[1] ?? ''}(): pass\n`).join(''),
        ),
    },
    python: await loadParser(),
    read: (text: string) =>
      Promise.resolve({ ...{ ownTests: [], diagnostics: [] }, ...(read ?? never)(text) }),
    runOnR: (patch: string, { tests: asked }: { readonly tests?: readonly string[] }) => {
      if (asked !== undefined) {
        const tests = asked.map((test) => ({ test, outcome: 'failed' as const }));
        return Promise.resolve({ tests, seconds: 0 });
      }
      const { failingBefore, ...rest } = (run ?? never)(patch);
      for (const each of failingBefore) before.add(each);
      return Promise.resolve({ ...rest, seconds: 0 });
    },
  };
  return view as unknown as ModelView;
}

const oracleOf = ({ verdict }: Script): Oracle =>
  ({ judge: (patch: string) => Promise.resolve((verdict ?? never)(patch)) }) as unknown as Oracle;

const never = (): never => {
  throw new Error('the script has nothing of the kind');
};
