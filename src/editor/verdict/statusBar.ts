import * as vscode from 'vscode';
import type { Verdict } from '../../domain/verdict';
import type { FirstResult } from '../../evaluation/firstResult';
import { coverageCell } from '../../results/resultTable';
import { commandIds } from '../shell/names';
import type { OpenInstance } from '../instance/openInstance';
import { hasUnsaved } from '../instance/saveEdits';
import { shownVerdict, verdictHover, verdictSentences, type ShownVerdict } from './verdictHover';

/** What the item shows: its text, its hover, and what a click does. */
interface Look {
  readonly text: string;
  readonly tooltip: string | vscode.MarkdownString | undefined;
  readonly command: string;
  /** Read out in place of text and tooltip; a tooltip with markup is not. */
  readonly label?: string;
}

/** The one status-bar item: verdict, F→P count, ΔC with its fraction. */
export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscriptions: readonly vscode.Disposable[];
  private drawing = 0;

  constructor(private readonly open: OpenInstance) {
    this.item = vscode.window.createStatusBarItem(
      'swt-bench.verdict',
      vscode.StatusBarAlignment.Left,
      10,
    );
    this.item.name = vscode.l10n.t('SWT-Bench verdict');
    this.subscriptions = [
      open.onDidChange(() => void this.draw()),
      // A verdict is about what was saved when it was given.
      open.onDidEdit(() => void this.draw()),
    ];
    void this.draw();
    this.item.show();
  }

  private async draw(): Promise<void> {
    const turn = ++this.drawing;
    const { last, runs, step } = this.open;
    if (step !== undefined || runs.isRunning || last === undefined) {
      this.show(this.withoutVerdict());
      return;
    }
    const current = !hasUnsaved(this.open) && (await this.open.isCurrent().catch(() => false));
    if (turn !== this.drawing) return; // a later change is drawn already
    const verdict = shownVerdict(this.open, current);
    if (verdict !== undefined) this.show(this.withVerdict(verdict));
  }

  private withoutVerdict(): Look {
    const { runs, step, environment } = this.open;
    if (step !== undefined) {
      return {
        text: `$(sync~spin) ${vscode.l10n.t('SWT-Bench: {0}', step)}`,
        tooltip: vscode.l10n.t('Before the tests run; click for the log'),
        command: commandIds.showLog,
      };
    }
    if (runs.isRunning) {
      const first = this.open.soFar?.first;
      const strict = first?.strict;
      return {
        text: `$(sync~spin) ${runningText(first)}`,
        tooltip: strict?.explanation ?? environment,
        command: commandIds.reproduce,
      };
    }
    return {
      text: `$(beaker) ${vscode.l10n.t('SWT-Bench: no verdict yet')}${this.seen()}`,
      tooltip: [
        vscode.l10n.t('Click to run the candidate tests on R and R∘X*'),
        ...(environment === undefined ? [] : [environment]),
      ].join('\n\n'),
      command: commandIds.reproduce,
    };
  }

  private withVerdict(verdict: ShownVerdict): Look {
    const { strict, changeCoverage, difference, findings } = verdict.evaluated.result;
    const coverage = coverageCell(changeCoverage)
      .trim()
      .replace(/\s{2,}/, ' ');
    const text =
      [
        verdictInWords(strict),
        `ΔC ${coverage}`,
        ...(findings.length === 0 ? [] : [findingsInWords(findings.length)]),
        ...(difference === undefined ? [] : [vscode.l10n.t('gradings differ')]),
        ...(verdict.current ? [] : [vscode.l10n.t('edited since')]),
      ].join(' · ') + this.seen();
    // A verdict on something else than what is there passes nothing.
    const icon = !verdict.current ? '$(history)' : strict.success ? '$(pass)' : '$(error)';
    return {
      text: `${icon} ${text}`,
      tooltip: verdictHover(verdict),
      command: commandIds.showVerdict,
      label: [withoutIcons(text), ...verdictSentences(verdict)].join(' '),
    };
  }

  private seen(): string {
    return this.open.revealed ? ` · $(eye) ${vscode.l10n.t('revealed')}` : '';
  }

  private show({ text, tooltip, command, label }: Look): void {
    this.item.text = text;
    this.item.tooltip = tooltip;
    this.item.command = command;
    this.item.accessibilityInformation = label === undefined ? undefined : { label };
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
    this.item.dispose();
  }
}

/** How many findings a verdict has. */
export const findingsInWords = (count: number): string =>
  count === 1 ? vscode.l10n.t('⚠ 1 finding') : vscode.l10n.t('⚠ {0} findings', count);

/** What goes on while tests run: with what the candidate's own tests did, once that is known. */
function runningText(first: FirstResult | undefined): string {
  if (first?.strict === undefined) return vscode.l10n.t('SWT-Bench: running on R and R∘X*');
  const verdict = verdictInWords(first.strict);
  return first.whole
    ? vscode.l10n.t('{0} · grading', verdict)
    : vscode.l10n.t('{0} · running the whole files', verdict);
}

const withoutIcons = (text: string): string => text.replace(/\$\([^)]*\)\s*/g, '');

/** A verdict in few words: the number of tests that reproduce, or why none does. */
export const verdictInWords = (strict: Verdict): string =>
  strict.success ? `${strict.failToPass.length} F→P` : strict.reason;
