import { z } from 'zod';
import { standing } from '../../../domain/outcome';
import { functionOf } from '../../../domain/testId';
import { issueInPrompt, type Prompt } from '../../prompt/prompts';
import { findTests } from '../../../python/tests';
import type { ModelView } from '../../modelView';
import type { Steps } from '../../steps/steps';
import { askInStage, isGiven, stage, stagesOnR } from '../../steps/stages';
import { reachingTestFiles, testFilesOfR } from './reachingTestFiles';

/** Which tests of R a code patch must not break: of files that reach the code, of all, or none. */
export const regressionKinds = ['reaching', 'all', 'none'] as const;

export interface RegressionSettings {
  readonly regression: (typeof regressionKinds)[number];
  /** Most test files, the nearest first. */
  readonly regressionFiles: number;
  /** The answer is asked for at temperature 0, or at the server's where this is null. */
  readonly temperature?: number | null | undefined;
}

export const defaultRegression: RegressionSettings = {
  regression: 'reaching',
  regressionFiles: 10,
};

/**
 * Tests of R that have to pass with a code patch. Made when it is needed, since the options in
 * `--help` import this file.
 */
const regressionTestsSchema = () =>
  z.object({
    /** Test files that run. */
    files: z.array(z.string()),
    /** Test files beyond the limit, which do not run. */
    leftOut: z.number(),
    /** Ids of tests that pass on R and may be used. */
    tests: z.array(z.string()),
    /** Functions of tests that pass on R, which the model says must not be used. */
    excluded: z.array(z.string()),
  });
export type RegressionTests = z.infer<ReturnType<typeof regressionTestsSchema>>;

const name = 'regression';
/** Raised when the stages here change, so that they are made again. */
const version = 1;
/** Functions of tests that the model is shown. Those beyond it are not used. */
const mostShownTests = 1000;

/**
 * Finds the regression tests: those that pass on R, less those that the model names because a
 * solution of the issue may break them. Nothing of T* decides which tests these are.
 *
 * @param suspicious paths of the files that a solution may change
 */
export async function regressionTests(
  steps: Steps,
  suspicious: readonly string[],
  settings: RegressionSettings,
): Promise<RegressionTests> {
  const { regression, regressionFiles, temperature } = settings;
  const of = [version, suspicious, regression, regressionFiles, temperature];
  const schema = regressionTestsSchema();
  if (regression === 'none' || isGiven(steps, name)) {
    const none = { files: [], leftOut: 0, tests: [], excluded: [] };
    return stage(steps, { stage: name, of, schema }, async () => none);
  }
  const { files, leftOut } = await stage(
    steps,
    { stage: 'regression files', of, schema: schema.pick({ files: true, leftOut: true }) },
    async () => {
      const view = await steps.view();
      const all =
        regression === 'all'
          ? await testFilesOfR(view)
          : steps.parts.walk?.knowsOutputs === false
            ? await largestTestFiles(view)
            : await reachingTestFiles(view, suspicious);
      const files = all.slice(0, regressionFiles);
      return { files, leftOut: all.length - files.length };
    },
  );
  const passing = (await passingOnR(steps, files)).flat();
  const shown = [...new Set(passing.map(functionOf))].slice(0, mostShownTests);
  const { repo, issue } = steps.instance;
  const ask = async (): Promise<string[]> => {
    const { text } = await askInStage(steps, {
      ...{ method: 'agentless-regression', sample: 1 },
      prompt: regressionPrompt({ repo, issue, tests: shown }),
      temperature: temperature === null ? undefined : 0,
      typical: { answer: 300 },
    });
    return readExcluded(text, shown);
  };
  const excluded = shown.length === 0 ? [] : await ask();
  return stage(steps, { stage: name, of: [of, excluded], schema }, async () => ({
    ...{ files, leftOut, excluded },
    tests: allowedTests(passing, shown, excluded),
  }));
}

/** The test files of R with the most tests, which a walk takes where it does not know the code. */
async function largestTestFiles({ tree }: Pick<ModelView, 'tree'>): Promise<string[]> {
  const sizes: { readonly path: string; readonly tests: number }[] = [];
  for (const path of await testFilesOfR({ tree })) {
    const text = (await tree.read(path)) ?? '';
    sizes.push({ path, tests: text.match(/^\s*(?:async\s+)?def\s+test/gm)?.length ?? 0 });
  }
  return sizes.sort((one, other) => other.tests - one.tests).map(({ path }) => path);
}

/** The tests of files that pass on R. */
const passingOnR = (steps: Steps, files: readonly string[]): Promise<string[][]> =>
  stagesOnR(
    steps,
    files.map((path) => ({
      stage: 'tests on R',
      of: [version, path],
      schema: z.array(z.string()),
      supposed: async () => {
        const { tree, python } = await steps.view();
        return findTests(python, (await tree.read(path)) ?? '', { path }).map(({ id }) => id);
      },
      run: async (on, options) => {
        const { tests } = await on.runOnR('', { ...options, tests: [path] });
        return tests
          .filter(({ outcome }) => standing(outcome) === 'passes')
          .map(({ test }) => test);
      },
    })),
  );

/** The tests whose functions the model was shown and did not exclude. */
export function allowedTests(
  passing: readonly string[],
  shown: readonly string[],
  excluded: readonly string[],
): string[] {
  const allowed = new Set(shown);
  for (const each of excluded) allowed.delete(each);
  return passing.filter((test) => allowed.has(functionOf(test)));
}

/** Asks which tests a solution may break. */
function regressionPrompt(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly tests: readonly string[];
}): Prompt {
  const { repo, issue, tests } = parts;
  const content = [
    ...issueInPrompt({ repo, issue }),
    'These tests of the repository currently pass:',
    '',
    '<tests>',
    ...tests,
    '</tests>',
    '',
    'They will be used to check fixes: a test that passes now must also pass with a fix. ' +
      'However, some tests may assert the behavior that the issue says is wrong. A correct fix ' +
      'breaks these tests, so they must not be used.',
    '',
    'List the tests that a correct fix breaks, each on its own line between <exclude> and ' +
      '</exclude>, exactly as it is written above. If there are none, leave nothing between the tags.',
  ].join('\n');
  return {
    system: 'You are an experienced Python developer who guards a test suite against regressions.',
    messages: [{ role: 'user', content }],
  };
}

/**
 * The tests that an answer excludes, as far as they were shown. A whole file or class stands for the
 * tests in it. An answer without the tags excludes the shown tests that are on lines of their own.
 */
export function readExcluded(text: string, shown: readonly string[]): string[] {
  const said = /<exclude>([\s\S]*?)(?:<\/exclude>|$)/.exec(
    text.slice(text.lastIndexOf('<exclude>')),
  );
  const lines = (said?.[1] ?? text)
    .split('\n')
    .map((line) =>
      line
        .trim()
        .replace(/^(?:[-*]|\d+[.)])\s+/, '')
        .replace(/^`+|[`,;]+$/g, ''),
    )
    .filter((line) => line !== '');
  return shown.filter((test) =>
    lines.some((line) => test === functionOf(line) || test.startsWith(`${line}::`)),
  );
}
