import * as vscode from 'vscode';
import { l10n } from 'vscode';
import { Cancelled, type Reporter } from '../../domain/work';
import { CallOrder, type ToolAnswer, type CandidateSlot, tools } from '../../method/tools';
import type { InstanceForModels } from './instanceForModels';
import { applyToWorkspace } from '../generate/applyToWorkspace';
import type { ModelToolName } from '../shell/names';
import { appendPlainText } from '../shell/plainText';
import { engineSettings, timeoutSeconds } from '../shell/settings';
import { askForTestsOfModels } from './testsOfModels';
import { answerCall, withinBudget } from './answerCall';
import { patchOfEditors } from '../instance/patchOfEditors';
import { runsInContainers } from '../../engine/engines';

interface WorkspaceToolsParts {
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

  /** What the user reads, and is asked, before a call. */
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

/**
 * The candidate of an agent that works in the workspace: the edits of R that the editors show. An
 * applied candidate replaces it as one edit, which one Undo reverts.
 *
 * @param apply makes the workspace R with a patch applied
 */
function candidateSlot(
  open: InstanceForModels,
  apply: (patch: string) => Promise<unknown>,
): CandidateSlot {
  return {
    read: () => patchOfEditors(open),
    apply: async (patch) => {
      await apply(patch);
    },
  };
}

/** What a call does while it runs, as the user sees it. */
function doingText(name: ModelToolName): string {
  switch (name) {
    case 'read_issue':
      return l10n.t('Reading the issue');
    case 'list_files':
      return l10n.t('Listing files of R');
    case 'search_code':
      return l10n.t('Searching R');
    case 'outline_file':
      return l10n.t('Outlining a file of R');
    case 'read_file':
      return l10n.t('Reading a file of R');
    case 'apply_candidate':
      return l10n.t('Putting tests into the workspace');
    case 'list_candidate_tests':
      return l10n.t('Listing the tests of the candidate');
    case 'run_tests':
      return l10n.t('Running tests on R');
    case 'check_candidate':
      return l10n.t('Checking the candidate on R');
  }
}

/** The title of the confirmation that a tool call asks for. */
const confirmationTitle = (name: ModelToolName): string =>
  runsTests(name) ? l10n.t('Run tests on R?') : l10n.t('Replace the candidate?');

const runsTests = (name: ModelToolName): boolean =>
  name === 'run_tests' || name === 'check_candidate';

/** The side effects of a call, by which the user decides about it. */
function effectText(name: ModelToolName, id: string, engine: string): string {
  if (!runsTests(name)) {
    return l10n.t(
      'Replaces your edits in the workspace of {0} with the tests that the model has written, as one edit. Undo restores yours.',
      id,
    );
  }
  return runsInContainers(engine)
    ? l10n.t(
        'Runs tests of {0} on R in a container, including code that the model has written.',
        id,
      )
    : l10n.t(
        'Runs tests of {0} on R, including code that the model has written. They run on this machine without a container, with your permissions.',
        id,
      );
}
