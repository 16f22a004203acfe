import * as vscode from 'vscode';
import { coverageCell } from '../evaluation/table';
import { commandIds } from './names';
import type { OpenInstance } from './openInstance';

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
      vscode.workspace.onDidSaveTextDocument(() => void this.draw()),
    ];
    void this.draw();
    this.item.show();
  }

  private async draw(): Promise<void> {
    const turn = ++this.drawing;
    const { last, isRunning } = this.open;
    if (isRunning) {
      this.item.text = '$(sync~spin) SWT-Bench: running on R and R∘X*';
      this.item.command = commandIds.reproduce;
      return;
    }
    const seen = this.open.revealed ? ' · $(eye) revealed' : '';
    if (last === undefined) {
      this.item.text = `$(beaker) SWT-Bench: no verdict yet${seen}`;
      this.item.tooltip = vscode.l10n.t('Run the candidate tests on R and R∘X*');
      this.item.command = commandIds.reproduce;
      return;
    }
    const { strict, harness, changeCoverage, difference } = last.result;
    const current = await this.open.isCurrent().catch(() => false);
    if (turn !== this.drawing) return; // a later change is drawn already
    const icon = strict.success ? '$(pass)' : '$(error)';
    const verdict = strict.success ? `${strict.failToPass.length} F→P` : strict.reason;
    const coverage = `ΔC ${coverageCell(changeCoverage)
      .trim()
      .replace(/\s{2,}/, ' ')}`;
    this.item.text = `${icon} ${verdict} · ${coverage}${current ? '' : ' · edited since'}${seen}`;
    const tooltip = new vscode.MarkdownString();
    tooltip.appendText(`${strict.success ? 'Success' : 'No success'}: ${strict.explanation}`);
    tooltip.appendText(
      `\n\nHarness grading: ${harness.resolved ? 'resolved' : 'not resolved'}${difference === undefined ? '' : ` (${difference})`}`,
    );
    tooltip.appendText(
      `\n\nΔC of the golden tests: ${coverageCell(last.result.goldenCoverage).trim()}`,
    );
    for (const note of last.result.notes) tooltip.appendText(`\n\n${note}`);
    if (this.open.wasRevealed) {
      tooltip.appendText(
        '\n\nGolden patch, golden tests and hints were revealed for this instance.',
      );
    }
    this.item.tooltip = tooltip;
    this.item.command = commandIds.showChangeCoverage;
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
    this.item.dispose();
  }
}
