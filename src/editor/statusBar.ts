import * as vscode from 'vscode';
import type { Verdict } from '../domain/verdict';
import { coverageCell } from '../evaluation/table';
import { commandIds, trustCommand } from './names';
import type { OpenInstance } from './openInstance';
import { hasUnsaved } from './savedState';
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
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.draw()),
    ];
    void this.draw();
    this.item.show();
  }

  private async draw(): Promise<void> {
    const turn = ++this.drawing;
    const { last, isRunning, step } = this.open;
    if (step !== undefined || isRunning || last === undefined) {
      this.show(this.withoutVerdict());
      return;
    }
    const current = !hasUnsaved(this.open) && (await this.open.isCurrent().catch(() => false));
    if (turn !== this.drawing) return; // a later change is drawn already
    const verdict = shownVerdict(this.open, current);
    if (verdict !== undefined) this.show(this.withVerdict(verdict));
  }

  private withoutVerdict(): Look {
    const { isRunning, step, environment } = this.open;
    if (step !== undefined) {
      return {
        text: `$(sync~spin) ${vscode.l10n.t('SWT-Bench: {0}', step)}`,
        tooltip: vscode.l10n.t('Before the tests run; click for the log'),
        command: commandIds.showLog,
      };
    }
    if (isRunning) {
      const first = this.open.soFar?.first.strict;
      const text =
        first === undefined
          ? vscode.l10n.t('SWT-Bench: running on R and R∘X*')
          : vscode.l10n.t('{0} · running the whole files', verdictInWords(first));
      return {
        text: `$(sync~spin) ${text}`,
        tooltip: first?.explanation ?? environment,
        command: commandIds.reproduce,
      };
    }
    if (!vscode.workspace.isTrusted) {
      return {
        text: `$(shield) ${vscode.l10n.t('SWT-Bench: not trusted')}${this.seen()}`,
        tooltip: vscode.l10n.t(
          'Tests are listed, but not run: that would execute the code of this workspace. Click to trust it.',
        ),
        command: trustCommand,
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
    const { strict, changeCoverage, difference } = verdict.evaluated.result;
    const coverage = coverageCell(changeCoverage)
      .trim()
      .replace(/\s{2,}/, ' ');
    const text =
      [
        verdictInWords(strict),
        `ΔC ${coverage}`,
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

const withoutIcons = (text: string): string => text.replace(/\$\([^)]*\)\s*/g, '');

/** A verdict in few words: the number of tests that reproduce, or why none does. */
export const verdictInWords = (strict: Verdict): string =>
  strict.success ? `${strict.failToPass.length} F→P` : strict.reason;
