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

/** What a row of the Generated view is about. */
export type GeneratedNode =
  | { readonly kind: 'section'; readonly of: Section }
  | CandidateNode
  | FixNode;

type Section = 'tests' | 'fixes';

/** What the Generated view shows: tests and fixes that models wrote for the open instance. */
export interface ShownGenerated {
  readonly tests: ShownCandidates;
  readonly fixes: ShownFixes;
}

const fixKinds: ReadonlySet<string> = new Set<FixNode['kind']>([
  'fixes',
  'fix',
  'testOnFix',
  'stages',
  'stage',
  'place',
]);

const isFixNode = (node: CandidateNode | FixNode): node is FixNode => fixKinds.has(node.kind);

/** The rows below a row, or the sections that have runs without one. */
export function generatedNodes(shown: ShownGenerated, node?: GeneratedNode): GeneratedNode[] {
  if (node === undefined) {
    const sections: readonly Section[] = ['tests', 'fixes'];
    return sections
      .filter((of) => shown[of].generations.length > 0)
      .map((of) => ({ kind: 'section', of }));
  }
  if (node.kind === 'section') {
    return node.of === 'tests' ? candidateNodes(shown.tests) : fixNodes(shown.fixes);
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

/**
 * The run of the first row that is about one, else the last run.
 *
 * @param kind of rows
 * @param rows anything: also arguments of commands that are no rows
 */
export const generationOfRow = (
  kind: 'generation' | 'fixes',
  rows: readonly unknown[],
  [last]: readonly Generation[],
): Generation | undefined => rows.find((row) => isRunRow(kind, row))?.generation ?? last;

const isRunRow = (
  kind: 'generation' | 'fixes',
  row: unknown,
): row is { readonly generation: Generation } =>
  typeof row === 'object' && row !== null && 'kind' in row && row.kind === kind;
