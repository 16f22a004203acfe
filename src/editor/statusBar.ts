import * as vscode from 'vscode';
import type { Verdict } from '../domain/verdict';
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
    const { last, isRunning, step } = this.open;
    this.item.accessibilityInformation = undefined;
    if (step !== undefined) {
      this.item.text = `$(sync~spin) SWT-Bench: ${step}`;
      this.item.tooltip = vscode.l10n.t('Before the tests run; click for the log');
      this.item.command = commandIds.showLog;
      return;
    }
    if (isRunning) {
      const first = this.open.soFar?.first.strict;
      this.item.text =
        first === undefined
          ? '$(sync~spin) SWT-Bench: running on R and R∘X*'
          : `$(sync~spin) ${verdictInWords(first)} · running the whole files`;
      this.item.tooltip = first?.explanation ?? this.open.environment;
      this.item.command = commandIds.reproduce;
      return;
    }
    const seen = this.open.revealed ? ' · $(eye) revealed' : '';
    if (last === undefined) {
      this.item.text = `$(beaker) SWT-Bench: no verdict yet${seen}`;
      this.item.tooltip = [
        vscode.l10n.t('Run the candidate tests on R and R∘X*'),
        ...(this.open.environment === undefined ? [] : [this.open.environment]),
      ].join('\n\n');
      this.item.command = commandIds.reproduce;
      return;
    }
    const { strict, harness, changeCoverage, difference, affected } = last.result;
    const current = await this.open.isCurrent().catch(() => false);
    if (turn !== this.drawing) return; // a later change is drawn already
    const icon = strict.success ? '$(pass)' : '$(error)';
    const verdict = verdictInWords(strict);
    const coverage = `ΔC ${coverageCell(changeCoverage)
      .trim()
      .replace(/\s{2,}/, ' ')}`;
    this.item.text = `${icon} ${verdict} · ${coverage}${current ? '' : ' · edited since'}${seen}`;
    const tooltip = new vscode.MarkdownString();
    tooltip.appendText(`${strict.success ? 'Success' : 'No success'}: ${strict.explanation}`);
    const byHarness = harness.resolved ? 'resolved' : 'not resolved';
    tooltip.appendText(
      affected === undefined
        ? `\n\nHarness grading: ${byHarness}${difference === undefined ? '' : ` (${difference})`}`
        : '\n\nHarness grading: run Reproduce, since it looks at a run of all tests',
    );
    tooltip.appendText(
      `\n\nΔC of the golden tests: ${coverageCell(last.result.goldenCoverage).trim()}`,
    );
    for (const note of last.result.notes) tooltip.appendText(`\n\n${note}`);
    if (this.open.environment !== undefined) tooltip.appendText(`\n\n${this.open.environment}`);
    if (this.open.wasRevealed) {
      tooltip.appendText(
        '\n\nGolden patch, golden tests and hints were revealed for this instance.',
      );
    }
    this.item.tooltip = tooltip;
    // A tooltip with markup is not read out.
    const said = [this.item.text.replace(/\$\([^)]*\)/g, ''), strict.explanation];
    this.item.accessibilityInformation = {
      label: [...said, this.open.environment ?? []].flat().join(', ').trim(),
    };
    this.item.command = commandIds.showChangeCoverage;
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
    this.item.dispose();
  }
}

const verdictInWords = (strict: Verdict): string =>
  strict.success ? `${strict.failToPass.length} F→P` : strict.reason;
