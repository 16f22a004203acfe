import * as vscode from 'vscode';
import { HumanError, type Reporter } from '../../domain/work';
import { settingGroups } from '../../engine/engines';
import { mcpProviderId, settingKeys } from '../shell/names';
import type { McpInstance } from './mcpServer';

/** Finds the server that is to be offered; undefined when there is none. */
export type FindServer = (
  instance: McpInstance,
) => Promise<vscode.McpStdioServerDefinition | undefined>;

/** The settings that the start of a server depends on. */
const settings = [
  ...[settingKeys.engine, settingKeys.storage, settingKeys.timeout],
  settingKeys.runModelTestsLocally,
  ...settingGroups().flatMap(({ all }) => all.map(({ id }) => id)),
];

/**
 * Registers the MCP server of the open instance with VS Code, for agents that know only MCP
 * servers. Offers none without an open instance or in a workspace that is not trusted.
 */
export class McpProvider implements vscode.Disposable {
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
