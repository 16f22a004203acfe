import * as vscode from 'vscode';
import type { Reporter } from '../../../domain/work';
import { commandIds } from '../names';
import type { OpenInstance } from '../../instance/openInstance';
import { showProblem } from '../problems';
import { McpProvider } from '../../tools/mcpProvider';
import { registerTools } from '../../tools/register';
import type { WorkspaceTools } from '../../tools/workspaceTools';

/** The language-model tools and the MCP server that this window offers to agents. */
export interface ForAgents extends vscode.Disposable {
  /** Announces that an instance was opened. */
  tell(): void;
  /** Ends the calls under way. */
  close(): Promise<void>;
}

/** @param opened resolves when it is known whether an instance is open */
export function offerToAgents(
  context: vscode.ExtensionContext,
  opened: () => Promise<OpenInstance | undefined>,
  reporter: Reporter,
): ForAgents {
  let made: Promise<WorkspaceTools> | undefined;
  const tools = registerTools(
    () =>
      (made ??= import('../parts').then((parts) => new parts.WorkspaceTools({ opened, reporter }))),
  );
  const mcp = new McpProvider(
    opened,
    async (instance) => (await import('../parts')).mcpServer(instance, context.extension),
    reporter,
  );
  const copy = vscode.commands.registerCommand(commandIds.copyMcp, async () => {
    try {
      const { copyMcpConfiguration } = await import('../parts');
      await copyMcpConfiguration(await opened(), context.extension);
    } catch (error) {
      showProblem(error, reporter);
    }
  });
  return {
    tell: () => mcp.tell(),
    close: async () => (await made)?.close(),
    dispose: () => {
      tools.dispose();
      mcp.dispose();
      copy.dispose();
    },
  };
}
