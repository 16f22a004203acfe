import * as vscode from 'vscode';
import { confirm } from '../shell/confirm';

/**
 * The instances whose X*, T* and later hints the person asked to see. Stored permanently, by
 * instance and not by window. What was seen once cannot be unseen, and a verdict on tests written
 * later must be read with that in mind.
 */
export class Revealed implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<string>();
  /** Fires with the id of the instance. */
  readonly onDidChange = this.changed.event;

  constructor(private readonly memory: vscode.Memento) {}

  has(id: string): boolean {
    return this.memory.get<boolean>(keyOf(id), false);
  }

  /** Whether it was ever revealed, even if it is hidden again. */
  hasBeen(id: string): boolean {
    return this.memory.get<boolean>(`${keyOf(id)}.ever`, false);
  }

  async set(id: string, revealed: boolean): Promise<void> {
    await this.memory.update(keyOf(id), revealed ? true : undefined);
    if (revealed) await this.memory.update(`${keyOf(id)}.ever`, true);
    this.changed.fire(id);
  }

  /**
   * Asks before revealing, unless it is revealed already.
   *
   * @param command what needs the answer; undefined where revealing is all it does
   * @returns whether it is revealed now
   */
  async ask(id: string, command?: string): Promise<boolean> {
    if (this.has(id)) return true;
    const isConfirmed = await confirm(
      command === undefined
        ? vscode.l10n.t('This reveals the fix, golden tests and hints of {0}.', id)
        : vscode.l10n.t(
            '“{0}” reveals the fix, golden tests and hints of {1}.',
            command.replace(/…$/, ''),
            id,
          ),
      vscode.l10n.t('Show Fix'),
      vscode.l10n.t('You cannot unsee them. This is recorded, and exports mention it.'),
    );
    if (isConfirmed) await this.set(id, true);
    return isConfirmed;
  }

  dispose(): void {
    this.changed.dispose();
  }
}

const keyOf = (id: string): string => `revealed.${id}`;
