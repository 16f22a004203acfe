import * as vscode from 'vscode';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { hasUnsaved } from '../instance/saveEdits';
import { lookOfVerdict, lookWithoutVerdict, type StatusLook } from './statusLook';
import { shownVerdict } from './shownVerdict';

/** The one status-bar item: verdict, number of F→P tests, ΔC with its fraction. */
export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscriptions: readonly vscode.Disposable[];
  private drawing = 0;

  constructor(private readonly open: LatestVerdict & Revealing & InstanceSource) {
    this.item = vscode.window.createStatusBarItem(
      'swt-bench.verdict',
      vscode.StatusBarAlignment.Left,
      10,
    );
    this.item.name = vscode.l10n.t('SWT-Bench verdict');
    this.subscriptions = [
      open.onDidChange(() => void this.draw()),
      // An edit makes the verdict outdated.
      open.onDidEdit(() => void this.draw()),
    ];
    void this.draw();
    this.item.show();
  }

  private async draw(): Promise<void> {
    const turn = ++this.drawing;
    const { last, isRunning, step } = this.open;
    if (step !== undefined || isRunning || last === undefined) {
      this.show(lookWithoutVerdict(vscode.l10n, this.open));
      return;
    }
    const current = !hasUnsaved(this.open) && (await this.open.isCurrent().catch(() => false));
    if (turn !== this.drawing) return; // A later change has already drawn the item.
    const verdict = shownVerdict(this.open, current);
    if (verdict !== undefined) this.show(lookOfVerdict(vscode.l10n, verdict));
  }

  private show({ text, tooltip, command, label }: StatusLook): void {
    this.item.text = text;
    this.item.tooltip =
      typeof tooltip === 'object' ? new vscode.MarkdownString(tooltip.markdown) : tooltip;
    this.item.command = command;
    this.item.accessibilityInformation = label === undefined ? undefined : { label };
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
    this.item.dispose();
  }
}
