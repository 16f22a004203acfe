import * as vscode from 'vscode';
import { Cancelled, HumanError } from '../../domain/humanError';
import type { Reporter } from '../../domain/reporter';
import type { ModelView } from '../../method/modelView';
import { candidateInMemory, type CandidateSlot, type ToolWork } from '../../method/tools/tool';
import type { InstanceForModels } from '../tools/instanceForModels';
import { problemOfModel } from '../generate/editorModel';
import { timeoutSeconds } from '../shell/settings';
import { readAttached } from './attached';
import { turnsBefore } from './turnsBefore';

/** A request to the participant as VS Code hands it over. */
export interface ChatCall {
  readonly request: vscode.ChatRequest;
  readonly context: vscode.ChatContext;
  readonly stream: vscode.ChatResponseStream;
  readonly token: vscode.CancellationToken;
}

/**
 * One request of a person to `@swt`, and what every command needs for its answer: whatever is repeated
 * from turn to turn is done here. It knows the instance only as a model may.
 */
export interface Turn {
  /** What the person has typed, without participant and command. */
  readonly prompt: string;
  /** What they have attached, as far as a model may read it; empty when nothing. */
  readonly attached: string;
  /** What was said before in this conversation. */
  readonly before: readonly vscode.LanguageModelChatMessage[];
  readonly model: vscode.LanguageModelChat;
  readonly open: InstanceForModels;
  readonly view: ModelView;
  readonly stream: vscode.ChatResponseStream;
  readonly work: ToolWork & { readonly signal: AbortSignal };
}

/**
 * Opens the view of the instance and reads what is attached; what is left out of that is told.
 *
 * @param signal ends with the request's token
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
    // Why may be that X* does not fit R, and where. What is said here may be read by a model later.
    reporter.log(error.message);
    throw new HumanError(
      vscode.l10n.t('The repository of this instance cannot be had'),
      vscode.l10n.t('See why by "SWT-Bench: Show Log"'),
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

/** The same turn with a candidate that is there already. */
export async function withCandidate(turn: Turn, patch: string): Promise<Turn> {
  const candidate: CandidateSlot = candidateInMemory();
  await candidate.apply(patch);
  return { ...turn, work: { ...turn.work, candidate } };
}

/** What went wrong in a turn, in the words of whoever asked; undefined when they have stopped it. */
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
    vscode.l10n.t('{0} gives no answer ({1})', name, problem.message),
    vscode.l10n.t('Try again, or choose another model'),
  );
}

/** Whatever a model, or VS Code for it, has thrown. */
export class ModelProblem extends Error {
  override readonly name = 'ModelProblem';
  constructor(override readonly cause: unknown) {
    super('the model gives no answer');
  }
}
