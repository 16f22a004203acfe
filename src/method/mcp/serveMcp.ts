import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js';
import { HumanError, type Reporter } from '../../domain/work';
import type { ModelView } from '../modelView';
import { CallOrder } from '../tools/callOrder';
import {
  callTool,
  inputSchema,
  outputSchema,
  type CandidateSlot,
  type Tool,
  type ToolAnswer,
  type ToolEffect,
} from '../tools/tool';
import { instructions, tools, unknownTool } from '../tools/tools';

/**
 * Milliseconds between two reports of progress: clients give up a call after a minute without one.
 */
const progressMilliseconds = 20_000;

interface McpParts {
  readonly version: string;
  /**
   * Makes the view of the instance when a tool first needs it. A large repository takes longer than
   * a client waits for its first answer.
   *
   * @throws HumanError, Cancelled
   */
  readonly view: (work: { readonly reporter: Reporter }) => Promise<ModelView>;
  /** Holds the candidate for as long as the connection. */
  readonly candidate: CandidateSlot;
  readonly timeoutSeconds: number;
  readonly reporter: Reporter;
}

/**
 * Serves the tools on one instance to one client until the client closes the connection, over the
 * Model Context Protocol (https://modelcontextprotocol.io/specification/2025-06-18/server/tools).
 * Calls that use the candidate are done in the order in which they come.
 *
 * @returns resolves when the connection is closed
 */
export async function serveMcp(transport: Transport, parts: McpParts): Promise<void> {
  const { version, candidate, timeoutSeconds } = parts;
  const order = new CallOrder();
  const server = new Server(
    { name: 'swt-bench', version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map((tool) => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: { type: 'object' as const, ...inputSchema(tool) },
      annotations: annotations[tool.effect],
      _meta: { [dataKey]: outputSchema(tool) },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) {
      throw new McpError(ErrorCode.InvalidParams, unknownTool(params.name, tools));
    }
    const { reporter } = parts;
    const { progressToken } = params._meta ?? {};
    let step = 0;
    // The text of progress names the instance and depends on kept runs: a client only learns that
    // the work continues.
    const tell = (): void => {
      if (progressToken === undefined) return;
      const progress = (step += 1);
      const message = `${tool.name} is running`;
      extra
        .sendNotification({
          method: 'notifications/progress',
          params: { progressToken, progress, message },
        })
        .catch(() => undefined);
    };
    tell();
    const timer = setInterval(tell, progressMilliseconds);
    try {
      const { signal } = extra;
      const work = { candidate, timeoutSeconds, signal, reporter };
      return await order.inTurn(tool, signal, () => call(tool, params.arguments, { parts, work }));
    } finally {
      clearInterval(timer);
    }
  });
  const closed = new Promise<void>((resolve) => (server.onclose = resolve));
  server.onerror = (error) => parts.reporter.log(`swt-bench mcp: ${error.message}`);
  await server.connect(transport);
  await closed;
}

async function call(
  tool: Tool,
  input: unknown,
  { parts, work }: { readonly parts: McpParts; readonly work: Parameters<typeof callTool>[3] },
): Promise<CallToolResult> {
  let view: ModelView;
  try {
    view = await parts.view(work);
  } catch (error) {
    if (!(error instanceof HumanError)) throw error;
    // The reason may be that X* does not fit R, and where. Only readers of the log
    // may see it.
    parts.reporter.log(`swt-bench mcp: ${error.message}`);
    const text =
      "This instance's repository is not available, and no tool works without it. The server's log says why. Tell the user.";
    return resultOf({ text, isError: true });
  }
  return resultOf(await callTool(tool, view, input, work));
}

/**
 * Where a program finds the facts of an answer, and in the list of tools their JSON schema. They are
 * no `structuredContent`: Claude Code and Codex show that to their model instead of the text, as JSON
 * in which all code is escaped.
 */
const dataKey = 'swt-bench/data';

const resultOf = ({ text, isError, data }: ToolAnswer): CallToolResult => ({
  content: [{ type: 'text', text }],
  ...(isError ? { isError } : { _meta: { [dataKey]: data } }),
});

const annotations: Readonly<Record<ToolEffect, ToolAnnotations>> = {
  reads: { readOnlyHint: true, openWorldHint: false },
  'changes the candidate': {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  'runs code': { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
};
