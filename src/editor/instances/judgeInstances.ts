import * as vscode from 'vscode';
import { iconBeside } from '../shell/draw';
import { commandIds, settingKeys } from '../shell/names';
import { ofSetting, problemText } from '../shell/problems';
import { withoutLinkMarkup } from '../shell/plainText';
import type { Catalogue } from './catalogue';
import { issueTitle } from './instanceTreeRow';
import {
  judgementRows,
  lineOf,
  numberedTags,
  type Judgement,
  type JudgementRow,
} from './judgement';
import { changeTriage } from './triageCommands';

/**
 * Lets the user judge one instance after the other: one box stays open, with a line of tags and
 * reason for each, and the issue page shows the instance that the line is about.
 *
 * @param ids in the order of the list
 * @param first index of the instance to begin with
 */
export function judgeInstances(
  catalogue: Catalogue,
  ids: readonly string[],
  first = 0,
): Promise<void> {
  return new JudgementBox(catalogue, ids, first).ended;
}

class JudgementBox {
  readonly ended: Promise<void>;
  private box: vscode.QuickPick<vscode.QuickPickItem & JudgementRow>;
  private readonly skip: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('debug-step-over'),
    tooltip: vscode.l10n.t('Skip to Next Instance'),
  };
  private readonly reveal: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('eye'),
    tooltip: vscode.l10n.t('Reveal Fix and Golden Tests…'),
  };
  private numbered: readonly string[];
  /** Whether the box is hidden only while the user is asked about revealing, or for another box. */
  private isAside = false;
  private end: () => void = () => undefined;
  /** The line that stood in the box when the instance came. */
  private before = '';

  constructor(
    private readonly catalogue: Catalogue,
    private readonly ids: readonly string[],
    private at: number,
  ) {
    this.numbered = numberedTags(catalogue.tags);
    this.ended = new Promise((resolve) => (this.end = resolve));
    this.box = this.newBox();
    this.box.show();
    this.turn(0);
  }

  private newBox(): typeof this.box {
    const box = vscode.window.createQuickPick<vscode.QuickPickItem & JudgementRow>();
    box.ignoreFocusOut = true;
    box.placeholder = vscode.l10n.t('Type a tag or number, then an optional note');
    box.onDidChangeValue(() => this.draw());
    box.onDidTriggerButton((button) => this.press(button));
    box.onDidAccept(() => void this.accept());
    box.onDidHide(() => {
      if (this.isAside) return;
      box.dispose();
      this.end();
    });
    return box;
  }

  /**
   * Shows another box. VS Code selects the line that is in a box when it comes, and in no other
   * case: what the user types then replaces the line.
   */
  private renewBox(): void {
    const old = this.box;
    this.isAside = true;
    this.box = this.newBox();
    old.dispose();
    this.isAside = false;
  }

  private press(button: vscode.QuickInputButton): void {
    if (button === this.reveal) void this.askToReveal();
    else this.turn(button === this.skip ? 1 : -1);
  }

  /** The question would close this box for good, which has to come back with its line. */
  private async askToReveal(): Promise<void> {
    const { box } = this;
    this.isAside = true;
    box.hide();
    try {
      await vscode.commands.executeCommand(commandIds.reveal, this.ids[this.at]);
    } finally {
      box.show();
      this.isAside = false;
      // VS Code empties the list of a box that comes back.
      this.draw();
    }
  }

  /** Goes on by some instances; after the last one the box closes. */
  private turn(by: number): void {
    const { catalogue, ids } = this;
    this.at = Math.max(this.at + by, 0);
    const id = ids[this.at];
    if (id === undefined) {
      this.box.hide();
      return;
    }
    this.before = lineOf(catalogue.triageOf(id));
    const isRenewed = by !== 0 && this.before !== '';
    if (isRenewed) this.renewBox();
    const { box } = this;
    const entry = catalogue.entry(id);
    const title = entry === undefined ? '' : issueTitle(entry);
    box.title = [id, title].filter((each) => each !== '').join(' · ');
    box.step = this.at + 1;
    box.totalSteps = ids.length;
    box.buttons = [...(this.at > 0 ? [vscode.QuickInputButtons.Back] : []), this.reveal, this.skip];
    box.value = this.before;
    this.draw();
    if (isRenewed) box.show();
    // The box keeps the keyboard.
    void vscode.commands.executeCommand(commandIds.showIssue, id, { inPassing: true });
  }

  private draw(): void {
    const { box, before, numbered } = this;
    const rows = judgementRows({ text: box.value, before, numbered });
    box.items = rows.map((row) => ({ ...iconBeside(row), alwaysShow: true }));
    box.activeItems = box.items.slice(0, 1);
  }

  private async accept(): Promise<void> {
    const { box, ids } = this;
    const [row] = box.activeItems;
    const id = ids[this.at];
    if (row === undefined || id === undefined || !row.goesOn || box.busy) return;
    if (row.says !== undefined && !(await this.keep(id, row.says))) return;
    this.turn(1);
  }

  /** Writes a judgement. @returns whether it is written; otherwise the line stays as it is */
  private async keep(id: string, { tags, reason }: Judgement): Promise<boolean> {
    const { box, catalogue } = this;
    box.busy = true;
    try {
      await changeTriage(catalogue, [id], (entry) => ({ ...entry, tags, note: reason }));
      this.numbered = [...new Set([...this.numbered, ...tags])];
      return true;
    } catch (error) {
      void vscode.window.showErrorMessage(
        withoutLinkMarkup(problemText(ofSetting(error, settingKeys.triageFile))),
      );
      return false;
    } finally {
      box.busy = false;
    }
  }
}
