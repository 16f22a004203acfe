import { z } from 'zod';
import { isFailure } from '../../domain/outcome';
import { fittingPrompt } from '../agentless/fittingPrompt';
import { patchDigests } from '../agentless/testing/patchDigests';
import {
  allOf,
  firstThenOthers,
  sampleAll,
  temperatureOf,
  type Method,
  type MethodCandidate,
  type MethodOptions,
  type MethodResult,
} from '../method';
import type { Steps } from '../steps/steps';
import { failsOnR, runOnR } from '../steps/candidateRun';
import { askForFix } from '../steps/filledPrompts';
import { readCode, readTests } from '../steps/readPatch';
import { askInStage, stage } from '../steps/stages';
import { pickByAgreement, type Agreement, type SurrogateCandidate } from './agreement';
import { disagreements, refinementPrompt, type ShownCandidate } from './surrogatePrompt';
import { surrogateRuns, type SurrogateRun } from './surrogateRuns';

/** What a run of `surrogate` does apart from asking for candidates. */
interface SurrogateSettings {
  /** Fixes that the model is asked for, unless fixes are given. */
  readonly fixes: number;
  /** Rounds of refinement. */
  readonly rounds: number;
}

/** What `surrogate` does by default. The numbers are ours: no publication has this method. */
export const defaultSurrogate: SurrogateSettings = { fixes: 5, rounds: 1 };

/** The stage that gives the fixes, which a run may be given. */
export const surrogateFixes = 'surrogate fixes';

/**
 * Candidates run on R, and on R with surrogate fixes. The one is chosen whose F→P agree best with
 * those of the others (see {@link pickByAgreement}). In each round of refinement the model sees on
 * which fixes the candidates disagree, and adds a candidate. The name is ours.
 */
export function surrogate(settings: SurrogateSettings = defaultSurrogate): Method {
  const method: Method = {
    name: 'surrogate',
    title: 'Surrogate',
    description:
      'five answers and five surrogate fixes; each test runs with each fix, and the tests with the most agreement win',
    runs: 'R',
    samples: 5,
    temperature: 0.7,
    canRefine: true,
    async produce(steps, options) {
      const temperature = temperatureOf(method, options);
      const asked = { format: 'custom', temperature } as const;
      const sampled = await sampleAll(steps, asked, options);
      const fixes = await fixesOf(steps, settings.fixes, temperature);
      const candidates = await allOf(sampled.map((each) => onR(steps, each, options)));
      let tested = await testedWith(steps, candidates, fixes);
      for (let round = 1; round <= settings.rounds && !isSettled(tested); round += 1) {
        const added = await refined(steps, tested, { fixes, round, temperature, options });
        tested = await testedWith(
          steps,
          [...tested.map(({ candidate }) => candidate), added],
          fixes,
        );
      }
      return choose(tested, fixes);
    },
  };
  return method;
}

/** Distinct fixes on R. */
interface Fixes {
  readonly patches: readonly string[];
  /** How many fixes each stands for. */
  readonly weights: readonly number[];
}

/** A candidate with its runs on R with each fix; none where it does not fail on R. */
interface Tested {
  readonly candidate: MethodCandidate;
  readonly runs: readonly SurrogateRun[];
}

async function onR(
  steps: Steps,
  candidate: MethodCandidate,
  { onCandidate }: Pick<MethodOptions, 'onCandidate'>,
): Promise<MethodCandidate> {
  if (!candidate.patch.applies) return candidate;
  const known = { ...candidate, run: await runOnR(steps, candidate.patch) };
  onCandidate?.(known);
  return known;
}

async function fixesOf(
  steps: Steps,
  count: number,
  temperature: number | undefined,
): Promise<Fixes> {
  const of = [count, temperature ?? null];
  const all = await stage(
    steps,
    { stage: surrogateFixes, of, schema: z.array(z.string()) },
    async () => {
      const asked = { format: 'custom', temperature, isReused: count > 1 } as const;
      const fixes = await firstThenOthers(
        count,
        (sample) => askForFix(steps, { ...asked, sample }),
        async (_, answer) => (await readCode(steps, answer.text, answer)).patch,
      );
      return fixes.filter((patch) => patch !== '');
    },
  );
  if (all.length === 0) steps.tell('no surrogate fix applies to R');
  const digests = all.length === 0 ? [] : await patchDigests(steps, all);
  const patches = new Map<string, { readonly patch: string; weight: number }>();
  for (const [at, digest] of digests.entries()) {
    const known = patches.get(digest);
    if (known === undefined) patches.set(digest, { patch: all[at] ?? '', weight: 1 });
    else known.weight += 1;
  }
  const distinct = [...patches.values()];
  return {
    patches: distinct.map(({ patch }) => patch),
    weights: distinct.map(({ weight }) => weight),
  };
}

async function testedWith(
  steps: Steps,
  candidates: readonly MethodCandidate[],
  { patches }: Fixes,
): Promise<Tested[]> {
  const failing = candidates.filter(({ run }) => run !== undefined && failsOnR(run));
  const runs = await surrogateRuns(
    steps,
    failing.map(({ patch, run }) => ({
      patch: patch.patch,
      failing: (run?.tests ?? [])
        .filter((each) => isFailure(each) && run?.failingBefore.includes(each.test) !== true)
        .map(({ test }) => test),
    })),
    patches,
  );
  return candidates.map((candidate) => ({
    candidate,
    runs: runs[failing.indexOf(candidate)] ?? [],
  }));
}

const accepts = ({ runs }: Tested): boolean[] => runs.map((run) => run.accepts);

/** Those that pass with a fix; where there are none, those that fail on R. */
function telling(tested: readonly Tested[]): readonly Tested[] {
  const voters = tested.filter((each) => accepts(each).includes(true));
  return voters.length > 0 ? voters : tested.filter(({ runs }) => runs.length > 0);
}

/** Whether there is nothing to refine: all that pass with a fix pass with the same ones. */
function isSettled(tested: readonly Tested[]): boolean {
  const [first, ...others] = telling(tested).map(accepts);
  return (
    first?.includes(true) === true &&
    others.every((votes) => votes.every((vote, fix) => vote === first[fix]))
  );
}

/** The candidate of a round of refinement. */
async function refined(
  steps: Steps,
  tested: readonly Tested[],
  {
    fixes,
    round,
    temperature,
    options,
  }: {
    readonly fixes: Fixes;
    readonly round: number;
    readonly temperature: number | undefined;
    readonly options: MethodOptions;
  },
): Promise<MethodCandidate> {
  const best = tested[pick(tested, fixes)?.index ?? 0];
  const ordered = [...telling(tested)].sort(
    (one, other) => Number(other === best) - Number(one === best),
  );
  const distinct = new Map<string, ShownCandidate>();
  for (const { candidate, runs } of ordered) {
    const { patch } = candidate.patch;
    if (!distinct.has(patch)) distinct.set(patch, { patch, runs });
  }
  const shown = disagreements([...distinct.values()], fixes.patches);
  const prompt = await fittingPrompt({ steps }, shown, (texts) =>
    refinementPrompt({ ...steps.instance, shown: texts }),
  );
  const answer = await askInStage(steps, {
    ...{ method: 'surrogate-refinement', prompt, sample: round, temperature },
  });
  const sample = options.samples + round;
  const patch = await readTests(steps, answer.text, answer);
  const candidate: MethodCandidate = { sample, answer, patch };
  options.onCandidate?.(candidate);
  return onR(steps, candidate, options);
}

/** The choice among candidates with a text. */
const pick = (tested: readonly Tested[], { weights }: Fixes): Agreement | undefined =>
  pickByAgreement(tested.map(factsOf), weights);

const factsOf = (tested: Tested): SurrogateCandidate => ({
  applies: tested.candidate.patch.applies,
  fails: tested.candidate.run !== undefined && failsOnR(tested.candidate.run),
  accepts: accepts(tested),
  tests: tested.candidate.patch.ownTests.length,
});

function choose(tested: readonly Tested[], fixes: Fixes): MethodResult {
  const candidates = tested.map(({ candidate }) => candidate);
  const withText = tested.filter(({ candidate }) => candidate.answer?.text.trim() !== '');
  const picked = pick(withText, fixes);
  const chosen = picked === undefined ? undefined : withText[picked.index];
  if (picked === undefined || chosen === undefined) {
    return { candidates, chosen: undefined, why: 'every answer is empty' };
  }
  return { candidates, chosen: chosen.candidate, why: whyOf(chosen, picked, fixes) };
}

function whyOf(chosen: Tested, { share }: Agreement, { patches }: Fixes): string {
  const { applies, fails } = factsOf(chosen);
  if (!applies) return 'no answer applies to R; this is the first';
  if (!fails) return 'no answer fails on R; this one has the fewest tests of those that apply';
  const fewest = 'this one has the fewest tests of those that fail on R';
  if (patches.length === 0) return `there is no surrogate fix; ${fewest}`;
  const accepted = accepts(chosen).filter(Boolean).length;
  if (accepted === 0) return `no answer passes with a surrogate fix; ${fewest}`;
  const votes = Math.round(100 * (share ?? 0));
  return `passes with ${accepted} of ${patches.length} surrogate ${patches.length === 1 ? 'fix' : 'fixes'}, with ${votes} % of the tests’ votes`;
}
