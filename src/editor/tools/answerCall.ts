import { HumanError, type Reporter } from '../../domain/work';
import type { ModelView } from '../../method/modelView';
import { callTool, type CandidateSlot, type ToolAnswer, bounded, tools } from '../../method/tools';
import type { InstanceForModels } from './instanceForModels';
import type { ModelToolName } from '../shell/names';

/** A call of one of the tools by an agent of the editor. */
export interface EditorCall {
  readonly name: ModelToolName;
  /** As the agent wrote it. Untrusted. */
  readonly input: unknown;
  readonly isTrusted: boolean;
  /** The open instance, if any. */
  readonly opened: InstanceForModels | undefined;
  /** Where the candidate of that instance is kept. */
  readonly candidate: (opened: InstanceForModels) => CandidateSlot;
  /** Time limit of one run. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  readonly reporter: Reporter;
}

/**
 * Answers a call. An error becomes text that tells the model what happened and what to do.
 *
 * @throws Cancelled
 */
export async function answerCall(call: EditorCall): Promise<ToolAnswer> {
  const { name, input, opened, reporter } = call;
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  if (!call.isTrusted) return refused(notTrusted);
  if (opened === undefined) return refused(noInstance);
  let view: ModelView;
  try {
    view = await opened.modelView();
  } catch (error) {
    if (!(error instanceof HumanError)) throw error;
    // The message may name the place where X* does not fit R. Only the log gets it, which the
    // person reads.
    reporter.log(`${name}: ${error.message}`);
    return refused(noRepository);
  }
  const { signal, timeoutSeconds } = call;
  const candidate = call.candidate(opened);
  return callTool(tool, view, input, { candidate, timeoutSeconds, signal, reporter });
}

const refused = (text: string): ToolAnswer => ({ text, isError: true });

const notTrusted =
  'The workspace is not trusted, and no tool works in it. Do not call one again: tell the person whom you work for to trust the workspace (command "Workspaces: Manage Workspace Trust") if they know what is in it.';
const noInstance =
  'No instance is open in this window, and the tools are about the open one. Tell the person whom you work for to open one from the Instances view of SWT-Bench.';
const noRepository =
  'The repository of this instance is unavailable, and no tool works without it. The log (command "SWT-Bench: Show Log") says why. Tell the person whom you work for.';

/** How many tokens an agent takes, and how it counts them (LanguageModelToolTokenizationOptions). */
interface TokenBudget {
  readonly tokenBudget: number;
  countTokens(text: string): PromiseLike<number>;
}

/**
 * Shortens a text to an agent's budget: cuts out its middle and says so.
 *
 * @param budget undefined when the agent sets none
 */
export async function withinBudget(text: string, budget: TokenBudget | undefined): Promise<string> {
  if (budget === undefined) return text;
  const { tokenBudget } = budget;
  let shown = text;
  let characters = text.length;
  for (let tokens = await budget.countTokens(shown); tokens > tokenBudget;) {
    // Tokens differ in length, so this takes a little less than the proportional share.
    const next = Math.floor(characters * Math.min(0.9, (tokenBudget / tokens) * 0.95));
    if (next < 1) return '';
    characters = next;
    shown = bounded(text, characters);
    tokens = await budget.countTokens(shown);
  }
  return shown;
}
