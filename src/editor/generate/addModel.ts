import * as vscode from 'vscode';
import { messageOf } from '../../domain/work';
import { type Provider, providers } from '../../method/models';
import { settingKeys } from '../shell/names';
import { withoutLinkMarkup } from '../shell/plainText';
import type { ModelKeys } from './modelKeys';
import { readModelSettings, type ConfiguredModel } from './modelSettings';

const titles: Readonly<Record<Provider, string>> = {
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  'openai-compatible': 'vLLM, Ollama, llama.cpp, LM Studio, …',
};

interface AddModelParts {
  readonly keys: ModelKeys;
  /** Sends a small request to a model. @throws with the reason when it gets no answer */
  readonly test: (model: ConfiguredModel) => Promise<void>;
}

/**
 * Adds a model to the settings: asks for provider, name, address and API key, and sends a small
 * request. A model that does not answer is added only if the user wants it.
 *
 * @returns undefined when the user cancels
 */
export async function addModel({
  keys,
  test,
}: AddModelParts): Promise<ConfiguredModel | undefined> {
  const title = vscode.l10n.t('Add Model');
  const picked = await vscode.window.showQuickPick(
    providers.map((label) => ({ label, description: titles[label] })),
    { title, placeHolder: vscode.l10n.t('Provider') },
  );
  if (picked === undefined) return undefined;
  const provider = picked.label;
  const baseUrl = provider === 'openai-compatible' ? await askForAddress(title) : '';
  if (baseUrl === undefined) return undefined;
  const name = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('Name of the model, as its provider writes it'),
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(entryOf(provider, text, baseUrl)),
  });
  if (name === undefined) return undefined;
  const entry = entryOf(provider, name, baseUrl);
  const [model] = readModelSettings([entry]).models;
  if (model === undefined) return undefined;
  const needsKey = provider !== 'openai-compatible';
  if (needsKey && (await keys.originOf(model)) === 'none' && !(await keys.ask(model))) {
    return undefined;
  }
  if (!(await answers(model, test))) return undefined;
  const settings = vscode.workspace.getConfiguration();
  const before: unknown = settings.inspect(settingKeys.models)?.globalValue;
  const others = (Array.isArray(before) ? (before as unknown[]) : []).filter(
    (each) => readModelSettings([each]).models[0]?.name !== model.name,
  );
  await settings.update(settingKeys.models, [...others, entry], vscode.ConfigurationTarget.Global);
  return model;
}

const entryOf = (provider: Provider, name: string, baseUrl: string): object => ({
  model: `${provider}/${name.trim()}`,
  ...(baseUrl !== '' && { baseUrl: baseUrl.trim() }),
});

/** What is wrong with an entry of the setting; undefined for nothing. */
const problemOf = (entry: object): string | undefined =>
  readModelSettings([entry]).problems[0]?.replace(/^entry 1: /, '');

const askForAddress = (title: string): Thenable<string | undefined> =>
  vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('Address of the server'),
    placeHolder: 'http://localhost:11434/v1',
    ignoreFocusOut: true,
    validateInput: (text) =>
      text.trim() === ''
        ? vscode.l10n.t('Enter an address')
        : problemOf(entryOf('openai-compatible', 'model', text)),
  });

/** Whether the model answers, or is to be added nevertheless. */
async function answers(model: ConfiguredModel, test: AddModelParts['test']): Promise<boolean> {
  const title = vscode.l10n.t('Testing {0}', model.name);
  try {
    await vscode.window.withProgress(
      { location: vscode.ProgressLocation.Notification, title },
      () => test(model),
    );
    return true;
  } catch (error) {
    const add = vscode.l10n.t('Add Anyway');
    const text = vscode.l10n.t('{0} did not answer: {1}', model.name, messageOf(error));
    return (await vscode.window.showErrorMessage(withoutLinkMarkup(text), add)) === add;
  }
}
