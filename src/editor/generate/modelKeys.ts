import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { keyOfEnvironment, keyVariables, useKey } from '../../engine/keysInUse';
import { withoutLinkMarkup } from '../shell/plainText';
import { settingKeys } from '../shell/names';
import { keyIdOf, type KeyHolder } from './modelSettings';
import { configuredKeyHolders } from './settings';
import { confirm } from '../shell/confirm';

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

  /** Asks for the key of a model and stores it. @returns whether the user gave one */
  async ask(model: KeyHolder): Promise<boolean> {
    const key = await vscode.window.showInputBox({
      title: vscode.l10n.t('API Key of {0}', keyIdOf(model)),
      prompt: vscode.l10n.t('Stored in the secret storage of VS Code, and nowhere else.'),
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) =>
        text.trim() === '' || /\s/.test(text.trim())
          ? vscode.l10n.t('An API key contains no spaces')
          : undefined,
    });
    if (key === undefined) return false;
    const id = keyIdOf(model);
    await this.secrets.store(secretOf(id), key.trim());
    await this.memory.update(listed, [...new Set([...this.ids(), id])]);
    return true;
  }

  /** Runs *Manage API Keys…*: lists the models, and sets or deletes the key of the chosen one. */
  async manage(): Promise<void> {
    const models = new Map(configuredKeyHolders().map((model) => [keyIdOf(model), model]));
    // A key may have outlived its model.
    const ids = [...new Set([...models.keys(), ...this.ids()])];
    if (ids.length === 0) {
      throw new HumanError(
        vscode.l10n.t('The setting {0} is empty', settingKeys.models),
        vscode.l10n.t('Add a model there. Models provided by VS Code need no API key here'),
      );
    }
    const items = await Promise.all(
      ids.map(async (label) => {
        const model = models.get(label);
        const origin = model === undefined ? 'kept' : await this.originOf(model);
        return { label, description: originInWords(origin), model, origin };
      }),
    );
    const chosen = await vscode.window.showQuickPick(items, {
      title: vscode.l10n.t('Manage API Keys'),
      placeHolder: vscode.l10n.t('Select a model to set or delete its API key'),
    });
    if (chosen === undefined) return;
    const { label: id, model, origin } = chosen;
    const set = vscode.l10n.t('Set API Key…');
    const remove = vscode.l10n.t('Delete API Key');
    const does =
      origin !== 'kept'
        ? set
        : await vscode.window.showQuickPick(model === undefined ? [remove] : [set, remove], {
            title: id,
          });
    if (does === set && model !== undefined && (await this.ask(model))) {
      this.say(vscode.l10n.t('Stored the API key of {0}.', id));
    } else if (does === remove && (await mayDelete(id))) {
      await this.secrets.delete(secretOf(id));
      await this.memory.update(
        listed,
        this.ids().filter((each) => each !== id),
      );
      this.say(vscode.l10n.t('Deleted the API key of {0}.', id));
    }
  }

  private say(text: string): void {
    void vscode.window.showInformationMessage(withoutLinkMarkup(text));
  }

  private ids(): readonly string[] {
    return this.memory.get<readonly string[]>(listed, []);
  }
}

const mayDelete = (id: string): Promise<boolean> =>
  confirm(
    vscode.l10n.t('This deletes the API key of {0}.', id),
    vscode.l10n.t('Delete'),
    vscode.l10n.t('Its models need a new one.'),
  );

/** Says that a key is stored, where else it comes from, or that there is none. */
export function originInWords(origin: KeyOrigin): string {
  switch (origin) {
    case 'kept':
      return vscode.l10n.t('API key stored');
    case 'environment':
      return vscode.l10n.t('API key from the environment');
    case 'none':
      return vscode.l10n.t('no API key');
  }
}

/** Key of the list of names that have a stored key. */
const listed = 'modelKeys';

const secretOf = (id: string): string => `modelKey.${id}`;
