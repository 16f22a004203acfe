import { nameOf } from '../../domain/testId';
import * as l10n from '@vscode/l10n';
import { findingSentences } from '../../domain/finding';
import { isFailure, type TestResult, type Transition } from '../../domain/outcome';
import { entryReasons } from '../../domain/verdict';
import { nothingKnown, type RunEntry } from '../../study/entry';
import { shownTitle, type MethodCandidate } from '../../method/method';
import type { StepOf } from '../../method/trace';
import { bounded } from '../../method/tools';
import { coverageCell } from '../../results/resultTable';
import { generatedCommandIds } from '../shell/names';
import { spokenOf, type TreeRow } from '../shell/treeRow';
import { transitionLook } from '../testing/transitionLook';
import {
  failureText,
  outcomeInWords,
  successInWords,
  transitionInWords,
} from '../testing/transitionTexts';
import type { Grade, Knowledge } from './candidateGrades';
import type { Generation } from './generations';
import { methodOfRecord, outcomeOnR } from './records';
import { inClass, listRow, runRow, type RunNode } from './runRow';

/** What a row about candidates is about. */
export type CandidateNode =
  | RunNode
  | {
      readonly kind: 'candidate';
      readonly generation: Generation;
      readonly candidate: MethodCandidate;
    }
  | { readonly kind: 'writing'; readonly sample: number; readonly characters: number }
  /** The steps of an agent, and one of them. */
  | { readonly kind: 'steps'; readonly generation: Generation }
  | { readonly kind: 'act'; readonly generation: Generation; readonly act: StepOf<'act'> }
  | { readonly kind: 'test'; readonly result: TestResult }
  | {
      readonly kind: 'knowledge';
      readonly generation: Generation;
      readonly candidate: MethodCandidate;
    }
  | { readonly kind: 'known'; readonly row: KnownRow };

interface KnownRow {
  readonly label: string;
  readonly description: string;
  readonly icon: string;
  readonly tooltip?: string;
}

/** What the Generated view shows of candidates. */
export interface ShownCandidates {
  /** The latest run first. */
  readonly generations: readonly Generation[];
  /** What only the developer may know, where it is shown. */
  readonly knowledge: Pick<Knowledge, 'gradeOf' | 'isShown'>;
}

/** The rows below a row. */
export function candidateNodes(
  { knowledge }: ShownCandidates,
  node: CandidateNode,
): CandidateNode[] {
  switch (node.kind) {
    case 'generation':
      return candidatesOf(node.generation);
    case 'candidate': {
      const { candidate } = node;
      const tests = (candidate.run?.tests ?? []).map((result): CandidateNode => ({
        kind: 'test',
        result,
      }));
      return candidate.patch.applies ? [...tests, { ...node, kind: 'knowledge' }] : tests;
    }
    case 'knowledge':
      return knownRows(knowledge, node.candidate).map((row) => ({ kind: 'known', row }));
    case 'steps':
      return node.generation.acts.map((act) => ({ ...node, kind: 'act', act }));
    case 'writing':
    case 'act':
    case 'test':
    case 'known':
      return [];
  }
}

function candidatesOf(generation: Generation): CandidateNode[] {
  const samples = new Set([...generation.candidates.keys(), ...generation.writing.keys()]);
  const steps: CandidateNode[] = generation.acts.length > 0 ? [{ kind: 'steps', generation }] : [];
  const candidates = [...samples]
    .sort((a, b) => a - b)
    .map((sample): CandidateNode => {
      const candidate = generation.candidates.get(sample);
      return candidate === undefined
        ? { kind: 'writing', sample, characters: generation.writing.get(sample) ?? 0 }
        : { kind: 'candidate', generation, candidate };
    });
  return [...candidates, ...steps];
}

/** A row of the view. All texts are plain, since they come from models and tested code. */
export function candidateTreeRow(shown: ShownCandidates, node: CandidateNode): TreeRow {
  const row = silentRow(shown, node);
  const { label, description = '' } = row;
  // A row without a tooltip has its words, too, since a screen reader cannot read the icon.
  return { ...row, spoken: spokenOf(row) ?? `${label}. ${description}` };
}

/** A row without the text for a screen reader. */
function silentRow({ generations, knowledge }: ShownCandidates, node: CandidateNode): TreeRow {
  switch (node.kind) {
    case 'generation':
      return generationRow(node, node.generation === generations[0]);
    case 'candidate':
      return candidateRow(knowledge, node);
    case 'writing':
      return {
        label: l10n.t('Candidate {0}', node.sample),
        description: l10n.t('being written, {0} characters', node.characters),
        icon: { id: 'sync~spin' },
      };
    case 'steps':
      return listRow(node.generation, 'steps', {
        label: l10n.t('Steps'),
        description: stepCount(node.generation.acts.length),
      });
    case 'act':
      return actRow(node.generation, node.act);
    case 'test':
      return testRow(node.result);
    case 'knowledge':
      return knowledgeRow(knowledge, node.generation, node.candidate);
    case 'known':
      return { ...node.row, icon: { id: node.row.icon } };
  }
}

function generationRow(node: RunNode, isLast: boolean): TreeRow {
  const { record, state, candidates, acts, chosen, failure } = node.generation;
  const method = methodOfRecord(record);
  const done =
    acts.length > 0
      ? stepCount(acts.length)
      : l10n.t('{0} of {1} answered', candidates.size, record.samples);
  const told =
    state === 'running'
      ? done
      : state === 'partial'
        ? l10n.t('interrupted, {0}', done)
        : candidates.size === 1
          ? l10n.t('1 candidate')
          : l10n.t('{0} candidates', candidates.size);
  // Runs of one agent within different limits are beside each other.
  const limits = record.limits === 'modern' ? [l10n.t('modern limits')] : [];
  return runRow(node, {
    label: shownTitle(method),
    isLast,
    words: [...limits, told],
    more: [method.description, failure ?? (candidates.size === 0 ? chosen?.why : undefined)],
  });
}

const stepCount = (count: number): string =>
  count === 1 ? l10n.t('1 step') : l10n.t('{0} steps', count);

/** Maximum number of characters of a text of a step in its tooltip. */
const shownOfStep = 1500;

function actRow({ id }: Generation, act: StepOf<'act'>): TreeRow {
  const { key, action, observation, thought, call } = act;
  const line = (text: string): string => text.trim().replace(/\s+/g, ' ').slice(0, 120);
  const [seen = ''] = observation.trim().split('\n');
  return {
    label: line(action),
    // Two runs may have the same step.
    id: `${id}-${key}`,
    description: call?.isError === true ? l10n.t('failed: {0}', line(seen)) : line(seen),
    tooltip: [thought, action, observation]
      .filter((each) => each.trim() !== '')
      .map((each) => bounded(each.trim(), shownOfStep))
      .join('\n\n'),
    icon: { id: call?.isError === true ? 'warning' : 'circle-small' },
  };
}

function candidateRow(
  knowledge: ShownCandidates['knowledge'],
  { generation, candidate }: Extract<CandidateNode, { kind: 'candidate' }>,
): TreeRow {
  const { sample, patch } = candidate;
  const { icon, text, detail } = inWords(candidate);
  const isChosen = generation.chosen !== undefined && generation.chosen.sample === sample;
  const why = isChosen ? [l10n.t('Chosen: {0}', whyChosen(knowledge, generation, candidate))] : [];
  return {
    label: l10n.t('Candidate {0}', sample),
    // Choosing a candidate changes the id, since VS Code remembers by id whether a row is open.
    id: `${generation.id}-${sample}${isChosen ? '-chosen' : ''}`,
    description: isChosen ? l10n.t('selected · {0}', text) : text,
    icon: { id: isChosen ? 'star-full' : icon },
    tooltip: [text, ...why, ...moreOf(candidate, detail)].join('\n'),
    ...(patch.applies ? { children: isChosen ? 'unfolded' : 'folded' } : {}),
    contextValue: patch.applies ? 'candidate.applies' : 'candidate',
    command: {
      command: patch.applies ? generatedCommandIds.preview : generatedCommandIds.showAnswer,
      title: l10n.t('Preview Candidate'),
      arguments: [{ kind: 'candidate', generation, candidate } satisfies CandidateNode],
    },
  };
}

/** Further rows of a candidate: the judge, the failure, the faults of its patch, and tokens. */
function moreOf({ matches, patch, answer }: MethodCandidate, detail: string): string[] {
  return [
    ...(matches === undefined
      ? []
      : [
          matches
            ? l10n.t('According to the model, it fails as the issue describes')
            : l10n.t('According to the model, it does not fail as the issue describes'),
        ]),
    ...(detail === '' ? [] : [detail]),
    ...patch.diagnostics.map(({ line, message }) =>
      l10n.t('line {0} of the answer: {1}', line, message),
    ),
    ...(answer === undefined ? [] : [tokensOf(answer)]),
  ];
}

function tokensOf({
  isEstimate,
  inputTokens,
  outputTokens,
}: NonNullable<MethodCandidate['answer']>): string {
  return isEstimate === true
    ? l10n.t('about {0} tokens in, {1} out', inputTokens, outputTokens)
    : l10n.t('{0} tokens in, {1} out', inputTokens, outputTokens);
}

/** The statement of an oracle is for the developer only. */
function whyChosen(
  knowledge: ShownCandidates['knowledge'],
  { record, chosen }: Generation,
  { patch }: MethodCandidate,
): string {
  const isSecret = methodOfRecord(record).runs === 'oracle' && !knowledge.isShown(patch.patch);
  return isSecret ? l10n.t('selected by the oracle') : (chosen?.why ?? '');
}

function testRow(result: TestResult): TreeRow {
  const line = isFailure(result) ? failureText(result) : undefined;
  const said = outcomeInWords('base', result);
  return {
    label: nameOf(result.test),
    description: inClass(result.test, line === undefined ? said : `${said}: ${line}`),
    tooltip: [result.test, said, result.message ?? result.exception ?? '']
      .filter((each) => each !== '')
      .join('\n'),
    icon: { id: isFailure(result) ? 'error' : 'circle-outline' },
  };
}

function knowledgeRow(
  knowledge: ShownCandidates['knowledge'],
  generation: Generation,
  candidate: MethodCandidate,
): TreeRow {
  const { patch } = candidate.patch;
  const isShown = knowledge.isShown(patch);
  const isGraded = knowledge.gradeOf(patch) !== undefined;
  const hasRows = knownRows(knowledge, candidate).length > 0;
  return {
    label: l10n.t('With the fix'),
    // Showing it changes the id for the same reason.
    id: `${generation.id}-${candidate.sample}-knowledge-${hasRows ? 'shown' : 'hidden'}`,
    description: isShown
      ? isGraded
        ? l10n.t('hidden from models')
        : l10n.t('transition and ΔC: not run on both sides')
      : l10n.t('transition and ΔC: not shown'),
    tooltip: l10n.t('Result of this candidate with the fix. Models never see it.'),
    icon: { id: isShown ? 'eye' : 'eye-closed' },
    ...(hasRows ? { children: 'unfolded' } : {}),
    ...(isShown && isGraded
      ? {}
      : {
          contextValue: 'knowledge',
          command: {
            command: generatedCommandIds.evaluate,
            title: l10n.t('Evaluate Candidate'),
            arguments: [{ kind: 'candidate', generation, candidate } satisfies CandidateNode],
          },
        }),
  };
}

/** What only the developer may know of a candidate; empty until it is shown. */
function knownRows(
  knowledge: ShownCandidates['knowledge'],
  { patch, verdict }: MethodCandidate,
): KnownRow[] {
  if (!knowledge.isShown(patch.patch)) return [];
  const grade = knowledge.gradeOf(patch.patch);
  const ofOracle =
    verdict === undefined
      ? []
      : [
          {
            label: l10n.t('Oracle of Pass@5'),
            description: verdict.success ? l10n.t('reproduces the issue') : verdict.reason,
            icon: 'law',
          },
        ];
  return grade === undefined ? ofOracle : [...gradeRows(grade), ...ofOracle];
}

function gradeRows({ success, reason, transitions, coverage, findings }: Grade): KnownRow[] {
  return [
    {
      label: l10n.t('Verdict'),
      description: success ? successInWords() : reason,
      icon: success ? 'pass' : 'error',
    },
    ...findings.map(({ kind, evidence }) => ({
      label: l10n.t('⚠ Finding'),
      description: [findingSentences[kind], ...evidence].join(' '),
      icon: 'warning',
    })),
    {
      label: 'ΔC',
      description:
        coverage === null || coverage.executable === 0
          ? l10n.t('unknown')
          : coverageCell({ ...coverage, delta: coverage.covered / coverage.executable }).trim(),
      icon: 'checklist',
    },
    ...transitions.map(({ test, transition }) => ({
      label: transition,
      description: test,
      icon: transitionLook[transition].icon,
      // A screen reader says it too, for which `F→P` is "F right arrow P".
      tooltip: transitionInWords(transition),
    })),
  ];
}

/** The outcome of a candidate on R: an icon, a line, and a tooltip where there is more to say. */
function inWords(candidate: MethodCandidate): {
  readonly icon: string;
  readonly text: string;
  readonly detail: string;
} {
  const outcome = outcomeOnR(candidate);
  switch (outcome.kind) {
    case 'empty':
      return { icon: 'circle-slash', text: l10n.t('the answer is empty'), detail: '' };
    case 'does not apply':
      return {
        icon: 'circle-slash',
        text: l10n.t('not well-formed: {0}', outcome.why),
        detail: '',
      };
    case 'not run':
      return { icon: 'question', text: l10n.t('W · not run on R'), detail: '' };
    case 'could not run':
      return {
        icon: 'warning',
        text: l10n.t('W · could not run on R: {0}', outcome.why),
        detail: '',
      };
    case 'fails': {
      const line = failureText(outcome.first) ?? outcome.first.outcome;
      return {
        icon: 'target',
        text:
          outcome.tests === 1
            ? l10n.t('W · fails on R: {0}', line)
            : l10n.t('W · {0} of {1} fail on R: {2}', outcome.failing, outcome.tests, line),
        detail: outcome.first.message ?? '',
      };
    }
    case 'failed before':
      return {
        icon: 'circle-outline',
        text: l10n.t('W · fails on R, as it did before'),
        detail: '',
      };
    case 'passes':
      return {
        icon: 'circle-outline',
        text:
          outcome.tests === 0
            ? l10n.t('W · contains no test')
            : l10n.t('W · passes on R: does not reproduce'),
        detail: '',
      };
  }
}

/** A grade of a candidate as the entry of a run, for views that show entries. */
export function entryOfGrade(
  { success, reason, transitions, coverage, findings }: Grade,
  of: Pick<RunEntry, 'instance' | 'model' | 'sample'>,
): RunEntry {
  const count = (wanted: Transition): number =>
    transitions.filter(({ transition }) => transition === wanted).length;
  return {
    ...of,
    ...nothingKnown,
    reason: entryReasons.find((each) => each === reason) ?? 'internal error',
    explanation: '',
    evaluated: true,
    wellFormed: true,
    success,
    failToPass: count('F→P'),
    failToFail: count('F→F'),
    passToPass: count('P→P'),
    passToFail: count('P→F'),
    ...(coverage !== null && { delta: coverage }),
    findings,
    seconds: 0,
  };
}
