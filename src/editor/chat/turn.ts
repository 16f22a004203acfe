import * as vscode from 'vscode';
import { Cancelled, HumanError, type Reporter } from '../../domain/work';
import type { ModelView } from '../../method/modelView';
import { candidateInMemory, type CandidateSlot, type ToolWork } from '../../method/tools';
import type { InstanceForModels } from '../tools/instanceForModels';
import { problemOfModel } from '../generate/editorModel';
import { timeoutSeconds } from '../shell/settings';
import { readAttached } from './attached';

/** A request to the participant as VS Code passes it. */
export interface ChatCall {
  readonly request: vscode.ChatRequest;
  readonly context: vscode.ChatContext;
  readonly stream: vscode.ChatResponseStream;
  readonly token: vscode.CancellationToken;
}

/**
 * One request of the user to `@swt`, with everything that each command needs for its answer. It
 * knows of the instance only what a model may know.
 */
export interface Turn {
  /** What the user has typed, without participant and command. */
  readonly prompt: string;
  /** The attachments that a model may read; empty when there are none. */
  readonly attached: string;
  /** The earlier messages of this conversation. */
  readonly before: readonly vscode.LanguageModelChatMessage[];
  readonly model: vscode.LanguageModelChat;
  readonly open: InstanceForModels;
  readonly view: ModelView;
  readonly stream: vscode.ChatResponseStream;
  readonly work: ToolWork & { readonly signal: AbortSignal };
}

/**
 * Opens the view of the instance and reads the attachments. The answer names the attachments that
 * are left out.
 *
 * @param signal aborts with the request's token
 * @throws HumanError, Cancelled
 */
export async function openTurn(
  { request, context, stream }: ChatCall,
  open: InstanceForModels,
  { signal, reporter }: { readonly signal: AbortSignal; readonly reporter: Reporter },
): Promise<Turn> {
  stream.progress(vscode.l10n.t('Reading the issue and R'));
  const view = await open.modelView().catch((error: unknown): never => {
    if (!(error instanceof HumanError)) throw error;
    // The reason may name the place where X* does not fit R. A model may read the answer later, so
    // only the log gets it.
    reporter.log(error.message);
    throw new HumanError(
      vscode.l10n.t('The repository of this instance is not available'),
      vscode.l10n.t('Run "SWT-Bench: Show Log" to see why'),
    );
  });
  const { text, leftOut } = await readAttached(request.references, open, view);
  if (leftOut.length > 0) stream.markdown(`${leftOut.join('\n\n')}\n\n`);
  if (request.toolReferences.length > 0) {
    stream.markdown(`${vscode.l10n.t('Attached tools are not used here.')}\n\n`);
  }
  return {
    prompt: request.prompt,
    attached: text,
    before: turnsBefore(context.history),
    model: request.model,
    open,
    view,
    stream,
    work: {
      candidate: candidateInMemory(),
      timeoutSeconds: timeoutSeconds(open.folder.uri),
      signal,
      reporter: {
        log: (line) => reporter.log(line),
        progress: (step) => reporter.progress(step),
      },
    },
  };
}

/** The same turn with a candidate to start from. */
export async function withCandidate(turn: Turn, patch: string): Promise<Turn> {
  const candidate: CandidateSlot = candidateInMemory();
  await candidate.apply(patch);
  return { ...turn, work: { ...turn.work, candidate } };
}

/** Why a turn failed, for the user who asked. Undefined when they stopped it. */
export function whyNoAnswer(
  error: unknown,
  model: vscode.LanguageModelChat | undefined,
): HumanError | Cancelled | undefined {
  if (error instanceof HumanError || error instanceof Cancelled) return error;
  if (error instanceof vscode.CancellationError) return new Cancelled();
  if (!(error instanceof ModelProblem)) return undefined;
  const name = model?.name ?? vscode.l10n.t('The model');
  const problem = problemOfModel(error.cause, name);
  if (problem instanceof HumanError || problem instanceof Cancelled) return problem;
  return new HumanError(
    vscode.l10n.t('{0} did not answer ({1})', name, problem.message),
    vscode.l10n.t('Try again, or choose another model'),
  );
}

/** An error that a model, or VS Code on its behalf, has thrown. */
export class ModelProblem extends Error {
  override readonly name = 'ModelProblem';
  constructor(override readonly cause: unknown) {
    super('the model gives no answer');
  }
}

/** Most earlier turns that a model receives, and most characters of each. */
const mostTurns = 8;
const mostCharacters = 6000;

/** Earlier requests to this participant and its answers, as bounded messages for the model. */
function turnsBefore(history: vscode.ChatContext['history']): vscode.LanguageModelChatMessage[] {
  return history.slice(-mostTurns).flatMap((turn) => {
    if (turn instanceof vscode.ChatRequestTurn) {
      const command = turn.command === undefined ? '' : `/${turn.command} `;
      const text = `${command}${turn.prompt}`.trim();
      return text === '' ? [] : [vscode.LanguageModelChatMessage.User(bounded(text))];
    }
    const text = turn.response
      .map((part) => (part instanceof vscode.ChatResponseMarkdownPart ? part.value.value : ''))
      .join('')
      .trim();
    return text === '' ? [] : [vscode.LanguageModelChatMessage.Assistant(bounded(text))];
  });
}

/** The end of an answer says more than its beginning. */
const bounded = (text: string): string =>
  text.length <= mostCharacters
    ? text
    : `[${text.length - mostCharacters} characters before]\n${text.slice(-mostCharacters)}`;
