import { isTestPath } from '../../patch/testFiles';
import { unknownText } from '../estimate/unknownText';
import type { GivenContext } from '../given/givenContext';
import { givenPrompt } from '../given/givenPrompt';
import type { ModelView } from '../modelView';
import { inputTokensOf } from '../models/answering';
import { packKeptFiles } from '../prompt/pack';
import {
  candidatePrompt,
  fixPrompt,
  continuedPrompt,
  promptVersion,
  type CandidateFormat,
  type Exchange,
  type Prompt,
} from '../prompt/prompts';
import { rankFiles } from '../prompt/rankFiles';
import type { Asked, Made, Steps } from './steps';
import type { LiveSteps } from './stepsParts';
import { tokenCounter } from '../prompt/tokens';
import { keyOf, type AnswerStep, type StepOf } from '../trace';

/** Requests whose prompts are filled with the files of R that fit the issue best. */

type AskedSample = Omit<Asked, 'method'>;

interface AskedTests extends AskedSample {
  readonly format: CandidateFormat;
  /** In a setting of Table 5, what the prompt is given. */
  readonly given?: GivenContext;
  /** An earlier answer, and what is said about it, after the prompt. */
  readonly after?: Exchange;
}

/** Asks for one candidate. Methods with the same way of asking share their answers. */
export function askForTests(
  steps: Steps,
  { format, given, after, ...asked }: AskedTests,
): Promise<AnswerStep> {
  const plain = format === 'unified' ? 'zero-shot' : 'zero-shot-plus';
  const way = given === undefined ? plain : `${plain}+${given.setting}`;
  const write = (files: string): Prompt => {
    const prompt = candidatePrompt({ ...steps.instance, files, format });
    return after === undefined ? prompt : continuedPrompt(prompt, after);
  };
  const name = after === undefined ? format : `${format} after ${keyOf(after)}`;
  return steps.askFitting(
    'tests',
    (contextTokens) =>
      given === undefined
        ? filesPrompt(steps, 'tests', name, write, { contextTokens })
        : promptOfSetting(steps, { format, given, after, contextTokens }),
    { ...asked, method: after === undefined ? way : `${way}+refine` },
  );
}

/**
 * Asks for one candidate in a prompt of the method's own.
 *
 * @param asked.method the way of asking
 */
export function askForTestsWith(
  steps: Steps,
  { write, ...asked }: Asked & { readonly write: (files: string) => Prompt },
): Promise<AnswerStep> {
  // Without its files, a prompt identifies everything else in it.
  const name = keyOf(write(''));
  return steps.askFitting(
    'tests',
    (contextTokens) => filesPrompt(steps, 'tests', name, write, { contextTokens }),
    asked,
  );
}

/** Asks for one code patch. A prompt for a unified diff has no tests, as in SWE-bench. */
export function askForFix(
  steps: Steps,
  { format, ...asked }: AskedSample & { readonly format: CandidateFormat },
): Promise<AnswerStep> {
  // The name that the prompt of Table 5's fixes has in earlier traces.
  const name = format === 'custom' ? 'fix' : `fix ${format}`;
  const write = (files: string): Prompt => fixPrompt({ ...steps.instance, files, format });
  const fits = format === 'custom' ? () => true : (path: string) => !isTestPath(path);
  return steps.askFitting(
    'fix',
    (contextTokens) => filesPrompt(steps, 'fix', name, write, { fits, contextTokens }),
    { ...asked, method: format === 'unified' ? 'zero-shot-fix' : 'zero-shot-plus-fix' },
  );
}

/** A prompt with as many of the best ranked files as it has room for. */
async function filesPrompt(
  steps: Steps,
  purpose: 'tests' | 'fix',
  name: string,
  write: (files: string) => Prompt,
  {
    contextTokens,
    fits = () => true,
  }: { readonly contextTokens: number; readonly fits?: (path: string) => boolean },
): Promise<StepOf<'prompt'>> {
  const { instance, storage, live, walk } = steps.parts;
  const key = keyOf('prompt', promptVersion, instance, await steps.tree(), name, contextTokens);
  const make = async ({ view: open }: LiveSteps) => {
    // The line is no file: it stands for the words around files.
    const budget = contextTokens - (await tokensOf(write('\n')));
    if (walk?.isBlind === true) return promptStep(purpose, write(unknownText('files', budget)), []);
    const view = await open();
    const ranked = (await rankedFiles(steps, view)).filter(fits);
    const { tree, python } = view;
    const of = { tree, python, issue: instance.issue, isForTests: purpose === 'tests' };
    const packed = await packKeptFiles(of, ranked, budget, {
      ...{ count: await tokenCounter(), storage, instance: instance.id },
    });
    return promptStep(purpose, write(packed.text), packed.paths);
  };
  return steps.recall('prompt', key, make, { within: live?.inBuilding });
}

/** The prompt of a setting of Table 5. */
async function promptOfSetting(
  steps: Steps,
  {
    format,
    given,
    after,
    contextTokens,
  }: Required<Pick<AskedTests, 'format' | 'given'>> & {
    readonly after: Exchange | undefined;
    readonly contextTokens: number;
  },
): Promise<StepOf<'prompt'>> {
  const { instance, live } = steps.parts;
  const on = after === undefined ? [] : [after];
  const of = [promptVersion, instance, await steps.tree(), format, contextTokens, given, ...on];
  const make = async ({ view: open }: LiveSteps) => {
    const view = await open();
    const { prompt, files } = await givenPrompt({
      ...{ instance, view, given, format, after, contextTokens, tokensOf },
      ranked: await rankedFiles(steps, view),
      count: await tokenCounter(),
    });
    const step = await promptStep('tests', prompt, files);
    return { ...step, ...(given.oracle === true && { oracle: true as const }) };
  };
  return steps.recall('prompt', keyOf('prompt', ...of), make, { within: live?.inBuilding });
}

/** Paths of the files of R, best first for the issue. */
async function rankedFiles(steps: Steps, { tree }: ModelView): Promise<readonly string[]> {
  const { instance, storage, signal } = steps.parts;
  steps.progress('ranking the files');
  return rankFiles(tree, instance.issue, { storage, instance: instance.id }, signal);
}

/** What the trace has of a prompt. */
export async function promptStep(
  purpose: 'tests' | 'judge' | 'fix' | 'stage',
  prompt: Prompt,
  files: readonly string[],
): Promise<Made<'prompt'>> {
  const { system, messages } = prompt;
  return {
    purpose,
    prompt: keyOf(system, messages),
    system,
    messages: [...messages],
    files: [...files],
    tokens: await tokensOf(prompt),
  };
}

const tokensOf = (prompt: Prompt): Promise<number> =>
  inputTokensOf({ ...prompt, temperature: undefined, maxOutputTokens: 0 });
