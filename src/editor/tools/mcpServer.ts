import { stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { HumanError } from '../../domain/work';
import { variablesOf } from '../../engine/engines';
import type { WorkspaceMarker } from '../../repository/workspace';
import { distOf } from '../instance/warmSession';
import { withoutLinkMarkup } from '../shell/plainText';
import { engineSettings, storageFolder, timeoutSeconds } from '../shell/settings';
import { allowsLocally } from './testsOfModels';
import { mcpArguments } from './mcpArguments';

/** The instance that a server serves. */
export interface McpInstance {
  readonly folder: vscode.WorkspaceFolder;
  readonly marker: WorkspaceMarker;
  /** The name that models see in place of the id (see method/alias.ts). @throws HumanError */
  readonly alias: () => Promise<string>;
}

/**
 * The definition that starts `swt-bench mcp` for an open instance, with the Node.js of this VS
 * Code. Undefined where its dataset is unavailable, as in a container.
 *
 * @throws HumanError naming a setting whose value is invalid
 */
export async function mcpServer(
  { folder, marker, alias }: McpInstance,
  extension: vscode.Extension<unknown>,
): Promise<vscode.McpStdioServerDefinition | undefined> {
  const { id, dataset, sources } = marker;
  if (isAbsolute(dataset) && !(await isThere(dataset))) return undefined;
  const request = {
    id,
    dataset,
    sources,
    storage: storageFolder(),
    timeoutSeconds: timeoutSeconds(folder.uri),
    engine: engineSettings(folder.uri),
    runTestsLocally: allowsLocally(),
  };
  const server = new vscode.McpStdioServerDefinition(
    // VS Code derives the names of its tools, which models see, from this label.
    vscode.l10n.t('SWT-Bench: {0}', await alias()),
    process.execPath,
    [join(distOf(extension.extensionPath), 'cli.js'), ...mcpArguments(request)],
    // On a desktop the executable is VS Code itself. In a server it is Node.js, which ignores this
    // variable.
    { ELECTRON_RUN_AS_NODE: '1' },
    (extension.packageJSON as { readonly version: string }).version,
  );
  server.cwd = folder.uri;
  return server;
}

/**
 * Copies the configuration that registers this instance's MCP server with other agents. It has the
 * format of Claude Code (`.mcp.json`), Cursor (`.cursor/mcp.json`) and others.
 *
 * @throws HumanError
 */
export async function copyMcpConfiguration(
  open: McpInstance | undefined,
  extension: vscode.Extension<unknown>,
): Promise<void> {
  if (open === undefined) {
    throw new HumanError(
      vscode.l10n.t('No instance is open'),
      vscode.l10n.t('Open one from the Instances view first'),
    );
  }
  if (!vscode.workspace.isTrusted) {
    throw new HumanError(
      vscode.l10n.t('This workspace is not trusted, and its settings would control the server'),
      vscode.l10n.t('Trust it first'),
    );
  }
  const server = await mcpServer(open, extension);
  if (server === undefined) {
    throw new HumanError(
      vscode.l10n.t('The dataset of {0} is not available here', open.marker.id),
      vscode.l10n.t('Open the workspace where the dataset is'),
    );
  }
  const { command, args } = server;
  const { name } = engineSettings(open.folder.uri);
  // Other agents start a server with few variables.
  const env = { ...server.env, ...variablesOf(name, process.env) };
  const configuration = { mcpServers: { 'swt-bench': { command, args, env } } };
  await vscode.env.clipboard.writeText(`${JSON.stringify(configuration, null, 2)}\n`);
  const text = vscode.l10n.t(
    'Copied the configuration of the MCP server of {0}. Paste it into .mcp.json (Claude Code) or .cursor/mcp.json (Cursor).',
    open.marker.id,
  );
  void vscode.window.showInformationMessage(withoutLinkMarkup(text));
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
