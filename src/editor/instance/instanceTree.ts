import * as vscode from 'vscode';
import { lineStates, type ChangeCoverage } from '../../domain/changeCoverage';
import { asLabel } from '../../domain/label';
import { messageOf } from '../../domain/problem';
import type { Reporter } from '../../domain/reporter';
import { containerEngine } from '../../engine/engine';
import { findingsToShow } from '../../evaluation/gradings';
import { coverageCell } from '../../results/resultTable';
import type { EngineReadiness } from '../shell/engineReadiness';
import { commandIds, contextKeys } from '../shell/names';
import { successInWords } from '../testing/transitionTexts';
import type { OpenInstance } from './openInstance';
import { hasUnsaved } from './saveEdits';
import { findingsInWords } from '../verdict/verdictSentences';

interface Node {
  readonly label: string;
  readonly description: string;
  readonly tooltip: string;
  readonly icon: vscode.ThemeIcon;
  readonly command: string;
}

/** The open instance at a glance: what hinders, issue, candidate, change coverage, golden patch. */
export class InstanceTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private open: OpenInstance | undefined;
  private readiness: EngineReadiness | undefined;
  private subscription: vscode.Disposable | undefined;

  constructor(private readonly reporter: Reporter) {}

  show(open: OpenInstance, readiness: EngineReadiness): void {
    this.subscription?.dispose();
    this.open = open;
    this.readiness = readiness;
    const redraw = (): void => this.changed.fire();
    this.subscription = vscode.Disposable.from(
      open.onDidChange(redraw),
      open.onDidEdit(redraw),
      readiness.onDidChange(redraw),
    );
    redraw();
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const item = new vscode.TreeItem(node.label);
    item.iconPath = node.icon;
    item.description = node.description;
    item.tooltip = node.tooltip;
    item.command = { command: node.command, title: node.label };
    // The icon alone tells a verdict to those who see it.
    item.accessibilityInformation = {
      label: `${node.label}: ${node.description}. ${node.tooltip}`,
    };
    return item;
  }

  async getChildren(parent?: Node): Promise<Node[]> {
    const { open } = this;
    if (parent !== undefined || open === undefined) return [];
    const issue = await this.titleOfIssue(open);
    if (issue === undefined) return [];
    const current =
      open.last === undefined || (!hasUnsaved(open) && (await open.isCurrent().catch(() => false)));
    return [
      ...this.hindrances(),
      {
        label: vscode.l10n.t('Issue'),
        description: issue,
        tooltip: vscode.l10n.t('Show what the tests are to reproduce'),
        icon: new vscode.ThemeIcon('issues'),
        command: commandIds.showIssue,
      },
      candidateRow(open, current),
      coverageRow(open.last?.result.changeCoverage, current),
      goldenRow(open.revealed),
    ];
  }

  /** The first line of the issue; undefined, with welcome content instead, when the row is gone. */
  private async titleOfIssue(open: OpenInstance): Promise<string | undefined> {
    const instance = await open.instance().catch((error: unknown) => {
      this.reporter.log(`${open.marker.id}: ${messageOf(error)}`);
      return undefined;
    });
    const failed = instance === undefined;
    await vscode.commands.executeCommand('setContext', contextKeys.instanceFailed, failed);
    if (instance === undefined) return undefined;
    return asLabel(instance.issue.trimStart().split('\n')[0] ?? '');
  }

  /** What keeps tests from running, at the top. */
  private hindrances(): Node[] {
    const problem = this.readiness?.problem;
    if (problem === undefined) return [];
    return [
      {
        label:
          problem.missing === containerEngine
            ? vscode.l10n.t('No container engine')
            : vscode.l10n.t('No Python'),
        description: vscode.l10n.t('tests cannot run; click to look again'),
        tooltip: problem.text,
        icon: new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground')),
        command: commandIds.checkEngine,
      },
    ];
  }

  dispose(): void {
    this.subscription?.dispose();
    this.changed.dispose();
  }
}

/** What a row says of a verdict that is not about what is in the workspace now. */
const outdated = (was: string): Pick<Node, 'description' | 'tooltip' | 'icon'> => ({
  description: vscode.l10n.t('edited since: run it again'),
  tooltip: vscode.l10n.t('Was: {0}', was),
  icon: new vscode.ThemeIcon('history'),
});

/** @param current the workspace is what the last verdict, if any, is about */
function candidateRow(open: OpenInstance, current: boolean): Node {
  const label = vscode.l10n.t('Candidate');
  const command = commandIds.reproduce;
  const strict = open.last?.result.strict;
  if (open.isRunning) {
    return {
      label,
      description: vscode.l10n.t('running on R and R∘X*'),
      tooltip: (current ? strict?.explanation : undefined) ?? vscode.l10n.t('The verdict follows'),
      icon: new vscode.ThemeIcon('sync~spin'),
      command,
    };
  }
  if (strict === undefined) {
    return {
      label,
      description: vscode.l10n.t('no verdict yet: run its tests'),
      tooltip: vscode.l10n.t('Write a test that fails on R, and run it'),
      icon: new vscode.ThemeIcon('beaker'),
      command,
    };
  }
  if (!current) return { label, command, ...outdated(strict.explanation) };
  const findings = findingsToShow(open.last?.result ?? { findings: [] });
  return {
    label,
    description: [
      // In front: the view is narrow.
      ...(findings.length === 0 ? [] : [findingsInWords(vscode.l10n, findings.length)]),
      strict.success ? successInWords(vscode.l10n) : strict.reason,
    ].join(' · '),
    tooltip: [strict.explanation, ...findings.map(({ says }) => `⚠ ${says}`)].join('\n'),
    icon: new vscode.ThemeIcon(
      strict.success ? 'pass' : 'error',
      new vscode.ThemeColor(strict.success ? 'testing.iconPassed' : 'testing.iconFailed'),
    ),
    command,
  };
}

function coverageRow(coverage: ChangeCoverage | undefined, current: boolean): Node {
  const label = vscode.l10n.t('Change coverage');
  const command = commandIds.showChangeCoverage;
  const states = lineStates
    .map((state) => ({ state, n: coverage?.lines.filter((line) => line.state === state).length }))
    .filter(({ n }) => n !== undefined && n > 0)
    .map(({ state, n }) => `${n} ${state}`);
  const inWords = coverage === undefined ? undefined : `ΔC ${coverageCell(coverage).trim()}`;
  if (inWords !== undefined && !current) return { label, command, ...outdated(inWords) };
  return {
    label,
    description: inWords ?? vscode.l10n.t('known after a run'),
    tooltip:
      states.length === 0
        ? vscode.l10n.t('Lines of the golden patch that the candidate covers')
        : states.join(', '),
    icon: new vscode.ThemeIcon('checklist'),
    command,
  };
}

function goldenRow(revealed: boolean): Node {
  return {
    label: vscode.l10n.t('Golden patch, tests, hints'),
    description: revealed ? vscode.l10n.t('revealed') : vscode.l10n.t('hidden'),
    tooltip: revealed
      ? vscode.l10n.t('Hide it again, with the golden tests and later hints')
      : vscode.l10n.t('Reveal it, with the golden tests and later hints'),
    icon: new vscode.ThemeIcon(revealed ? 'eye' : 'eye-closed'),
    command: revealed ? commandIds.hideGolden : commandIds.reveal,
  };
}
