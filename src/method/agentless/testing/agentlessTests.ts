import { z } from 'zod';
import { plural } from '../../../domain/text';
import { makeUnified } from '../../../patch/makeUnified';
import type { Method, MethodCandidate, MethodOptions, MethodResult } from '../../method';
import type { Steps } from '../../steps/steps';
import { failsOnR, runOnR } from '../../steps/candidateRun';
import { readCode, readTests } from '../../steps/readPatch';
import { stage } from '../../steps/stages';
import type { AnswerStep } from '../../trace';
import { placeOfTest } from './placeOfTest';
import {
  readScript,
  reproductionTests,
  sampleScripts,
  defaultReproduction,
  reproductionTemperature,
  type ReproductionTests,
} from './reproductionTests';
import { scriptAsTest } from './scriptAsTest';

/** Raised when scripts become tests in another way, so that they are made again. */
const version = 2;
/** Where a script goes that stays a script. */
const scriptPath = 'reproduce_issue.py';
/** Scripts that are tried as tests, those with the most votes first. */
const mostTried = 5;

/**
 * The reproduction tests of Agentless as candidates: scripts from the issue alone, run on R, the
 * most frequent of those that reproduce the issue, as a test of R's suite or as a script.
 */
export const agentlessTests: Method = {
  name: 'agentless-tests',
  title: 'Agentless tests',
  description:
    'forty scripts from the issue alone run on R; the most frequent one that reproduces the issue becomes the test',
  runs: 'R',
  samples: defaultReproduction.reproductionSamples,
  temperature: reproductionTemperature,
  writesScripts: true,
  async produce(steps, options) {
    const settings = { reproductionSamples: options.samples, temperature: options.temperature };
    const answers = await sampleScripts(steps, settings);
    const found = await reproductionTests(steps, settings, answers);
    return found.ranked.length > 0
      ? chooseTest(steps, answers, found, options)
      : firstScript(steps, answers, options);
  },
};

/** The first of the reproducing scripts whose test fails on R. */
async function chooseTest(
  steps: Steps,
  answers: readonly AnswerStep[],
  { ranked, reproducing, scripts }: ReproductionTests,
  options: MethodOptions,
): Promise<MethodResult> {
  const candidates: MethodCandidate[] = [];
  for (const { sample, script, votes } of ranked.slice(0, mostTried)) {
    const answer = answers.find((each) => each.sample === sample);
    if (answer === undefined) continue;
    const candidate = await candidateOf(steps, answer, script, options);
    candidates.push(candidate);
    if (!candidate.patch.applies || (candidate.run !== undefined && !failsOnR(candidate.run))) {
      continue;
    }
    const of = `${reproducing} of ${plural(scripts, 'script')} reproduce the issue on R`;
    return { candidates, chosen: candidate, why: `${of}, ${votes} of them like this one` };
  }
  const chosen = candidates.find(({ patch }) => patch.applies) ?? candidates[0];
  const why =
    chosen?.patch.applies === true
      ? 'no script fails on R as a test; this is the first'
      : 'no script that reproduces the issue can be converted to a test';
  return { candidates, chosen, why };
}

/** The first answer with a script, where none reproduces the issue on R. */
async function firstScript(
  steps: Steps,
  answers: readonly AnswerStep[],
  options: MethodOptions,
): Promise<MethodResult> {
  for (const answer of answers) {
    const script = readScript(answer.text);
    if (script === undefined) continue;
    const candidate = await candidateOf(steps, answer, script, options);
    const why = 'no script reproduces the issue on R; this is the first';
    return { candidates: [candidate], chosen: candidate, why };
  }
  const answer = answers.find(({ text }) => text.trim() !== '') ?? answers[0];
  if (answer === undefined)
    return { candidates: [], chosen: undefined, why: 'no requests were sent' };
  const candidate = {
    sample: answer.sample,
    answer,
    patch: await readTests(steps, answer.text, answer),
  };
  options.onCandidate?.(candidate);
  return { candidates: [candidate], chosen: candidate, why: 'no answer has a script' };
}

/** A script as a candidate. A test runs on R, where it has to fail. */
async function candidateOf(
  steps: Steps,
  answer: AnswerStep,
  script: string,
  options: MethodOptions,
): Promise<MethodCandidate> {
  const { sample } = answer;
  const asScript = options.mode === 'reproduction-script';
  const text = await stage(
    steps,
    {
      stage: 'script as a candidate',
      of: [version, script, asScript],
      schema: z.string(),
    },
    async () => {
      const view = await steps.view();
      const place = asScript ? undefined : await placeOfTest(view, script);
      const after = scriptAsTest(view.python, script, place?.style ?? 'script');
      const path = place?.path ?? scriptPath;
      return after === undefined ? '' : makeUnified([{ path, before: undefined, after }]);
    },
  );
  const patch = await (asScript ? readCode : readTests)(steps, text, answer);
  const candidate: MethodCandidate = { sample, answer, patch };
  options.onCandidate?.(candidate);
  if (asScript || !patch.applies) return candidate;
  const known = { ...candidate, run: await runOnR(steps, patch) };
  options.onCandidate?.(known);
  return known;
}
