import * as l10n from '@vscode/l10n';
import {
  changeCoverageOf,
  type ChangeCoverage,
  type CoveredLine,
  type LineState,
} from '../../domain/changeCoverage';
import type { FilePatch } from '../../patch/parsedPatch';
import { coverageCell } from '../../results/resultTable';
import type { LatestVerdict, Revealing } from '../instance/instanceRoles';
import type { HoverPart } from '../shell/draw';
import { coverageCommandIds } from '../shell/names';
import type { TreeRow } from '../shell/treeRow';
import { statesByWeight } from './coverageMarks';
import { coverageHoverParts, lineName, stateInWords, stateName } from './coverageText';
import { inDiffOrder } from './diffOrder';

/** What a row of the Change Coverage view is about. */
export type ChangeCoverageNode = FileNode | StateNode | LineNode;

interface FileNode {
  readonly kind: 'file';
  readonly path: string;
  readonly lines: readonly CoveredLine[];
}

interface StateNode {
  readonly kind: 'state';
  readonly file: FileNode;
  readonly state: LineState;
  readonly lines: readonly CoveredLine[];
}

interface LineNode {
  readonly kind: 'line';
  readonly line: CoveredLine;
}

/** The changed line of a row in the view. */
export function lineOfRow(row: unknown): CoveredLine | undefined {
  if (typeof row !== 'object' || row === null || !('kind' in row)) return undefined;
  return row.kind === 'line' ? (row as LineNode).line : undefined;
}

/** What the view can show: the lines, or why there are none. */
export function changeCoverageState({
  last,
  revealed,
}: Pick<LatestVerdict & Revealing, 'last' | 'revealed'>): 'none' | 'unknown' | 'lines' | 'hidden' {
  if (last === undefined) return 'none';
  if (last.result.changeCoverage === undefined) return 'unknown';
  return revealed ? 'lines' : 'hidden';
}

/** The text beside the title of the view, and the one above its rows. */
export function changeCoverageHeader(
  coverage: ChangeCoverage,
  isCurrent: boolean,
): { readonly description: string; readonly message: string } {
  const isComplete = coverage.lines.every((line) => line.state !== 'missed');
  return {
    description: `ΔC ${coverageCell(coverage)
      .trim()
      .replace(/\s{2,}/, ' ')}`,
    message: [
      ...(isComplete ? [l10n.t('No line is missed.')] : []),
      ...(isCurrent ? [] : [l10n.t('Out of date: edited after this run. Run the tests again.')]),
    ].join(' '),
  };
}

/**
 * The rows at the top: a file each, in the order of the golden diff.
 *
 * @param files of the golden patch
 */
export function changedFileNodes(
  coverage: ChangeCoverage,
  files: readonly FilePatch[],
  missedOnly: boolean,
): ChangeCoverageNode[] {
  const byPath = new Map<string, CoveredLine[]>();
  for (const line of inDiffOrder(coverage.lines, files)) {
    if (missedOnly && line.state !== 'missed') continue;
    // Both sides of a renamed file appear as one file.
    const path =
      line.change === 'removed'
        ? (files.find(({ oldPath }) => oldPath === line.path)?.newPath ?? line.path)
        : line.path;
    byPath.set(path, [...(byPath.get(path) ?? []), line]);
  }
  return [...byPath].map(([path, lines]) => ({ kind: 'file', path, lines }));
}

/** The rows below a row: the states of a file, the lines of a state. */
export function changeCoverageNodesBelow(node: ChangeCoverageNode): ChangeCoverageNode[] {
  switch (node.kind) {
    case 'file':
      return statesByWeight.flatMap((state) => {
        const lines = node.lines.filter((line) => line.state === state);
        return lines.length === 0 ? [] : [{ kind: 'state', file: node, state, lines }];
      });
    case 'state':
      return node.lines.map((line) => ({ kind: 'line', line }));
    case 'line':
      return [];
  }
}

/** The row of a changed line; undefined where the rows leave it out. */
export function nodeOfLine(
  top: readonly ChangeCoverageNode[],
  line: Pick<CoveredLine, 'change' | 'path' | 'line'>,
): ChangeCoverageNode | undefined {
  return everyNode(top).find(
    (node) =>
      node.kind === 'line' &&
      node.line.change === line.change &&
      node.line.path === line.path &&
      node.line.line === line.line,
  );
}

/** The row above a row; undefined for a row at the top. Rows made again count as the same. */
export function parentOfNode(
  top: readonly ChangeCoverageNode[],
  node: ChangeCoverageNode,
): ChangeCoverageNode | undefined {
  const id = idOfNode(node);
  return everyNode(top).find((each) =>
    changeCoverageNodesBelow(each).some((below) => idOfNode(below) === id),
  );
}

const everyNode = (nodes: readonly ChangeCoverageNode[]): ChangeCoverageNode[] =>
  nodes.flatMap((node) => [node, ...everyNode(changeCoverageNodesBelow(node))]);

/** VS Code knows a row by it. */
function idOfNode(node: ChangeCoverageNode): string {
  switch (node.kind) {
    case 'file':
      return node.path;
    case 'state':
      return `${node.file.path}\n${node.state}`;
    case 'line':
      return `${node.line.change} ${node.line.line} ${node.line.path}`;
  }
}

/** A row of the view. */
interface ChangeCoverageTreeRow extends TreeRow {
  /** The state whose mark in the gutter is the icon of the row. */
  readonly state?: LineState;
  /** Stands in place of the tooltip. */
  readonly hover?: readonly HoverPart[];
}

/** A row of the view. Paths and code are plain text. */
export function changeCoverageTreeRow(
  node: ChangeCoverageNode,
  missedOnly: boolean,
): ChangeCoverageTreeRow {
  switch (node.kind) {
    case 'file':
      return fileRow(node, missedOnly);
    case 'state':
      return stateRow(node);
    case 'line':
      return lineRow(node);
  }
}

function fileRow(node: FileNode, missedOnly: boolean): ChangeCoverageTreeRow {
  const { path, lines } = node;
  const { covered, executable } = changeCoverageOf(lines);
  const inWords = missedOnly
    ? lines.length === 1
      ? l10n.t('1 line missed')
      : l10n.t('{0} lines missed', lines.length)
    : l10n.t('{0} of {1} executable lines newly covered', covered, executable);
  return {
    label: path,
    id: idOfNode(node),
    // Short, since the text follows a path.
    description: missedOnly ? `${lines.length}` : `${covered}/${executable}`,
    tooltip: `${path}\n${inWords}`,
    icon: { id: 'file-code' },
    children: 'unfolded',
    spoken: `${path}, ${inWords}`,
  };
}

function stateRow(node: StateNode): ChangeCoverageTreeRow {
  const { state, lines } = node;
  const name = stateName(state);
  return {
    label: name,
    id: idOfNode(node),
    description: `${lines.length}`,
    state,
    children: state === 'not executable' ? 'folded' : 'unfolded',
    spoken:
      lines.length === 1
        ? l10n.t('{0}: 1 line', name)
        : l10n.t('{0}: {1} lines', name, lines.length),
  };
}

function lineRow(node: LineNode): ChangeCoverageTreeRow {
  const { line } = node;
  const code = line.text.trim();
  return {
    label: lineName(line),
    id: idOfNode(node),
    description: code,
    hover: coverageHoverParts(line),
    state: line.state,
    contextValue: line.state === 'missed' ? 'missedLine' : 'changedLine',
    command: {
      command: coverageCommandIds.openLine,
      title: l10n.t('Open Changed Line'),
      arguments: [{ kind: 'line', line } satisfies LineNode],
    },
    spoken: `${lineName(line)}, ${stateInWords(line)}, ${code}`,
  };
}
