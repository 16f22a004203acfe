import * as vscode from 'vscode';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { hasUnsaved } from '../instance/saveEdits';
import type { EngineReadiness } from '../shell/engineReadiness';
import { lookOfVerdict, lookWithoutVerdict, lookWithProblem, type StatusLook } from './statusLook';
import type { Evaluated } from './evaluated';
import { shownVerdict } from './currentVerdict';

/** How long the item of a finished run is an alert, in milliseconds. */
const announcedFor = 5000;

/** The one status-bar item: verdict, number of F→P tests, ΔC with its fraction. */
export class StatusBar implements vscode.Disposable {
  private readonly item: vscode.StatusBarItem;
  private readonly subscriptions: readonly vscode.Disposable[];
  private drawing = 0;
  /** The verdict before the run under way; undefined while none runs. */
  private before: { readonly last: Evaluated | undefined } | undefined;
  /** The news that the item says as an alert, and what ends that. */
  private announced: { readonly text: string; readonly ends: NodeJS.Timeout } | undefined;

  constructor(
    private readonly open: LatestVerdict & Revealing & InstanceSource,
    private readonly readiness: Pick<EngineReadiness, 'problem' | 'onDidChange'>,
  ) {
    this.item = vscode.window.createStatusBarItem(
      'swt-bench.verdict',
      vscode.StatusBarAlignment.Left,
      10,
    );
    this.item.name = vscode.l10n.t('SWT-Bench verdict');
    this.subscriptions = [
      open.onDidChange(() => void this.draw()),
      readiness.onDidChange(() => void this.draw()),
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
      if (isRunning) this.before ??= { last };
      const look = lookWithoutVerdict(this.open);
      this.show(step === undefined && !isRunning ? this.withProblem(look) : look);
      return;
    }
    const current = !hasUnsaved(this.open) && (await this.open.isCurrent().catch(() => false));
    if (turn !== this.drawing) return; // A later change has already drawn the item.
    const verdict = shownVerdict(this.open, current);
    if (verdict === undefined) return;
    const look = this.withProblem(lookOfVerdict(verdict));
    const { before } = this;
    this.before = undefined;
    // A run that was cancelled leaves the verdict that was there before.
    if (before !== undefined && before.last !== last) this.announce(look);
    else if (this.announced?.text !== look.text) this.show(look);
  }

  private withProblem(look: StatusLook): StatusLook {
    const { problem } = this.readiness;
    return problem === undefined ? look : lookWithProblem(look, problem);
  }

  /**
   * Shows the verdict of a finished run, and lets a screen reader say it. An item is announced while
   * its role is `alert`; afterwards it is the button again that it is for everybody.
   */
  private announce(look: StatusLook): void {
    this.show(look, 'alert');
    const ends = setTimeout(() => {
      this.announced = undefined;
      void this.draw();
    }, announcedFor);
    this.announced = { text: look.text, ends };
  }

  private show({ text, tooltip, command, label }: StatusLook, role?: 'alert'): void {
    clearTimeout(this.announced?.ends);
    this.announced = undefined;
    this.item.text = text;
    this.item.tooltip =
      typeof tooltip === 'object' ? new vscode.MarkdownString(tooltip.markdown) : tooltip;
    this.item.command = command;
    this.item.accessibilityInformation = { label, ...(role === undefined ? {} : { role }) };
  }

  dispose(): void {
    clearTimeout(this.announced?.ends);
    for (const each of this.subscriptions) each.dispose();
    this.item.dispose();
  }
}
