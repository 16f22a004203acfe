import * as vscode from 'vscode';
import { findingSentences } from '../../domain/finding';
import { isFailure, type TestResult } from '../../domain/outcome';
import type { MethodCandidate } from '../../method/method';
import { methodNamed } from '../../method/methods';
import type { RunStep } from '../../method/steps';
import { coverageCell } from '../../results/resultTable';
import { transitionLook } from '../testing/transitionLook';
import { firstLine, outcomeInWords, successInWords } from '../testing/transitionTexts';
import { candidateCommandIds } from '../shell/names';
import type { Generation, Generations } from './generations';
import type { Grade, Knowledge } from './candidateGrades';
import { outcomeOnR } from './records';

/** A row of the view. */
export type CandidateNode =
  | { readonly kind: 'generation'; readonly generation: Generation }
  | {
      readonly kind: 'candidate';
      readonly generation: Generation;
      readonly candidate: MethodCandidate;
    }
  | { readonly kind: 'writing'; readonly sample: number; readonly characters: number }
  | { readonly kind: 'test'; readonly result: RunStep['tests'][number] }
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
}

/**
 * What models have written for the open instance, the last run first. What a model may know of a candidate
 * is W and its outcome on R; what only the developer may know stands below a row of its own. All texts are
 * plain: they come from models and from tested code.
 */
export class CandidateTree implements vscode.TreeDataProvider<CandidateNode>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly subscription: vscode.Disposable;

  constructor(
    private readonly generations: Generations,
    private readonly knowledge: Knowledge,
    onDidReveal: vscode.Event<void>,
  ) {
    const redraw = (): void => this.changed.fire();
    this.subscription = vscode.Disposable.from(
      generations.onDidChange(redraw),
      knowledge.onDidChange(redraw),
      onDidReveal(redraw),
    );
  }

  getChildren(node?: CandidateNode): CandidateNode[] {
    if (node === undefined) {
      return this.generations.list.map((generation) => ({ kind: 'generation', generation }));
    }
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
        return this.knownRows(node.candidate).map((row) => ({ kind: 'known', row }));
      case 'writing':
      case 'test':
      case 'known':
        return [];
    }
  }

  getTreeItem(node: CandidateNode): vscode.TreeItem {
    const item = this.itemOf(node);
    const { label, description, tooltip } = item;
    const [first = '', ...others] = typeof tooltip === 'string' ? tooltip.split('\n') : [];
    const isSaid = typeof description === 'string' && description.endsWith(first);
    // An icon tells something only to those who see it.
    item.accessibilityInformation = {
      label: [label, description, ...(isSaid ? [] : [first]), ...others]
        .filter((each): each is string => typeof each === 'string' && each !== '')
        .join('. '),
    };
    return item;
  }

  private itemOf(node: CandidateNode): vscode.TreeItem {
    switch (node.kind) {
      case 'generation':
        return generationItem(node.generation, node.generation === this.generations.list[0]);
      case 'candidate':
        return this.candidateItem(node);
      case 'writing': {
        const item = new vscode.TreeItem(vscode.l10n.t('Candidate {0}', node.sample));
        item.description = vscode.l10n.t('is being written, {0} characters', node.characters);
        item.iconPath = new vscode.ThemeIcon('sync~spin');
        return item;
      }
      case 'test':
        return testItem(node.result as TestResult);
      case 'knowledge':
        return this.knowledgeItem(node.generation, node.candidate);
      case 'known': {
        const item = new vscode.TreeItem(node.row.label);
        item.description = node.row.description;
        item.iconPath = new vscode.ThemeIcon(node.row.icon);
        return item;
      }
    }
  }

  private candidateItem({
    generation,
    candidate,
  }: Extract<CandidateNode, { kind: 'candidate' }>): vscode.TreeItem {
    const { sample, patch, answer } = candidate;
    const { icon, text, detail } = inWords(candidate);
    const isChosen = generation.chosen !== undefined && generation.chosen.sample === sample;
    const item = new vscode.TreeItem(
      vscode.l10n.t('Candidate {0}', sample),
      patch.applies
        ? isChosen
          ? vscode.TreeItemCollapsibleState.Expanded
          : vscode.TreeItemCollapsibleState.Collapsed
        : vscode.TreeItemCollapsibleState.None,
    );
    // Another id once it is chosen: VS Code remembers of a row whether it is open.
    item.id = `${generation.id}-${sample}${isChosen ? '-chosen' : ''}`;
    item.description = isChosen ? vscode.l10n.t('chosen · {0}', text) : text;
    item.iconPath = new vscode.ThemeIcon(isChosen ? 'star-full' : icon);
    item.tooltip = [
      text,
      ...(isChosen ? [vscode.l10n.t('Chosen: {0}', this.whyChosen(generation, candidate))] : []),
      ...(candidate.matches === undefined
        ? []
        : [
            candidate.matches
              ? vscode.l10n.t('The model judges that it fails as the issue says')
              : vscode.l10n.t('The model judges that it does not fail as the issue says'),
          ]),
      ...(detail === '' ? [] : [detail]),
      ...patch.diagnostics.map(({ line, message }) =>
        vscode.l10n.t('line {0} of the answer: {1}', line, message),
      ),
      answer.isEstimate === true
        ? vscode.l10n.t('about {0} tokens in, {1} out', answer.inputTokens, answer.outputTokens)
        : vscode.l10n.t('{0} tokens in, {1} out', answer.inputTokens, answer.outputTokens),
    ].join('\n');
    item.contextValue = patch.applies ? 'candidate.applies' : 'candidate';
    item.command = {
      command: patch.applies ? candidateCommandIds.preview : candidateCommandIds.showAnswer,
      title: vscode.l10n.t('Preview Candidate'),
      arguments: [{ kind: 'candidate', generation, candidate }],
    };
    return item;
  }

  /** What an oracle says is for the developer. */
  private whyChosen({ record, chosen }: Generation, { patch }: MethodCandidate): string {
    const isSecret =
      methodNamed(record.method).runs === 'oracle' && !this.knowledge.isShown(patch.patch);
    return isSecret ? vscode.l10n.t('the oracle picked it') : (chosen?.why ?? '');
  }

  private knowledgeItem(generation: Generation, candidate: MethodCandidate): vscode.TreeItem {
    const { patch } = candidate.patch;
    const isShown = this.knowledge.isShown(patch);
    const rows = isShown ? this.knownRows(candidate) : [];
    const item = new vscode.TreeItem(
      vscode.l10n.t('For the developer only'),
      rows.length > 0
        ? vscode.TreeItemCollapsibleState.Expanded
        : vscode.TreeItemCollapsibleState.None,
    );
    const isGraded = this.knowledge.gradeOf(patch) !== undefined;
    // Another id once it is shown, likewise.
    item.id = `${generation.id}-${candidate.sample}-knowledge-${rows.length > 0 ? 'shown' : 'hidden'}`;
    item.description = isShown
      ? isGraded
        ? vscode.l10n.t('no model sees it')
        : vscode.l10n.t('transition and ΔC: not run on both sides')
      : vscode.l10n.t('transition and ΔC: not shown');
    item.tooltip = vscode.l10n.t(
      'What R∘X* and the golden patch tell of this candidate. No model sees it.',
    );
    item.iconPath = new vscode.ThemeIcon(isShown ? 'eye' : 'eye-closed');
    if (!isShown || !isGraded) {
      item.contextValue = 'knowledge';
      item.command = {
        command: candidateCommandIds.evaluate,
        title: vscode.l10n.t('Show Transition and ΔC of Candidate'),
        arguments: [{ kind: 'candidate', generation, candidate }],
      };
    }
    return item;
  }

  private knownRows({ patch, verdict }: MethodCandidate): KnownRow[] {
    if (!this.knowledge.isShown(patch.patch)) return [];
    const grade = this.knowledge.gradeOf(patch.patch);
    const ofOracle =
      verdict === undefined
        ? []
        : [
            {
              label: vscode.l10n.t('Oracle of Pass@5'),
              description: verdict.success ? vscode.l10n.t('a success') : verdict.reason,
              icon: 'law',
            },
          ];
    return grade === undefined ? ofOracle : [...gradeRows(grade), ...ofOracle];
  }

  dispose(): void {
    this.subscription.dispose();
    this.changed.dispose();
  }
}

function candidatesOf(generation: Generation): CandidateNode[] {
  const samples = new Set([...generation.candidates.keys(), ...generation.writing.keys()]);
  return [...samples]
    .sort((a, b) => a - b)
    .map((sample) => {
      const candidate = generation.candidates.get(sample);
      return candidate === undefined
        ? { kind: 'writing', sample, characters: generation.writing.get(sample) ?? 0 }
        : { kind: 'candidate', generation, candidate };
    });
}

function generationItem(generation: Generation, isLast: boolean): vscode.TreeItem {
  const { record, state, candidates, failure } = generation;
  const item = new vscode.TreeItem(
    methodNamed(record.method).title,
    isLast ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
  );
  item.id = generation.id;
  const told =
    state === 'running'
      ? vscode.l10n.t('{0} of {1} answered', candidates.size, record.samples)
      : state === 'partial'
        ? vscode.l10n.t('broken off, {0} of {1} answered', candidates.size, record.samples)
        : candidates.size === 1
          ? vscode.l10n.t('1 candidate')
          : vscode.l10n.t('{0} candidates', candidates.size);
  item.description = `${record.model} · ${told}`;
  item.tooltip = [
    methodNamed(record.method).description,
    ...(failure === undefined ? [] : [failure]),
  ].join('\n');
  item.iconPath = new vscode.ThemeIcon(
    state === 'running' ? 'sync~spin' : state === 'partial' ? 'debug-pause' : 'sparkle',
  );
  item.contextValue = `generation.${state}`;
  return item;
}

function testItem(result: TestResult): vscode.TreeItem {
  const item = new vscode.TreeItem(result.test.split('::').slice(1).join('::') || result.test);
  const line = isFailure(result) ? firstLine(result) : undefined;
  const said = outcomeInWords(vscode.l10n, 'base', result);
  item.description = line === undefined ? said : `${said}: ${line}`;
  item.tooltip = [result.test, said, result.message ?? result.exception ?? '']
    .filter((each) => each !== '')
    .join('\n');
  item.iconPath = new vscode.ThemeIcon(isFailure(result) ? 'error' : 'circle-outline');
  return item;
}

function gradeRows({ success, reason, transitions, coverage, findings }: Grade): KnownRow[] {
  return [
    {
      label: vscode.l10n.t('Verdict'),
      description: success ? successInWords(vscode.l10n) : reason,
      icon: success ? 'pass' : 'error',
    },
    ...findings.map(({ kind, evidence }) => ({
      label: vscode.l10n.t('⚠ Finding'),
      description: [findingSentences[kind], ...evidence].join(' '),
      icon: 'warning',
    })),
    {
      label: 'ΔC',
      description:
        coverage === null || coverage.executable === 0
          ? vscode.l10n.t('not known')
          : coverageCell({ ...coverage, delta: coverage.covered / coverage.executable }).trim(),
      icon: 'checklist',
    },
    ...transitions.map(({ test, transition }) => ({
      label: transition,
      description: test,
      icon: transitionLook[transition].icon,
    })),
  ];
}

/** A candidate as R shows it: an icon, a line, and more where there is more to say. */
function inWords(candidate: MethodCandidate): {
  readonly icon: string;
  readonly text: string;
  readonly detail: string;
} {
  const outcome = outcomeOnR(candidate);
  switch (outcome.kind) {
    case 'empty':
      return { icon: 'circle-slash', text: vscode.l10n.t('the answer is empty'), detail: '' };
    case 'does not apply':
      return {
        icon: 'circle-slash',
        text: vscode.l10n.t('not well-formed: {0}', outcome.why),
        detail: '',
      };
    case 'not run':
      return { icon: 'question', text: vscode.l10n.t('W · not run on R'), detail: '' };
    case 'could not run':
      return {
        icon: 'warning',
        text: vscode.l10n.t('W · could not run on R: {0}', outcome.why),
        detail: '',
      };
    case 'fails': {
      const line = firstLine(outcome.first) ?? outcome.first.outcome;
      return {
        icon: 'target',
        text:
          outcome.tests === 1
            ? vscode.l10n.t('W · fails on R: {0}', line)
            : vscode.l10n.t('W · {0} of {1} fail on R: {2}', outcome.failing, outcome.tests, line),
        detail: outcome.first.message ?? '',
      };
    }
    case 'failed before':
      return {
        icon: 'circle-outline',
        text: vscode.l10n.t('W · fails on R as it did without it'),
        detail: '',
      };
    case 'passes':
      return {
        icon: 'circle-outline',
        text:
          outcome.tests === 0
            ? vscode.l10n.t('W · has no test')
            : vscode.l10n.t('W · passes on R: does not reproduce'),
        detail: '',
      };
  }
}
