import * as vscode from 'vscode';
import { HumanError } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';
import { mcpProviderId, settingKeys } from '../shell/names';
import type { McpInstance } from './mcpServer';

/** A server as far as it is known; undefined when there is none to be started. */
export type FindServer = (
  instance: McpInstance,
) => Promise<vscode.McpStdioServerDefinition | undefined>;

/** The settings that a server is started with. */
const settings = [
  ...[settingKeys.engine, settingKeys.python, settingKeys.storage, settingKeys.timeout],
  settingKeys.runModelTestsLocally,
  'swt-bench.docker',
];

/**
 * Tells VS Code of the MCP server of the open instance, so that agents which know only such servers can
 * work on it. There is none without an open instance or in a workspace that is not trusted.
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
        // What it was told of may be of before a setting was changed.
        resolveMcpServerDefinition: async () => (await this.provide(true))[0],
      }),
    ];
  }

  /** An instance was opened. */
  tell(): void {
    this.changed.fire();
  }

  /**
   * The servers that there are.
   *
   * @throws HumanError when `isToStart` and a setting cannot be used
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
