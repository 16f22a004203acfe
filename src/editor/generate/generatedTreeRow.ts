import * as l10n from '@vscode/l10n';
import { fixNodes, fixTreeRow, type FixNode, type ShownFixes } from './fixTreeRow';
import type { TreeRow } from '../shell/treeRow';
import {
  candidateNodes,
  candidateTreeRow,
  type CandidateNode,
  type ShownCandidates,
} from './candidateTreeRow';
import type { Generation } from './generations';
import type { Section } from './runRow';

/** What a row of the Generated view is about. */
export type GeneratedNode =
  | { readonly kind: 'section'; readonly of: Section }
  | CandidateNode
  | FixNode;

/** What the Generated view shows: tests and fixes that models wrote for the open instance. */
export interface ShownGenerated {
  readonly tests: ShownCandidates;
  readonly fixes: ShownFixes;
}

const isFixNode = (node: CandidateNode | FixNode): node is FixNode =>
  node.kind === 'generation'
    ? node.of === 'fixes'
    : ['fix', 'testOnFix', 'stages', 'stage', 'place'].includes(node.kind);

/** The rows below a row, or the sections that have runs without one. */
export function generatedNodes(shown: ShownGenerated, node?: GeneratedNode): GeneratedNode[] {
  if (node === undefined) {
    const sections: readonly Section[] = ['tests', 'fixes'];
    return sections
      .filter((of) => shown[of].generations.length > 0)
      .map((of) => ({ kind: 'section', of }));
  }
  if (node.kind === 'section') {
    const { of } = node;
    return shown[of].generations.map((generation) => ({ kind: 'generation', of, generation }));
  }
  return isFixNode(node) ? fixNodes(shown.fixes, node) : candidateNodes(shown.tests, node);
}

/** A row of the view. All texts are plain, since they come from models and tested code. */
export function generatedTreeRow(shown: ShownGenerated, node: GeneratedNode): TreeRow {
  if (node.kind !== 'section') {
    return isFixNode(node) ? fixTreeRow(shown.fixes, node) : candidateTreeRow(shown.tests, node);
  }
  const { of } = node;
  const runs = shown[of].generations.length;
  return {
    label: of === 'tests' ? l10n.t('Tests') : l10n.t('Fixes'),
    id: of,
    description: runs === 1 ? l10n.t('1 run') : l10n.t('{0} runs', runs),
    icon: { id: of === 'tests' ? 'beaker' : 'wrench' },
    children: 'unfolded',
    contextValue: `section.${of}`,
  };
}

/** The first of some rows that has one of these kinds. Arguments of commands may be no rows. */
export const rowOfKind = <Kind extends GeneratedNode['kind']>(
  rows: readonly unknown[],
  ...kinds: readonly Kind[]
): Extract<GeneratedNode, { readonly kind: Kind }> | undefined =>
  rows.find(
    (row): row is Extract<GeneratedNode, { readonly kind: Kind }> =>
      typeof row === 'object' &&
      row !== null &&
      'kind' in row &&
      kinds.some((kind) => kind === row.kind),
  );

/** Whether an argument of a command is the row of a candidate. */
export const isCandidateRow = (row: unknown): boolean =>
  rowOfKind([row], 'candidate') !== undefined;

/** The run of the first row that is about one of the section, else the last run. */
export const generationOfRow = (
  section: Section,
  rows: readonly unknown[],
  [last]: readonly Generation[],
): Generation | undefined =>
  rows.flatMap((row) => rowOfKind([row], 'generation') ?? []).find(({ of }) => of === section)
    ?.generation ?? last;
