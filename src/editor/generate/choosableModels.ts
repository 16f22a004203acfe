import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import {
  type Price,
  CallsNoTools,
  ModelUnusable,
  type ChatModel,
  type EmbeddingModel,
  type EmbeddingUse,
  openEmbeddingModel,
  openModel,
  openUpstream,
  parseModelName,
  type ModelUpstream,
  type Provider,
} from '../../method/models';
import { afterAWhile } from '../shell/progress';
import { storageFolder } from '../shell/settings';
import { settingKeys } from '../shell/names';
import { addModel } from './addModel';
import { callsTools, editorModel, editorModelName } from './editorModel';
import type { Priced } from './estimatedCost';
import { ModelKeys, originInWords } from './modelKeys';
import type { ConfiguredModel, KeyHolder } from './modelSettings';
import { configuredModel, configuredModels, requestRetries } from './settings';

/** A chosen model before its first request. */
export interface ChosenModel {
  /** `PROVIDER/NAME`, or `vscode/VENDOR/ID`. */
  readonly name: string;
  readonly price: Price | undefined;
  /** Address of its server; undefined for the default of its provider. */
  readonly baseUrl?: string | undefined;
  /** Maximum number of tokens of its input; undefined if unknown. */
  readonly maxInputTokens: number | undefined;
  /** @throws HumanError when it has no key; Cancelled when the user gives none */
  open(options: { readonly timeoutSeconds: number }): Promise<ChatModel>;
  /** Where requests of a program go, as `open`; absent of models that only VS Code can ask. */
  openUpstream?(options: { readonly timeoutSeconds: number }): Promise<ModelUpstream>;
}

/** The embedding model of a run before its first request. */
export interface ChosenEmbedding {
  readonly use: EmbeddingUse;
  /** @throws HumanError when it has no key; Cancelled when the user gives none */
  open(options: { readonly timeoutSeconds: number }): Promise<EmbeddingModel>;
}

interface Item extends vscode.QuickPickItem {
  readonly choice?: ChosenModel | 'add';
}

interface Choosing {
  /** Whether to leave out models that call no tools, as far as that is known. */
  readonly needsTools: boolean;
  /** An agent that sends its own requests, and the providers whose models it can ask. */
  readonly asking?: { readonly title: string; readonly providers: readonly Provider[] } | undefined;
  /** What the work costs with a model. */
  readonly costOf: (model: Priced | undefined) => string;
}

/** The models that the user can choose: those of VS Code, and those of the settings. */
export class ChoosableModels {
  readonly keys: ModelKeys;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly reporter: Reporter,
  ) {
    this.keys = new ModelKeys(context.secrets, context.globalState);
  }

  /**
   * Lets the user choose a model.
   *
   * @returns undefined when they cancel
   */
  async choose(title: string, options: Choosing): Promise<ChosenModel | undefined> {
    const items = await this.items(options);
    const chosen = await vscode.window.showQuickPick<Item>(items, {
      title,
      matchOnDescription: true,
      ...(options.asking !== undefined && {
        placeHolder: vscode.l10n.t(
          'Only models from your settings, because the agent sends its own requests',
        ),
      }),
    });
    const choice = chosen?.choice === 'add' ? await this.add() : chosen?.choice;
    if (choice !== undefined) await this.context.globalState.update(lastModel, choice.name);
    return choice;
  }

  private async add(): Promise<ChosenModel | undefined> {
    const added = await addModel({
      keys: this.keys,
      test: async (model) => {
        const opened = await this.ofSettings(model, { count: 0, firstWaitMs: 0 }).open({
          timeoutSeconds: 60,
        });
        const request = { system: '', temperature: undefined, maxOutputTokens: 200 };
        const messages = [{ role: 'user', content: 'Answer with the word yes.' } as const];
        await opened.complete({ ...request, messages }, { reporter: this.reporter });
      },
    });
    return added && this.ofSettings(added);
  }

  /** The models, those of VS Code first, and of each kind the one that was chosen last. */
  private async items({ needsTools, asking, costOf }: Choosing): Promise<Item[]> {
    const { models: configured, problems } = configuredModels();
    const models = configured.filter(
      ({ provider }) => asking?.providers.includes(provider) ?? true,
    );
    const offered = asking === undefined ? await chatModels() : [];
    for (const each of problems) this.reporter.log(`${settingKeys.models}: ${each}`);
    const last = this.context.globalState.get<string>(lastModel);
    const lastFirst = (items: readonly Item[]): Item[] =>
      [...items].sort((a, b) => Number(isOf(b, last)) - Number(isOf(a, last)));
    const chats = needsTools ? offered.filter(callsTools) : offered;
    const ofEditor = chats.map((chat): Item => ({
      label: chat.name,
      description: editorModelName(chat),
      detail: costOf(undefined),
      choice: ofChat(chat),
    }));
    const ofSettings = await Promise.all(
      models.map(async (model): Promise<Item> => ({
        label: model.name,
        description: [model.baseUrl ?? '', originInWords(await this.keys.originOf(model))]
          .filter((each) => each !== '')
          .join(' · '),
        detail: costOf(pricedOf(model)),
        choice: this.ofSettings(model),
      })),
    );
    return [
      ...(ofEditor.length === 0 ? [] : [separator(vscode.l10n.t('from VS Code'))]),
      ...lastFirst(ofEditor),
      separator(vscode.l10n.t('from your settings')),
      ...lastFirst(ofSettings),
      {
        label: vscode.l10n.t('Add a Model…'),
        description:
          problems.length === 0
            ? vscode.l10n.t('OpenAI, Anthropic, Google, or an OpenAI-compatible server')
            : vscode.l10n.t('{0} invalid entries: see the log', problems.length),
        choice: 'add',
      },
    ];
  }

  /** The model that was chosen last, where its price is known. */
  lastPriced(): Priced | undefined {
    const last = this.context.globalState.get<string>(lastModel);
    const model = configuredModels().models.find(({ name }) => name === last);
    return model === undefined ? undefined : pricedOf(model);
  }

  /**
   * A model by its name.
   *
   * @throws HumanError when none has it, or the agent that asks itself cannot ask it
   */
  async byName(name: string, asking?: Choosing['asking']): Promise<ChosenModel> {
    if (asking !== undefined && !asking.providers.some((each) => name.startsWith(`${each}/`))) {
      throw new HumanError(
        vscode.l10n.t('{0} cannot use the model {1}', asking.title, name),
        vscode.l10n.t(
          'It sends its own requests. Choose a model from your settings, of {0}',
          asking.providers.join(', '),
        ),
      );
    }
    if (!name.startsWith('vscode/')) return this.ofSettings(configuredModel(name));
    const chat = (await chatModels()).find((each) => editorModelName(each) === name);
    if (chat !== undefined) return ofChat(chat);
    throw new HumanError(
      vscode.l10n.t('VS Code does not currently offer the model {0}', name),
      vscode.l10n.t('Sign in to its provider, or choose another model'),
    );
  }

  private ofSettings(model: ConfiguredModel, tries = requestRetries()): ChosenModel {
    const { name, baseUrl, price, window } = model;
    return {
      name,
      price,
      baseUrl,
      maxInputTokens: undefined,
      openUpstream: async ({ timeoutSeconds }) => {
        const key = await this.keyOf(model, name);
        return openUpstream({ name, baseUrl, price, key, timeoutSeconds });
      },
      open: async ({ timeoutSeconds }) => {
        const key = await this.keyOf(model, name);
        const opened = await openModel({
          name,
          baseUrl,
          price,
          window,
          key,
          timeoutSeconds,
          retries: tries,
          stream: true,
          storage: storageFolder(),
        });
        return {
          ...opened,
          complete: withAdvice(name, settingKeys.models, (request, work) =>
            opened.complete(request, work),
          ),
        };
      },
    };
  }

  /** An embedding model. @throws HumanError when it has no address */
  embedding(use: EmbeddingUse): ChosenEmbedding {
    const { name, baseUrl } = use;
    const { provider } = parseModelName(name);
    if (provider === 'openai-compatible' && baseUrl === undefined) {
      throw new HumanError(
        vscode.l10n.t('The embedding model {0} has no server address', name),
        vscode.l10n.t('Set {0}, such as http://localhost:11434/v1', settingKeys.embeddingBaseUrl),
      );
    }
    return {
      use,
      open: async ({ timeoutSeconds }) => {
        const key = await this.keyOf({ provider, baseUrl }, name);
        const opened = await openEmbeddingModel({
          name,
          baseUrl,
          key,
          timeoutSeconds,
          retries: requestRetries(),
        });
        return {
          name,
          embed: withAdvice(name, settingKeys.embeddingModel, (texts, work) =>
            opened.embed(texts, work),
          ),
        };
      },
    };
  }

  /**
   * The key of a model, which the user is asked for where it needs one and has none.
   *
   * @throws HumanError when the user gives none
   */
  private async keyOf(model: KeyHolder, name: string): Promise<string | undefined> {
    const needsKey = model.provider !== 'openai-compatible';
    if (needsKey && (await this.keys.originOf(model)) === 'none') {
      if (!(await this.keys.ask(model))) {
        throw new HumanError(
          vscode.l10n.t('{0} has no API key', name),
          vscode.l10n.t('Run "SWT-Bench: Manage API Keys…"'),
        );
      }
    }
    return this.keys.get(model);
  }
}

const lastModel = 'generate.model';

const separator = (label: string): Item => ({ label, kind: vscode.QuickPickItemKind.Separator });

const pricedOf = ({ name, price }: ConfiguredModel): Priced | undefined =>
  price === undefined ? undefined : { name, price };

const isOf = ({ choice }: Item, name: string | undefined): boolean =>
  typeof choice === 'object' && choice.name === name;

/** Chat models of VS Code; none when chat is switched off. Their extensions may have to start. */
const chatModels = (): Promise<vscode.LanguageModelChat[]> =>
  afterAWhile(vscode.l10n.t('Searching for models'), () =>
    Promise.resolve(vscode.lm.selectChatModels()).catch(() => []),
  );

const ofChat = (chat: vscode.LanguageModelChat): ChosenModel => ({
  name: editorModelName(chat),
  price: undefined,
  maxInputTokens: chat.maxInputTokens,
  open: ({ timeoutSeconds }) => Promise.resolve(editorModel(chat, { timeoutSeconds })),
});

/**
 * The same requests of a model with errors that give advice for the editor instead of the command
 * line.
 */
const withAdvice =
  <Asked extends readonly unknown[], Answer>(
    name: string,
    setting: string,
    ask: (...asked: Asked) => Promise<Answer>,
  ) =>
  async (...asked: Asked): Promise<Answer> => {
    try {
      return await ask(...asked);
    } catch (error) {
      // A model without tools needs no advice about keys.
      if (!(error instanceof ModelUnusable) || error instanceof CallsNoTools) throw error;
      throw new ModelUnusable(
        `${name}: ${error.what}`,
        vscode.l10n.t(
          'Check its API key ("SWT-Bench: Manage API Keys…") and the setting {0}',
          setting,
        ),
      );
    }
  };
