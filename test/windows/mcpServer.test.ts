import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { mcpServer } from '../../src/editor/tools/mcpServer';
import { aliasOf } from '../../src/method/view/alias';
import { readMarker } from '../../src/repository/workspace';
import { answers, confirmed } from './calledTools';
import { folder } from './customDiffWorkspace';
import { answerDialog, inQuickInput, visible, waitFor } from './host/client';

let alias = '';
before(async () => {
  const row = JSON.parse(
    await readFile(join(process.env['SWT_BENCH_SAMPLE'] ?? '', 'instance.jsonl'), 'utf8'),
  ) as { readonly repo: string; readonly problem_statement: string };
  alias = aliasOf({ repo: row.repo, issue: row.problem_statement });
});

async function definition(): Promise<vscode.McpStdioServerDefinition> {
  const extension = vscode.extensions.getExtension('swt-bench.swt-bench');
  const marker = await readMarker(folder().uri.fsPath);
  assert.ok(extension && marker);
  const server = await mcpServer(
    { folder: folder(), marker, alias: () => Promise.resolve(alias) },
    extension,
  );
  assert.ok(server);
  return server;
}

describe('the MCP server of the open instance', () => {
  it('is started by what VS Code is told, and serves the tools over stdio', async () => {
    const { command, args, env, cwd } = await definition();
    const transport = new StdioClientTransport({
      command,
      args,
      env: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)])),
      cwd: cwd?.fsPath ?? '/',
      stderr: 'pipe',
    });
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(transport);
    const call = async (name: string, input: Record<string, unknown> = {}): Promise<string> => {
      const { content } = await client.callTool({ name, arguments: input });
      const text = (content as { text: string }[])[0]?.text ?? '';
      answers.push(text);
      return text;
    };
    try {
      assert.equal((await client.listTools()).tools.length, 9);
      assert.match(await call('read_issue'), new RegExp(`instance ${alias}`));
      const ran = await call('run_tests', { tests: ['tests/test_money.py'] });
      assert.match(ran, /^On the current repository, without a candidate: \d+ passed/);
    } finally {
      await client.close();
    }
  });

  it('takes the settings of the engine with it', async () => {
    const settings = vscode.workspace.getConfiguration('swt-bench');
    await settings.update('timeout', 77, vscode.ConfigurationTarget.Workspace);
    try {
      const { args } = await definition();
      assert.deepEqual(args.slice(args.indexOf('--timeout')), [
        ...['--timeout', '77', '--engine', 'local', '--run-tests-locally'],
      ]);
    } finally {
      await settings.update('timeout', undefined, vscode.ConfigurationTarget.Workspace);
    }
  });

  it('is copied as the configuration of other agents', async () => {
    await vscode.commands.executeCommand('swt-bench.copyMcpConfiguration');
    const copied = JSON.parse(await vscode.env.clipboard.readText()) as unknown;
    const { command, args, env } = await definition();
    assert.deepEqual(copied, { mcpServers: { 'swt-bench': { command, args, env } } });
  });

  it('is among the servers of VS Code, which starts it and calls its tools', async () => {
    void vscode.commands.executeCommand('workbench.mcp.listServer');
    await inQuickInput.choose(`SWT-Bench: ${alias}`);
    const actions = await waitFor('what can be done with it', async () => {
      const labels = ((await visible.quickInput())?.items ?? []).map(({ label }) => label);
      return labels.some((label) => /^St(art|op) Server$/.test(label)) ? labels : undefined;
    });
    // If a chat has been opened, it has started the server.
    if (actions.includes('Start Server')) await inQuickInput.choose('Start Server');
    else await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    const ofServer = await waitFor('the tools of the server', async () => {
      // VS Code asks whether it may run a server of an extension.
      if ((await visible.dialog())?.buttons.includes('Trust') === true) {
        await answerDialog('Trust', 'Trust and run', 'mcp-trust-dialog');
      }
      return vscode.lm.tools.filter(({ name }) => /^mcp_.*run_tests$/.test(name));
    });
    assert.equal(ofServer.length, 1);
    const [tool] = ofServer;
    const { content } = await confirmed(tool?.name ?? '', {
      tests: ['tests/test_money.py'],
      without_candidate: true,
    });
    const text = content
      .map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : ''))
      .join('');
    answers.push(text);
    assert.match(text, /^On the current repository, without a candidate: \d+ passed/);
  });
});
