import { settingGroups } from '../../engine/engines';
import * as vscode from 'vscode';
import { type Reporter, HumanError } from '../../domain/work';
import {
  commandIds,
  mcpProviderId,
  settingKeys,
  idOfTool,
  modelToolNames,
  chatParticipantId,
} from '../shell/names';
import { windowConfiguration } from '../shell/configurationFile';
import { showProblem } from '../shell/problems';
import type { WorkspaceTools } from './workspaceTools';
import type { McpInstance } from './mcpServer';
import type { InstanceForModels } from './instanceForModels';

/** The language-model tools, the MCP server and `@swt`, which this window offers to models. */
export interface ForAgents extends vscode.Disposable {
  /** Announces that an instance was opened. */
  tell(): void;
  /** Ends the calls under way. */
  close(): Promise<void>;
}

/** @param opened resolves when it is known whether an instance is open */
export function offerToAgents(
  context: vscode.ExtensionContext,
  opened: () => Promise<(InstanceForModels & McpInstance) | undefined>,
  reporter: Reporter,
): ForAgents {
  let made: Promise<WorkspaceTools> | undefined;
  const tools = registerTools(
    () =>
      (made ??= import('../shell/parts').then(
        (parts) => new parts.WorkspaceTools({ opened, reporter }),
      )),
  );
  const mcp = new McpProvider(
    opened,
    async (instance) => (await import('../shell/parts')).mcpServer(instance, context.extension),
    reporter,
  );
  const copy = vscode.commands.registerCommand(commandIds.copyMcp, async () => {
    try {
      const { copyMcpConfiguration } = await import('../shell/parts');
      await copyMcpConfiguration(await opened(), context.extension);
    } catch (error) {
      showProblem(error, reporter);
    }
  });
  const participant = offerChatParticipant(opened, reporter);
  return {
    tell: () => mcp.tell(),
    close: async () => (await made)?.close(),
    dispose: () => {
      for (const each of [tools, mcp, copy, participant]) each.dispose();
    },
  };
}

/** Finds the server that is to be offered; undefined when there is none. */
type FindServer = (instance: McpInstance) => Promise<vscode.McpStdioServerDefinition | undefined>;

/** The settings that the start of a server depends on. */
const settings = [
  settingKeys.engine,
  settingKeys.storage,
  settingKeys.timeout,
  settingKeys.runModelTestsLocally,
  ...settingGroups().flatMap(({ all }) => all.map(({ id }) => id)),
];

/**
 * Registers the MCP server of the open instance with VS Code, for agents that know only MCP
 * servers. Offers none without an open instance or in a workspace that is not trusted.
 */
class McpProvider implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly subscriptions: readonly vscode.Disposable[];

  /** @param opened resolves when it is known whether an instance is open */
  constructor(
    private readonly opened: () => Promise<McpInstance | undefined>,
    private readonly find: FindServer,
    private readonly reporter: Reporter,
  ) {
    const tell = (): void => this.changed.fire();
    this.subscriptions = [
      this.changed,
      vscode.workspace.onDidGrantWorkspaceTrust(tell),
      windowConfiguration.onDidChange(tell),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (settings.some((key) => event.affectsConfiguration(key))) tell();
      }),
      vscode.lm.registerMcpServerDefinitionProvider(mcpProviderId, {
        onDidChangeMcpServerDefinitions: this.changed.event,
        provideMcpServerDefinitions: () => this.provide(),
        // A setting may have changed since the definition was provided.
        resolveMcpServerDefinition: async () => (await this.provide(true))[0],
      }),
    ];
  }

  /** Announces that an instance was opened. */
  tell(): void {
    this.changed.fire();
  }

  /**
   * The servers on offer.
   *
   * @throws HumanError when `isToStart` and a setting is invalid
   */
  async provide(isToStart = false): Promise<vscode.McpStdioServerDefinition[]> {
    if (!vscode.workspace.isTrusted) return [];
    const instance = await this.opened();
    if (instance === undefined) return [];
    try {
      const server = await this.find(instance);
      return server === undefined ? [] : [server];
    } catch (error) {
      if (isToStart || !(error instanceof HumanError)) throw error;
      this.reporter.log(`MCP server: ${error.message}`);
      return [];
    }
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

/**
 * Offers the tools to the agents of this VS Code.
 *
 * @param load imports the implementation at the first call
 */
function registerTools(load: () => Promise<WorkspaceTools>): vscode.Disposable {
  return vscode.Disposable.from(
    ...modelToolNames.map((name) =>
      vscode.lm.registerTool<object>(idOfTool(name), {
        prepareInvocation: async () => (await load()).prepare(name),
        invoke: async (options, token) => (await load()).invoke(name, options, token),
      }),
    ),
  );
}

/**
 * Offers `@swt` in the chat.
 *
 * @param opened resolves when it is known whether an instance is open
 */
function offerChatParticipant(
  opened: () => Promise<InstanceForModels | undefined>,
  reporter: Reporter,
): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(
    chatParticipantId,
    async (request, context, stream, token) => {
      const open = await opened();
      const { answerChat } = await import('../shell/parts');
      return answerChat({ request, context, stream, token }, open, reporter);
    },
  );
  participant.iconPath = new vscode.ThemeIcon('beaker');
  participant.followupProvider = {
    provideFollowups: async (result) => (await import('../shell/parts')).followupsOf(result),
  };
  return participant;
}
