import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { keyOfEnvironment, keyVariables, useKey } from '../../engine/keysInUse';
import { withoutLinkMarkup } from '../shell/plainText';
import { keyIdOf, type KeyHolder } from './modelSettings';
import { configuredKeyHolders } from './settings';

/** Where the key of a model comes from; `none` where it has none. */
type KeyOrigin = 'kept' | 'environment' | 'none';

/**
 * Keys of models, in the secret storage of VS Code and nowhere else. Outside it there is only the
 * list of the names that have a key.
 */
export class ModelKeys {
  constructor(
    private readonly secrets: vscode.SecretStorage,
    private readonly memory: vscode.Memento,
  ) {}

  /** The stored key of a model; undefined when there is none. */
  async get(model: KeyHolder): Promise<string | undefined> {
    const key = await this.secrets.get(secretOf(keyIdOf(model)));
    if (key !== undefined) useKey(key);
    return key;
  }

  async originOf(model: KeyHolder): Promise<KeyOrigin> {
    if ((await this.get(model)) !== undefined) return 'kept';
    return keyOfEnvironment(keyVariables[model.provider]) === undefined ? 'none' : 'environment';
  }

  /** Asks for the key of a model and stores it. @returns whether the person gave one */
  async ask(model: KeyHolder): Promise<boolean> {
    const key = await vscode.window.showInputBox({
      title: vscode.l10n.t('Key of {0}', keyIdOf(model)),
      prompt: vscode.l10n.t('It is kept in the secret storage of VS Code, and nowhere else.'),
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) =>
        text.trim() === '' || /\s/.test(text.trim())
          ? vscode.l10n.t('A key contains no blanks')
          : undefined,
    });
    if (key === undefined) return false;
    const id = keyIdOf(model);
    await this.secrets.store(secretOf(id), key.trim());
    await this.memory.update(listed, [...new Set([...this.ids(), id])]);
    return true;
  }

  /** Runs *Set Key of a Model…*. */
  async set(): Promise<void> {
    const byId = new Map(configuredKeyHolders().map((model) => [keyIdOf(model), model]));
    if (byId.size === 0) {
      throw new HumanError(
        vscode.l10n.t('The setting {0} contains no model', 'swt-bench.models'),
        vscode.l10n.t('Add one there; models of VS Code itself need no key here'),
      );
    }
    const items = await Promise.all(
      [...byId].map(async ([id, model]) => ({
        label: id,
        description: originInWords(await this.originOf(model)),
        model,
      })),
    );
    const [only] = items;
    const chosen =
      items.length === 1
        ? only
        : await vscode.window.showQuickPick(items, { title: vscode.l10n.t('Key of Which Model?') });
    if (chosen === undefined || !(await this.ask(chosen.model))) return;
    void vscode.window.showInformationMessage(
      withoutLinkMarkup(vscode.l10n.t('The key of {0} is kept.', chosen.label)),
    );
  }

  /** Runs *Forget Keys of Models…*. */
  async forget(): Promise<void> {
    const ids = this.ids();
    if (ids.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('No key of a model is kept.'));
      return;
    }
    const chosen = await vscode.window.showQuickPick(
      ids.map((label) => ({ label, picked: true })),
      { title: vscode.l10n.t('Forget Which Keys?'), canPickMany: true },
    );
    if (chosen === undefined || chosen.length === 0) return;
    const gone = new Set(chosen.map(({ label }) => label));
    for (const id of gone) await this.secrets.delete(secretOf(id));
    await this.memory.update(
      listed,
      ids.filter((id) => !gone.has(id)),
    );
    void vscode.window.showInformationMessage(
      gone.size === 1
        ? vscode.l10n.t('1 key is forgotten.')
        : vscode.l10n.t('{0} keys are forgotten.', gone.size),
    );
  }

  private ids(): readonly string[] {
    return this.memory.get<readonly string[]>(listed, []);
  }
}

/** Says that a key is stored, where else it comes from, or that there is none. */
export function originInWords(origin: KeyOrigin): string {
  switch (origin) {
    case 'kept':
      return vscode.l10n.t('its key is kept');
    case 'environment':
      return vscode.l10n.t('its key comes from the environment');
    case 'none':
      return vscode.l10n.t('it has no key');
  }
}

/** Key of the list of names that have a stored key. */
const listed = 'modelKeys';

const secretOf = (id: string): string => `modelKey.${id}`;
