import * as vscode from 'vscode';

/**
 * For which instances a person has asked to see X*, T* and later hints. Remembered for good, by
 * instance and not by window: what was seen once cannot be unseen, and a verdict on tests written
 * afterwards is to be read with that in mind.
 */
export class Revealed implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<string>();
  /** Fires with the id of the instance. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly memory: vscode.Memento) {}

  has(id: string): boolean {
    return this.memory.get<boolean>(keyOf(id), false);
  }

  /** Whether it was revealed at any time, hidden again or not. */
  hasBeen(id: string): boolean {
    return this.memory.get<boolean>(`${keyOf(id)}.ever`, false);
  }

  async set(id: string, revealed: boolean): Promise<void> {
    await this.memory.update(keyOf(id), revealed ? true : undefined);
    if (revealed) await this.memory.update(`${keyOf(id)}.ever`, true);
    this.changed.fire(id);
  }

  /** Asks before revealing, unless it is revealed already. @returns whether it is revealed then */
  async ask(id: string, title: string): Promise<boolean> {
    if (this.has(id)) return true;
    const reveal = vscode.l10n.t('Reveal golden patch, golden tests and hints of {0}', id);
    const answer = await vscode.window.showQuickPick(
      [
        {
          label: reveal,
          detail: vscode.l10n.t(
            'They give the fix away. It is remembered that you have seen them.',
          ),
        },
        { label: vscode.l10n.t('Keep them hidden') },
      ],
      // Asked from a walkthrough, whose page takes the focus back when it is drawn anew.
      { title, ignoreFocusOut: true },
    );
    if (answer?.label !== reveal) return false;
    await this.set(id, true);
    return true;
  }

  dispose(): void {
    this.changed.dispose();
  }
}

const keyOf = (id: string): string => `revealed.${id}`;
