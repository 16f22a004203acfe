/** The kinds of steps, in the order in which filters list them. */
export const stepKinds = [
  'asked',
  'thought',
  'action',
  'observation',
  'answer',
  'patch',
  'run',
  'verdict',
  'stage',
  'choice',
] as const;
export type StepKind = (typeof stepKinds)[number];

/** What a step of each kind holds, for people. */
export const kindSentences: Readonly<Record<StepKind, string>> = {
  asked: 'What was sent to the model.',
  thought: 'What the model wrote before its action.',
  action: 'What the agent did.',
  observation: 'What the agent saw.',
  answer: 'A model answer without an action.',
  patch: 'A model answer as a patch on R.',
  run: 'A run of the candidate’s tests on R.',
  verdict: 'An oracle’s verdict, which no model sees.',
  stage: 'The output of a stage.',
  choice: 'The method’s choice.',
};

/** The programs whose trajectories are read; `atif` is any other that writes that format. */
export const trajectoryFormats = [
  'swt-bench',
  'swe-agent',
  'mini-swe-agent',
  'openhands',
  'aider',
  'inspect',
  'atif',
] as const;
type TrajectoryFormat = (typeof trajectoryFormats)[number];

/** What requests cost, where it is known. Tokens as the provider counted them. */
export interface Spending {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** US dollars. */
  readonly dollars?: number;
}

/** One step. All texts are untrusted: models, issues and tested code wrote them. */
export interface TrajectoryStep extends Spending {
  readonly kind: StepKind;
  /** Number of the answer that the step belongs to, from 1; 0 before the first answer. */
  readonly turn: number;
  readonly text: string;
  /** What the text is, such as `system`, the name of a tool, or `sample 2`. */
  readonly label?: string;
  /** When it was done, ISO 8601. */
  readonly at?: string;
  /** Seconds that the step took. */
  readonly seconds?: number;
  /** Folder of the shell after the step. */
  readonly folder?: string;
  /** Unified diff from R after the step; absent where it did not change or is not known. */
  readonly diff?: string;
  /** Whether the step ran in a new workspace, after a kill or a loss of the old one. */
  readonly isRestarted?: boolean;
  /** Who did it, in a trace, which may have steps of several methods and models. */
  readonly by?: StepMaker;
  /** The call of a tool that an action is, where its program says so; `text` shows it. */
  readonly call?: ToolCall;
}

/** A call of a tool. The arguments are untrusted. */
interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The model of a step, and the agent if it is one's: methods without an agent share their answers. */
interface StepMaker {
  readonly model: string;
  readonly agent?: string;
}

/** A candidate that a method chose, as the predictions have it. */
export interface ChosenCandidate {
  readonly method: string;
  readonly model: string;
  readonly patch: string;
}

/** All steps of a method or an agent on one instance. A step's number is its index plus 1. */
export interface Trajectory {
  /** The instance's id, or the name of the file where it has none. */
  readonly instance: string;
  readonly format: TrajectoryFormat;
  /** Name of the agent or method. */
  readonly agent?: string;
  readonly model?: string;
  readonly steps: readonly TrajectoryStep[];
  /** The candidate that came of it; absent where there is none. Usually a unified diff. */
  readonly submission?: string;
  /** All choices of a trace, which may have several methods and models; the last is `submission`. */
  readonly choices?: readonly ChosenCandidate[];
  /** How it ended, in the words of the program. */
  readonly ending?: string;
  /** What the whole cost, as the program counts: requests whose answer is no step are in it. */
  readonly stated?: Spending & { readonly turns?: number };
}

/** Figures over all steps. */
export interface TrajectoryTotals extends Spending {
  readonly steps: number;
  /** Answers of the model. */
  readonly turns: number;
  /** Seconds of all steps together. */
  readonly seconds: number;
  /** How often the workspace was made anew. */
  readonly restarts: number;
}

const spendingFields = ['inputTokens', 'outputTokens', 'dollars'] as const;

/** A value of each field of what was spent; a field without one is absent. */
const eachSpending = (valueOf: (field: keyof Spending) => number | undefined): Spending =>
  Object.fromEntries(
    spendingFields.flatMap((field) => {
      const value = valueOf(field);
      return value === undefined ? [] : [[field, value]];
    }),
  );

/** Adds up what steps cost; what no step says is absent. */
export const spendingOf = (steps: readonly TrajectoryStep[]): Spending =>
  eachSpending((field) => {
    const known = steps.flatMap((step) => step[field] ?? []);
    return known.length === 0 ? undefined : known.reduce((before, value) => before + value, 0);
  });

/** Adds up the steps. What the file states of the whole counts where that is more. */
export function totalsOf({ steps, stated = {} }: Trajectory): TrajectoryTotals {
  const spent = spendingOf(steps);
  return {
    steps: steps.length,
    turns: steps.reduce((most, { turn }) => Math.max(most, turn), stated.turns ?? 0),
    seconds: steps.reduce((sum, { seconds = 0 }) => sum + seconds, 0),
    restarts: steps.filter(({ isRestarted }) => isRestarted === true).length,
    ...eachSpending((field) => {
      const known = [spent[field], stated[field]].filter((value) => value !== undefined);
      return known.length === 0 ? undefined : Math.max(...known);
    }),
  };
}

/**
 * The difference to R after a step: that of the last step up to it with a known one.
 *
 * @param at index of the step
 * @returns undefined where no step up to it says it
 */
export function diffSoFar(steps: readonly TrajectoryStep[], at: number): string | undefined {
  for (let index = Math.min(at, steps.length - 1); index >= 0; index--) {
    const diff = steps[index]?.diff;
    if (diff !== undefined) return diff;
  }
  return undefined;
}
