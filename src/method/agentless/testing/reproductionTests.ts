import { z } from 'zod';
import { normalisedPython } from '../../../python/normalised';
import { firstThenOthers } from '../../method';
import { issueInPrompt, type Prompt } from '../../prompt/prompts';
import type { ScriptRun } from '../../view/runOnR';
import type { Steps } from '../../steps/steps';
import { askInStage, isGiven, stage, stagesOnR } from '../../steps/stages';
import type { AnswerStep } from '../../trace';
import { modulesOf, usesModules } from './modulesOfR';
import { reproductionAnswers, type ReproductionAnswer } from '../../../domain/ranking';

export interface ReproductionSettings {
  /** Scripts that are asked for; none where this is 0. */
  readonly reproductionSamples: number;
  /** Of all scripts but the first, which is greedy; null leaves it to the server for all. */
  readonly temperature?: number | null | undefined;
}

export const defaultReproduction = { reproductionSamples: 40 } as const;
export const reproductionTemperature = 0.8;

/**
 * Scripts that reproduce the issue on R. Made when it is needed, since the options in `--help`
 * import this file.
 */
const reproductionTestsSchema = () =>
  z.object({
    /** Samples with a script. */
    scripts: z.number(),
    /** Those that say on R that the issue is reproduced, and nothing else. */
    reproducing: z.number(),
    /** The reproducing scripts, those with the most votes first, of equals the earlier sample. */
    ranked: z.array(
      z.object({
        script: z.string(),
        /** The first sample that is this script. */
        sample: z.number(),
        /** Samples that are the same script after normalising. */
        votes: z.number(),
      }),
    ),
  });
export type ReproductionTests = z.infer<ReturnType<typeof reproductionTestsSchema>>;
type RankedScript = ReproductionTests['ranked'][number];

const name = 'reproduction';
/** Raised when the stages here change, so that they are made again. */
const version = 2;

/**
 * Finds scripts that reproduce the issue: the model writes them from the issue alone, they run on R,
 * and those that say that the issue is reproduced are counted.
 *
 * @param answers those of `sampleScripts`, where the caller has them
 */
export async function reproductionTests(
  steps: Steps,
  settings: ReproductionSettings,
  answers?: readonly AnswerStep[],
): Promise<ReproductionTests> {
  const { reproductionSamples, temperature } = settings;
  const of = [version, reproductionSamples, temperature];
  const schema = reproductionTestsSchema();
  if (reproductionSamples === 0 || isGiven(steps, name)) {
    const none = { scripts: 0, reproducing: 0, ranked: [] };
    return stage(steps, { stage: name, of, schema }, async () => none);
  }
  const sampled = (answers ?? (await sampleScripts(steps, settings))).flatMap((answer) => {
    const script = readScript(answer.text);
    return script === undefined ? [] : [{ sample: answer.sample, script }];
  });
  const scripts = [...new Set(sampled.map(({ script }) => script))];
  const said = await stagesOnR(
    steps,
    scripts.map((script) => ({
      stage: 'script on R',
      of: [version, script],
      schema: z.enum(reproductionAnswers),
      supposed: () => 'none' as const,
      run: async (on, options) => {
        const { tree } = await steps.view();
        if (!usesModules(script, modulesOf(await tree.paths()))) {
          steps.tell('discarded a script that imports nothing from the repository');
          return 'Other issues' satisfies ReproductionAnswer;
        }
        return answerOf(await on.runScript(script, '', options));
      },
    })),
  );
  const saidBy = new Map(scripts.map((script, at) => [script, said[at]]));
  const kept = sampled.filter(({ script }) => saidBy.get(script) === 'Issue reproduced');
  return stage(steps, { stage: name, of: [of, sampled.length, kept], schema }, async () => {
    const { python } = await steps.view();
    const normal = (script: string): string => normalisedPython(python, script, { names: true });
    return { scripts: sampled.length, reproducing: kept.length, ranked: byVotes(kept, normal) };
  });
}

/** The answers with scripts, whose prompts depend on the issue alone. */
export function sampleScripts(
  steps: Steps,
  { reproductionSamples, temperature = reproductionTemperature }: ReproductionSettings,
): Promise<AnswerStep[]> {
  const prompt = reproductionPrompt(steps.instance);
  const ask = (sample: number): Promise<AnswerStep> =>
    askInStage(steps, {
      ...{ method: 'agentless-reproduction', prompt, sample, isReused: reproductionSamples > 1 },
      temperature: temperature === null ? undefined : sample === 1 ? 0 : temperature,
      typical: { answer: scriptTokens },
    });
  return firstThenOthers(reproductionSamples, ask, (_, answer) => Promise.resolve(answer));
}

/** Tokens that the answer with a script usually has. */
const scriptTokens = 800;

/**
 * What a script says, by the lines of its output that begin with an answer. Different answers, and a
 * run that did not come to its end, are other issues.
 */
export function answerOf({ output, problem }: Pick<ScriptRun, 'output' | 'problem'>) {
  if (problem !== undefined) return 'Other issues' satisfies ReproductionAnswer;
  const lines = output.split('\n').map((line) => line.trim());
  const said = reproductionAnswers.filter(
    (each) => each !== 'none' && lines.some((line) => line.startsWith(each)),
  );
  return said.length > 1 ? 'Other issues' : (said[0] ?? 'none');
}

/** Groups samples whose scripts are the same after normalising, and orders the groups. */
export function byVotes(
  samples: readonly { readonly sample: number; readonly script: string }[],
  normal: (script: string) => string,
): RankedScript[] {
  const groups = new Map<string, RankedScript>();
  for (const { sample, script } of [...samples].sort((one, other) => one.sample - other.sample)) {
    const key = normal(script);
    const known = groups.get(key);
    groups.set(
      key,
      known === undefined ? { script, sample, votes: 1 } : { ...known, votes: known.votes + 1 },
    );
  }
  return [...groups.values()].sort(
    (one, other) => other.votes - one.votes || one.sample - other.sample,
  );
}

const example = [
  'from shapes import area',
  '',
  '',
  'def test_area_of_a_negative_width():',
  '    try:',
  '        found = area(-2, 3)',
  '    except ValueError:',
  '        print("Issue reproduced")',
  '        return',
  '    except Exception:',
  '        print("Other issues")',
  '        return',
  '    print("Issue resolved" if found == 6 else "Other issues")',
  '',
  '',
  'if __name__ == "__main__":',
  '    test_area_of_a_negative_width()',
];

/** Asks for a script that reproduces an issue, which is all that it shows. */
function reproductionPrompt(parts: { readonly repo: string; readonly issue: string }): Prompt {
  const { repo, issue } = parts;
  const content = [
    ...issueInPrompt({ repo, issue }),
    'Write a Python script that shows whether the issue exists. It runs on its own in the ' +
      'repository root, without arguments, input or network access, and prints exactly one of ' +
      'these lines:',
    '- `Issue reproduced` if the code does what the issue complains about;',
    '- `Issue resolved` if the code does what the issue asks for;',
    '- `Other issues` if anything else happens, such as a different error.',
    '',
    'Write each line as a plain string in a call of `print`. Import everything that the script ' +
      'needs. Rely on the behavior that the issue describes, not on how it could be resolved.',
    '',
    'An example for an issue that says that `area(-2, 3)` raises ValueError instead of returning 6:',
    '',
    '```python',
    ...example,
    '```',
    '',
    'Reason as much as you need first. End your answer with the complete script in one block that starts with ```python.',
  ].join('\n');
  return {
    system:
      'You are an experienced Python developer who reproduces reported issues with small scripts.',
    messages: [{ role: 'user', content }],
  };
}

/** The last whole block of code of an answer that says that the issue is reproduced. */
export function readScript(text: string): string | undefined {
  const blocks = [...text.matchAll(/^[ \t]*(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)\n?^[ \t]*\1[ \t]*$/gm)];
  const scripts = blocks
    .map(([, , code = '']) => `${code.replaceAll('\r\n', '\n').trimEnd()}\n`)
    .filter((code) => code.includes('Issue reproduced' satisfies ReproductionAnswer));
  return scripts.at(-1);
}
