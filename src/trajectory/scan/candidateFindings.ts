import { findingSeverities, type TrajectoryFinding } from '../../domain/finding';
import type { Prediction } from '../../domain/instance';
import { asLabel } from '../../domain/text';
import { type Redact } from '../../engine/keysInUse';
import type { ChosenCandidate, Trajectory, TrajectoryStep } from '../trajectory';
import { scanTrajectory } from '../scanTrajectory';

/** Findings of one candidate in a report; of a longer list the gravest are kept. */
const mostFindings = 100;

/**
 * What the scan finds in the trajectory of a candidate, for its report: each quote on one line and
 * without keys. Numbers of steps are those of the whole trajectory. Of a trace with several methods
 * and models, only the steps of those that made the candidate count.
 *
 * @param isOnly whether no other candidate can be meant, if neither name nor patch says whose the
 *   trajectory is
 * @returns in the order of the steps; undefined where the trajectory is that of another candidate
 */
export function candidateFindings(
  trajectory: Trajectory,
  candidate: Pick<Prediction, 'model' | 'patch'>,
  { isOnly, redact }: { readonly isOnly: boolean; readonly redact: Redact },
): TrajectoryFinding[] | undefined {
  const { submission, choices = [] } = trajectory;
  const maker = makerOf(choices, candidate, isOnly);
  const isTheirs =
    choices.length > 0
      ? maker !== undefined
      : isOnly || (submission !== undefined && isSame(submission, candidate.patch));
  if (!isTheirs) return undefined;
  // Keys go before the scan, which may quote a part of one.
  const steps = trajectory.steps.map((step) =>
    isStepOf(step, maker) ? { ...step, text: redact(step.text) } : withoutText(step),
  );
  const found = scanTrajectory({ ...trajectory, steps, submission: redact(candidate.patch) });
  const shown = found.map((each) => ({ ...each, text: asLabel(each.text) }));
  return findingSeverities
    .flatMap((severity) => shown.filter((each) => each.severity === severity))
    .slice(0, mostFindings)
    .sort((a, b) => a.step - b.step);
}

const isSame = (one: string, other: string): boolean => one.trim() === other.trim();

/** The last choice that is the candidate: by its usual name, by its patch, or as the only one. */
const makerOf = (
  choices: readonly ChosenCandidate[],
  { model, patch }: Pick<Prediction, 'model' | 'patch'>,
  isOnly: boolean,
): ChosenCandidate | undefined =>
  choices.findLast((each) => `${each.method}/${each.model}` === model) ??
  choices.findLast((each) => isSame(each.patch, patch)) ??
  (isOnly && choices.length === 1 ? choices[0] : undefined);

function isStepOf({ by }: TrajectoryStep, maker: ChosenCandidate | undefined): boolean {
  if (by === undefined || maker === undefined) return true;
  return by.model === maker.model && (by.agent === undefined || by.agent === maker.method);
}

/** A step of somebody else, which only keeps its place. */
const withoutText = ({ turn }: TrajectoryStep): TrajectoryStep => ({
  ...{ kind: 'asked', turn, text: '' },
});
