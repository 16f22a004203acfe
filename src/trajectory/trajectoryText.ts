import { trajectoryFindingSentences, type TrajectoryFinding } from '../domain/finding';
import { asLabel, plural } from '../domain/text';
import { number, seconds } from '../study/numbers';
import { pageHtml } from '../study/pageHtml';
import { spendingFacts, stepFacts, stepLine } from './stepRows';
import { stepKinds, totalsOf, type TrajectoryStep } from './trajectory';
import {
  type FinalVerdict,
  type ShownTrajectory,
  type TrajectoryRow,
  trajectoryRow,
} from './trajectoryPages';

/** A trajectory for a terminal: its head, and a line for each step. */
export function trajectoryText(shown: ShownTrajectory): string {
  const { trajectory, findings } = shown;
  const found = new Set(findings.map(({ step }) => step));
  return [
    ...headLines(shown),
    '',
    ...trajectory.steps.map((step, index) => stepText(step, index + 1, found.has(index + 1))),
    '',
  ].join('\n');
}

const kindWidth = Math.max(...stepKinds.map((kind) => kind.length));

function stepText(step: TrajectoryStep, of: number, hasFinding: boolean): string {
  const facts = stepFacts(step);
  const mark = hasFinding ? '⚠' : ' ';
  const end = facts.length === 0 ? '' : `  (${facts.join(', ')})`;
  return `${mark}${String(of).padStart(5)}  ${step.kind.padEnd(kindWidth)}  ${shortened(stepLine(step))}${end}`;
}

const shortened = (line: string): string => (line.length > 100 ? `${line.slice(0, 99)}…` : line);

function headLines(shown: ShownTrajectory): string[] {
  const { trajectory, verdict, withoutVerdict, findings } = shown;
  const totals = totalsOf(trajectory);
  const { instance, agent, model, ending, submission } = trajectory;
  const facts = [
    plural(totals.steps, 'step'),
    plural(totals.turns, 'turn'),
    ...spendingFacts(totals),
    ...(totals.seconds > 0 ? [seconds(totals.seconds)] : []),
    ...(totals.restarts > 0 ? [`${plural(totals.restarts, 'new workspace')}`] : []),
  ];
  return [
    [instance, agent, model]
      .filter((each) => each !== undefined)
      .map(asLabel)
      .join(' · '),
    facts.join(' · '),
    ...(ending === undefined ? [] : [`ended: ${asLabel(ending)}`]),
    ...(submission === undefined ? ['no candidate'] : []),
    `verdict: ${withoutVerdict ?? verdictWords(verdict)}`,
    findings.length === 0 ? 'no finding' : `${plural(findings.length, 'finding')}:`,
    ...findings.map((finding) => `  ${findingText(finding)}`),
  ];
}

/** A finding on one line. */
function findingText({ kind, severity, step, text, why }: TrajectoryFinding): string {
  const place = step === 0 ? 'submission' : `step ${step}`;
  const reason = why === undefined ? '' : ` (${why})`;
  return `${severity}, ${place}: ${trajectoryFindingSentences[kind]} ${asLabel(text)}${reason}`;
}

/** The verdict in a few words. */
function verdictWords(verdict: FinalVerdict | undefined): string {
  if (verdict === undefined) return 'not graded';
  const { reason, failToPass, explanation } = verdict.entry;
  const said = explanation === '' ? '' : `: ${asLabel(explanation)}`;
  return `${reason}, ${number(failToPass)} F→P (run ${asLabel(verdict.run)})${said}`;
}

/** The whole text of a step for a terminal. Control characters become middle dots. */
export function wholeStepText(step: TrajectoryStep, of: number): string {
  const facts = stepFacts(step);
  const head = [
    `step ${of}`,
    step.kind,
    ...(step.label === undefined ? [] : [step.label]),
    ...facts,
  ];
  const text = step.text
    .replace(/\r\n?/g, '\n')
    // oxlint-disable-next-line no-control-regex -- this pattern replaces them
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '·');
  return `${head.map(asLabel).join(' · ')}\n\n${text}${text.endsWith('\n') ? '' : '\n'}`;
}

/** The index of several trajectories for a terminal, one line each. */
export function indexText(rows: readonly TrajectoryRow[]): string {
  const idWidth = rows.reduce((most, { instance }) => Math.max(most, asLabel(instance).length), 0);
  const lines = rows.map(({ instance, agent, model, totals, verdict, notes, warnings }) => {
    const facts = [
      [agent, model]
        .filter((each) => each !== undefined)
        .map(asLabel)
        .join(', '),
      plural(totals.turns, 'turn'),
      ...spendingFacts(totals),
      verdict === undefined ? 'not graded' : verdict.entry.reason,
      ...(warnings > 0 ? [`⚠ ${plural(warnings, 'warning')}`] : []),
      ...(notes > 0 ? [plural(notes, 'note')] : []),
    ];
    return `${asLabel(instance).padEnd(idWidth)}  ${facts.filter((each) => each !== '').join(' · ')}`;
  });
  return `${lines.join('\n')}\n`;
}

/**
 * Trajectories as one HTML file. Its first element of data is the index, and each further one a
 * trajectory, which the page reads only when it is opened.
 *
 * @param assets folder with `trajectory.js` and `trajectory.css`, which the build makes
 * @throws HumanError when they are missing
 */
export async function trajectoryHtml(
  shown: readonly ShownTrajectory[],
  assets: string,
): Promise<string> {
  const [only] = shown;
  return pageHtml(
    {
      name: 'trajectory',
      title:
        shown.length === 1 && only !== undefined
          ? `trajectory of ${only.trajectory.instance}`
          : `${shown.length} trajectories`,
      waiting: 'Reading the trajectory…',
      data: [shown.map(trajectoryRow), ...shown],
    },
    assets,
  );
}
