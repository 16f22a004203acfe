import { formatInPrompt, issueInPrompt, testsSystem, type Prompt } from '../prompt/prompts';
import type { SurrogateRun } from './surrogateRuns';

/** A candidate with its runs with the fixes. */
export interface ShownCandidate {
  readonly patch: string;
  readonly runs: readonly SurrogateRun[];
}

/** Candidates and fixes that a prompt shows. */
const mostShown = 3;
/** Characters of a candidate or a fix that a prompt shows. */
const mostLength = 6000;

/**
 * What the candidates do with the fixes, as texts in the order of their importance: the candidates,
 * then each fix that they disagree on, those with the most even votes first.
 *
 * @param candidates distinct ones, the best first
 * @param fixes code patches on R, none of which is known to be right
 */
export function disagreements(
  candidates: readonly ShownCandidate[],
  fixes: readonly string[],
): string[] {
  const shown = candidates.slice(0, mostShown);
  const votesFor = (fix: number): number =>
    candidates.filter(({ runs }) => runs[fix]?.accepts === true).length;
  const disputed = fixes
    .map((_, fix) => ({ fix, margin: Math.abs(2 * votesFor(fix) - candidates.length) }))
    .filter(({ margin }) => margin < candidates.length)
    .sort((one, other) => one.margin - other.margin || one.fix - other.fix)
    .slice(0, mostShown);
  const others = fixes.map((_, fix) => ({ fix })).slice(0, mostShown);
  return [
    ...shown.map(({ patch }, at) =>
      block('tests', `candidate="${at + 1}"`, patch.slice(0, mostLength)),
    ),
    ...(disputed.length > 0 ? disputed : others).map(({ fix }, at) =>
      [
        block('fix', `number="${at + 1}"`, (fixes[fix] ?? '').slice(0, mostLength)),
        ...shown.map(({ runs }, candidate) => runText(runs[fix], candidate + 1, at + 1)),
      ].join('\n'),
    ),
  ];
}

const block = (name: string, attribute: string, text: string): string =>
  `<${name} ${attribute}>\n${text.trimEnd()}\n</${name}>\n`;

function runText(run: SurrogateRun | undefined, candidate: number, fix: number): string {
  const which = `With fix ${fix}, the tests of candidate ${candidate}`;
  if (run === undefined) return `${which} did not run.`;
  if (run.accepts) return `${which} pass.`;
  const texts = run.failures.map(({ test, text }) =>
    block('failure', `test=${JSON.stringify(test)}`, text),
  );
  return [
    `${which} do not pass${run.problem === undefined ? '.' : `: ${run.problem}`}`,
    ...texts,
  ].join('\n');
}

/**
 * Asks for better tests, after candidates ran with surrogate fixes.
 *
 * @param parts.shown texts of {@link disagreements}, as many as there is room for
 */
export function refinementPrompt(parts: {
  readonly repo: string;
  readonly issue: string;
  readonly shown: readonly string[];
}): Prompt {
  const { shown } = parts;
  const content = [
    ...issueInPrompt(parts, ['The goal is tests that reproduce the issue.']),
    'The following candidates fail on the current repository. They also ran with several ' +
      'proposed fixes. It is not known which candidates and which fixes are correct.',
    '',
    ...shown,
    'Your task:',
    '- Where candidates disagree about a fix, or fail with all fixes, decide from the issue what is correct.',
    '- Write tests that fail on the current repository for the reason in the issue, and that pass ' +
      'with every fix that does what the issue asks for.',
    '- Assert what the issue says, and nothing that depends on how it is resolved.',
    '- The repository contains neither the candidates nor the fixes. Change only tests.',
    '',
    ...formatInPrompt('custom', 'tests'),
  ].join('\n');
  return { system: testsSystem, messages: [{ role: 'user', content }] };
}
