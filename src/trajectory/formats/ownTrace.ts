import { markedAsOracle } from '../../domain/answerSeen';
import { isFailure } from '../../domain/outcome';
import { plural } from '../../domain/text';
import type { StepOf } from '../../method/trace';
import type { Step } from '../../method/generating';
import {
  spendingOf,
  type ChosenCandidate,
  type Spending,
  type Trajectory,
  type TrajectoryStep,
} from '../trajectory';

/**
 * Makes the trajectories of a trace of `generate`, line by line, since requests of agents repeat
 * their whole history. A trace has the steps of several instances, mixed.
 */
export class OwnTrace {
  private readonly parts = new Map<string, OwnTrajectory>();

  /** @param isAsked whether to take an instance */
  constructor(private readonly isAsked: (instance: string) => boolean) {}

  add(step: Step): void {
    if (!this.isAsked(step.instance)) return;
    const known = this.parts.get(step.instance);
    const part = known ?? new OwnTrajectory(step.instance);
    if (known === undefined) this.parts.set(step.instance, part);
    part.add(step);
  }

  /** One for each instance, in the order of their first steps. */
  trajectories(): Trajectory[] {
    return [...this.parts.values()].map((part) => part.trajectory());
  }
}

class OwnTrajectory {
  private steps: TrajectoryStep[] = [];
  /** Of the session of an agent: what was asked without tools, by the key of the prompt. */
  private readonly toolless = new Map<string, readonly TrajectoryStep[]>();
  private offersTools = false;
  /** Short answers to that, with what was asked. */
  private asides: TrajectoryStep[] = [];
  /** Indices of answers that no act has followed yet, by key. */
  private readonly answers = new Map<string, number>();
  private turn = 0;
  private observation: string | undefined;
  /** The difference to R after the last step; a run begins at R. */
  private diff = '';
  private agent: string | undefined;
  private model: string | undefined;
  private submission: string | undefined;
  private ending: string | undefined;
  private readonly choices: ChosenCandidate[] = [];

  constructor(private readonly instance: string) {}

  trajectory(): Trajectory {
    const { instance, steps, agent, model, submission, ending, choices } = this;
    return {
      instance,
      format: 'swt-bench',
      steps,
      ...(agent !== undefined && { agent }),
      ...(model !== undefined && { model }),
      ...(submission !== undefined && submission !== '' && { submission }),
      ...(ending !== undefined && { ending }),
      ...(choices.length > 0 && { choices }),
    };
  }

  add(step: Step): void {
    switch (step.step) {
      case 'tree':
      case 'workspace':
      case 'begin':
        return;
      case 'prompt':
        return this.addPrompt(step);
      case 'answer':
        return this.addAnswer(step);
      case 'act':
        return this.addAct(step);
      case 'patch':
        return this.push(step, patchStep(step));
      case 'run':
        return this.push(step, runStep(step));
      case 'verdict':
        return this.push(step, verdictStep(step));
      case 'fix':
        return this.push(step, fixStep(step));
      case 'embedding': {
        const { model, texts, inputTokens, dollars, seconds } = step;
        return this.push(step, {
          ...{ kind: 'stage', label: 'embeddings', seconds, inputTokens },
          text: `vectors of ${plural(texts, 'text')} by ${model}`,
          ...(dollars !== undefined && { dollars }),
        });
      }
      case 'stage': {
        const { stage, output, isGiven } = step;
        const label = isGiven === true ? `${stage} (given)` : stage;
        return this.push(step, { kind: 'stage', label, text: outputText(output) });
      }
      case 'session': {
        const { ending, why, program, output, seconds, patch } = step;
        this.agent = step.agent;
        this.model = step.model;
        this.submission = patch;
        this.ending = ending;
        const label = program === undefined ? step.agent : `${step.agent} (${program})`;
        const text = [`${ending}${why === '' ? '' : `: ${why}`}`, output].join('\n').trim();
        const spent = this.withoutAsides();
        return this.push(step, { kind: 'stage', label, text, seconds, diff: patch, ...spent });
      }
      case 'choice': {
        const { sample, why, patch, method, model, oracle } = step;
        this.choices.push({ method, model, patch });
        this.agent = oracle === true ? markedAsOracle(method) : method;
        this.submission = patch;
        this.ending = why;
        const label = sample === undefined ? 'nothing chosen' : `sample ${sample}`;
        return this.push(step, { kind: 'choice', label, text: why, diff: patch });
      }
    }
  }

  private push({ at }: Step, step: Omit<TrajectoryStep, 'turn' | 'at'>): void {
    const { diff, ...rest } = step;
    const isNew = diff !== undefined && diff !== this.diff;
    this.steps.push({ ...rest, turn: this.turn, at, ...(isNew && { diff }) });
    if (isNew) this.diff = diff;
  }

  private addPrompt(step: StepOf<'prompt'>): void {
    const { length } = this.steps;
    this.showPrompt(step);
    if (step.offeredTools === 0) this.toolless.set(step.key, this.steps.slice(length));
    this.offersTools ||= (step.offeredTools ?? 0) > 0;
  }

  private showPrompt(step: StepOf<'prompt'>): void {
    const { system, messages, purpose, files } = step;
    const last = messages.at(-1);
    if (purpose === 'act' && this.observation !== undefined) {
      // A later request repeats what is shown already, unless it is about a format error.
      if (last?.role !== 'user' || last.content === this.observation) return;
      return this.push(step, { kind: 'asked', label: 'again', text: last.content });
    }
    const goesOn = purpose === 'act' || purpose === 'tests';
    if (goesOn && messages.length > 1 && last !== undefined) {
      return this.push(step, { kind: 'asked', label: 'again', text: last.content });
    }
    const of = purpose === 'judge' || purpose === 'fix' ? `${purpose}: ` : '';
    if (system !== '') this.push(step, { kind: 'asked', label: `${of}system`, text: system });
    for (const { role, content } of messages) {
      const about = files.length > 0 ? `, ${plural(files.length, 'file')} of R` : '';
      this.push(step, { kind: 'asked', label: `${of}${role}${about}`, text: content });
    }
  }

  private addAnswer(step: StepOf<'answer'>): void {
    const { purpose, text, inputTokens, outputTokens, dollars, seconds } = step;
    this.turn += 1;
    this.model = step.model;
    this.agent ??= step.method;
    if (purpose === 'act') this.answers.set(step.key, this.steps.length);
    this.push(step, {
      kind: 'answer',
      label: answerLabel(step),
      text,
      seconds,
      inputTokens,
      outputTokens,
      ...(dollars !== undefined && { dollars }),
      by: { model: step.model, ...(purpose === 'act' && { agent: step.method }) },
    });
    const asked = this.toolless.get(step.prompt);
    if (asked === undefined || text.length > asideLimit) return;
    this.asides.push(...asked, ...this.steps.slice(-1));
  }

  /**
   * Takes out what an agent asked beside its work, such as a title for its session.
   *
   * @returns what that cost
   */
  private withoutAsides(): Spending {
    const asides = new Set(this.offersTools ? this.asides : []);
    const answers = [...asides].filter(({ kind }) => kind === 'answer');
    this.steps = this.steps
      .filter((step) => !asides.has(step))
      .map((step) => ({
        ...step,
        turn: step.turn - answers.filter(({ turn }) => turn <= step.turn).length,
      }));
    this.turn -= answers.length;
    this.asides = [];
    this.toolless.clear();
    this.offersTools = false;
    this.answers.clear();
    return spendingOf(answers);
  }

  /** An act takes its answer apart into thought and action, so the answer becomes the thought. */
  private addAct(step: StepOf<'act'>): void {
    const { thought, action, observation, seconds, state, patch, isRestarted } = step;
    const by = { model: step.model, agent: step.agent };
    const at = this.answers.get(step.answer);
    const answer = at === undefined ? undefined : this.steps[at];
    if (at !== undefined && answer !== undefined) {
      const { label: _, ...rest } = answer;
      this.steps[at] = { ...rest, kind: 'thought', text: thought };
      this.answers.delete(step.answer);
    } else if (thought !== '') {
      this.push(step, { kind: 'thought', text: thought, by });
    }
    this.agent = step.agent;
    this.model = step.model;
    const again = isRestarted === true && { isRestarted };
    const call = callIn(step);
    this.push(step, { kind: 'action', text: action, by, ...again, ...(call && { call }) });
    this.push(step, {
      kind: 'observation',
      ...(step.call?.isError === true && { label: 'failed' }),
      text: observation,
      seconds,
      ...(state !== undefined && 'cwd' in state && { folder: state.cwd }),
      diff: patch,
      by,
    });
    this.observation = observation;
    if (step.isSubmission) {
      this.submission = patch;
      this.ending = 'submitted';
    }
  }
}

/** The call of a tool that an act is; what is no object is its only argument. */
function callIn({ call }: StepOf<'act'>): TrajectoryStep['call'] {
  if (call === undefined) return undefined;
  const { name, input } = call;
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  if (isObject) return { name, arguments: { ...input } };
  return { name, arguments: input === undefined ? {} : { input } };
}

/** Characters of an answer that is no part of an agent's work: a title, or yes or no. */
const asideLimit = 500;

/** A short output on one line, which a folded step then shows whole. */
function outputText(output: unknown): string {
  const line = JSON.stringify(output);
  return line.length <= 160 ? line : JSON.stringify(output, null, 2);
}

function answerLabel({ purpose, method, sample }: StepOf<'answer'>): string {
  if (purpose === 'act') return 'no action';
  if (purpose === 'stage') return `${method}, sample ${sample}`;
  return purpose === 'judge' ? 'judge' : `${purpose === 'fix' ? 'fix' : 'sample'} ${sample}`;
}

function patchStep({ applies, problem, patch, diagnostics }: StepOf<'patch'>) {
  const lines = diagnostics.map(
    ({ line, severity, message }) => `${severity}, line ${line}: ${message}`,
  );
  return {
    kind: 'patch',
    label: applies ? 'applies to R' : 'does not apply to R',
    text: [...(problem === undefined ? [] : [problem]), ...lines, patch]
      .filter((each) => each !== '')
      .join('\n'),
    ...(applies && { diff: patch }),
  } as const;
}

function runStep({ tests, problem, failingBefore, seconds }: StepOf<'run'>) {
  const before = new Set(failingBefore);
  const failing = tests.filter(isFailure);
  const lines = tests.map(({ test, outcome, exception, message }) => {
    const why = [exception, message].filter((each) => each !== undefined).join(': ');
    const known = before.has(test) ? ' (fails on R without the candidate too)' : '';
    return `${outcome}  ${test}${known}${why === '' ? '' : `\n    ${why}`}`;
  });
  return {
    kind: 'run',
    label: `${failing.length} of ${plural(tests.length, 'test')} ${failing.length === 1 ? 'fails' : 'fail'} on R`,
    text: [...(problem === undefined ? [] : [problem]), ...lines].join('\n'),
    seconds,
  } as const;
}

function verdictStep({ applies, success, reason, failToPass, delta }: StepOf<'verdict'>) {
  return {
    kind: 'verdict',
    label: success ? 'a success' : 'not a success',
    text: [
      reason,
      `applies to R: ${applies ? 'yes' : 'no'}`,
      `F→P: ${failToPass}`,
      `ΔC: ${delta === null ? 'unknown' : delta.toFixed(3)}`,
    ].join('\n'),
  } as const;
}

/** The oracle's verdict on a fix, in a setting of Table 5 with a wrong patch. */
function fixStep({ patch, problem, resolved }: StepOf<'fix'>) {
  const known = resolved === true ? 'resolves the issue' : 'does not resolve the issue';
  const judged = resolved === undefined ? 'could not be graded' : known;
  return {
    kind: 'verdict',
    label: problem === undefined ? judged : 'no code patch on R',
    text: problem ?? patch,
  } as const;
}
