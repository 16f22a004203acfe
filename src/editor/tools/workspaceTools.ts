import * as vscode from 'vscode';
import { Cancelled, type Reporter } from '../../domain/work';
import { CallOrder } from '../../method/tools/callOrder';
import type { ToolAnswer } from '../../method/tools/tool';
import { tools } from '../../method/tools/tools';
import type { InstanceForModels } from './instanceForModels';
import { applyToWorkspace } from '../generate/applyToWorkspace';
import type { ModelToolName } from '../shell/names';
import { appendPlainText } from '../shell/plainText';
import { engineSettings, timeoutSeconds } from '../shell/settings';
import { askForTestsOfModels } from './testsOfModels';
import { answerCall } from './answerCall';
import { withinBudget } from './budget';
import { candidateSlot } from './candidateSlot';
import { doingText, effectText, confirmationTitle } from './texts';

export interface WorkspaceToolsParts {
  /** Resolves when it is known whether an instance is open. */
  readonly opened: () => Promise<InstanceForModels | undefined>;
  readonly reporter: Reporter;
}

/**
 * The tools on the open instance for every agent of this VS Code. The MCP server has the same ones.
 */
export class WorkspaceTools {
  /** Ends the calls under way when the window closes. */
  private readonly closing = new AbortController();
  private readonly order = new CallOrder();

  constructor(private readonly parts: WorkspaceToolsParts) {}

  close(): void {
    this.closing.abort();
  }

  /** What the person reads, and is asked, before a call. */
  async prepare(name: ModelToolName): Promise<vscode.PreparedToolInvocation> {
    const invocationMessage = doingText(name);
    const opened = await this.parts.opened();
    const changesNothing = tools.find((tool) => tool.name === name)?.effect === 'reads';
    // A call that will be refused has no side effect either.
    if (changesNothing || opened === undefined || !vscode.workspace.isTrusted) {
      return { invocationMessage };
    }
    // VS Code reads the message as Markdown, and the id comes from the author of the dataset.
    const message = appendPlainText(
      new vscode.MarkdownString(),
      effectText(name, opened.marker.id, engineSettings(opened.folder.uri).name),
    );
    return { invocationMessage, confirmationMessages: { title: confirmationTitle(name), message } };
  }

  /** @throws vscode.CancellationError */
  async invoke(
    name: ModelToolName,
    { input, tokenizationOptions }: vscode.LanguageModelToolInvocationOptions<object>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    const abort = new AbortController();
    const cancelling = token.onCancellationRequested(() => abort.abort());
    if (token.isCancellationRequested) abort.abort();
    const signal = AbortSignal.any([abort.signal, this.closing.signal]);
    try {
      const usesCandidate = tools.some((each) => each.name === name && each.usesCandidate);
      const { text, isError } = await this.order.inTurn({ usesCandidate }, signal, () =>
        this.answer(name, input, signal),
      );
      const answer = await withinBudget(isError ? `Error: ${text}` : text, tokenizationOptions);
      return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(answer)]);
    } catch (error) {
      if (error instanceof Cancelled) throw new vscode.CancellationError();
      throw error;
    } finally {
      cancelling.dispose();
    }
  }

  private async answer(
    name: ModelToolName,
    input: unknown,
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const opened = await this.parts.opened();
    const runsCode = tools.find((tool) => tool.name === name)?.effect === 'runs code';
    if (runsCode && opened !== undefined && vscode.workspace.isTrusted) {
      // The question only offers the permission; the place where tests run checks it.
      await askForTestsOfModels(opened.folder, 'agent').catch(() => undefined);
    }
    return answerCall({
      name,
      input,
      isTrusted: vscode.workspace.isTrusted,
      opened,
      candidate: (each) => candidateSlot(each, (patch) => applyToWorkspace(each, patch)),
      timeoutSeconds: timeoutSeconds(opened?.folder.uri),
      signal,
      reporter: this.parts.reporter,
    });
  }
}
