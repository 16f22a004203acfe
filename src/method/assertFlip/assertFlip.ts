import { temperatureOf, type Method, type MethodResult } from '../method';
import { pickByFlip, type FlipFacts } from '../steps/picks';
import { flipAttempt, type FlipAttempt } from './flipAttempt';
import type { Setback } from './flipPrompts';

/** Attempts, and times that one is sent back, as published. */
const defaultAttempts = 10;
const defaultTries = 10;

/**
 * Tests that pass on R and show today's behaviour, with their assertions inverted. The model
 * validates the failure against the issue, and makes another attempt where it does not.
 */
export const assertFlip: Method = {
  name: 'assertflip',
  title: 'AssertFlip',
  description:
    'tests that pass on R and show the problem, with inverted assertions; up to ten attempts, each validated by the model',
  runs: 'R',
  samples: defaultAttempts,
  temperature: 0,
  tries: defaultTries,
  typicalRequests: 4,
  async produce(steps, options) {
    const { samples, tries = defaultTries, onCandidate } = options;
    const temperature = temperatureOf(assertFlip, options);
    const judgeTemperature = options.temperature === null ? undefined : 0;
    const attempts: FlipAttempt[] = [];
    let setback: Setback | undefined;
    let isSpent = false;
    for (let attempt = 1; attempt <= samples && !isSpent; attempt += 1) {
      const made = await flipAttempt(steps, {
        ...{ attempt, setback, tries, temperature, judgeTemperature, onCandidate },
      });
      isSpent = made === undefined || made.isSpent;
      if (made === undefined) break;
      attempts.push(made);
      if (made.candidate.matches === true) break;
      setback = setbackOf(made);
    }
    return choose(attempts, isSpent);
  },
};

const setbackOf = ({ candidate: { patch, answer }, said }: FlipAttempt): Setback => ({
  tests: patch.applies ? patch.patch : answer.text,
  said,
});

/** @param isSpent whether the limit of dollars ended the attempts */
function choose(attempts: readonly FlipAttempt[], isSpent: boolean): MethodResult {
  const candidates = attempts.map(({ candidate }) => candidate);
  const withText = attempts.filter(({ candidate }) => candidate.answer.text.trim() !== '');
  const picked = pickByFlip(withText.map(factsOf));
  const chosen = picked === undefined ? undefined : withText[picked];
  const why = isSpent ? `${whyOf(chosen)}; the cost limit ends the attempts` : whyOf(chosen);
  return { candidates, chosen: chosen?.candidate, why };
}

const factsOf = ({ candidate, isFlipped, fails }: FlipAttempt): FlipFacts => ({
  applies: candidate.patch.applies,
  isFlipped,
  fails,
  matches: candidate.matches,
});

function whyOf(chosen: FlipAttempt | undefined): string {
  if (chosen === undefined) return 'every answer is empty';
  const { matches, patch } = chosen.candidate;
  const none = 'no attempt is validated';
  if (matches === true) return 'its inverted tests fail on R as the issue says';
  if (!patch.applies) return `${none}; no answer applies to R`;
  if (!chosen.isFlipped) return `${none}; no tests that pass on R were inverted`;
  if (!chosen.fails) return `${none}; these tests do not fail on R as expected when inverted`;
  return matches === false
    ? `${none}; these tests fail on R, but according to the model not because of the issue`
    : `${none}; these tests fail on R, but the model does not say why`;
}
