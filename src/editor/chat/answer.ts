import { Cancelled, HumanError, type Reporter } from '../../domain/work';
import { issueText, tools, checkSubmission } from '../../method/tools';
import * as vscode from 'vscode';
import type { InstanceForModels } from '../tools/instanceForModels';
import { refuseUntrusted } from '../shell/workspaceTrust';
import { chatCommands } from '../shell/names';
import { withoutLinkMarkup, escapeMarkdown } from '../shell/plainText';
import { problemText } from '../shell/problems';
import { askForTestsOfModels } from '../tools/testsOfModels';
import { callsTools } from '../generate/editorModel';
import { Conversation } from './conversation';
import { explain } from './explain';
import { answerInstructions, askedFor } from './prompts';
import { openTurn, whyNoAnswer, type ChatCall, type Turn } from './turn';
import { improve, reproduce, type Written } from './reproduceAndImprove';
import { patchOfEditors } from '../instance/patchOfEditors';
import { submissionPick } from '../verdict/submissionPick';

/** The result of a turn, from which the follow-ups are made. */
interface TurnResult extends vscode.ChatResult {
  readonly metadata: { readonly command: string; readonly written: Written };
}

/**
 * Answers a request to `@swt`. An error appears in the answer, in plain language.
 *
 * @param open the open instance, if any; the turn reads only what a model may know of it
 */
export async function answerChat(
  call: ChatCall,
  open: InstanceForModels | undefined,
  reporter: Reporter,
): Promise<TurnResult> {
  const { request, token } = call;
  const command = request.command ?? '';
  const abort = new AbortController();
  const stopping = token.onCancellationRequested(() => abort.abort());
  if (token.isCancellationRequested) abort.abort();
  try {
    if (open === undefined) {
      throw new HumanError(
        vscode.l10n.t('No instance is open'),
        vscode.l10n.t('Open one from the Instances view first'),
      );
    }
    refuseUntrusted();
    // A question runs nothing; each of the commands runs tests.
    if (command !== '') await askForTestsOfModels(open.folder, 'person');
    const turn = await openTurn(call, open, { signal: abort.signal, reporter });
    return { metadata: { command, written: await run(command, turn) } };
  } catch (error) {
    const metadata = { command, written: 'nothing' } as const;
    const why = whyNoAnswer(error, request.model) ?? error;
    if (why instanceof Cancelled || abort.signal.aborted) return { metadata };
    const text = problemText(why);
    reporter.log(why instanceof Error && !(why instanceof HumanError) ? (why.stack ?? text) : text);
    return { errorDetails: { message: withoutLinkMarkup(text) }, metadata };
  } finally {
    stopping.dispose();
  }
}

async function run(asked: string, turn: Turn): Promise<Written> {
  const command = chatCommands.find((each) => each === asked);
  switch (command) {
    case 'reproduce':
      return reproduce(turn);
    case 'improve':
      return improve(turn);
    case 'explain':
      await explain(turn);
      return 'nothing';
    case 'check':
      await check(turn);
      return 'nothing';
    case undefined:
      await answer(turn);
      return 'nothing';
  }
}

/** Answers a question without a command: about the issue, the code and the tests of R. */
async function answer(turn: Turn): Promise<void> {
  const { repo, issue } = turn.view;
  const mayCall = callsTools(turn.model);
  const offered = mayCall ? tools.filter(({ effect }) => effect === 'reads') : [];
  const content = [
    `The issue of ${repo}:`,
    issueText(issue),
    askedFor(turn.prompt, turn.attached),
  ].filter(Boolean);
  await new Conversation(turn, answerInstructions(mayCall), offered).say(content.join('\n\n'));
}

/** The requests that the chat suggests next. */
export function followupsOf(result: vscode.ChatResult): vscode.ChatFollowup[] {
  const metadata = result.metadata as Partial<TurnResult['metadata']> | undefined;
  if (result.errorDetails !== undefined || metadata === undefined) return [];
  const reproduceNext = {
    command: 'reproduce',
    prompt: '',
    label: vscode.l10n.t('Write tests that reproduce the issue'),
  };
  const improveNext = {
    command: 'improve',
    prompt: '',
    label: vscode.l10n.t('Improve the tests in the workspace'),
  };
  const explainNext = {
    command: 'explain',
    prompt: '',
    label: vscode.l10n.t('Explain why the test at the cursor fails on R'),
  };
  switch (metadata.command ?? '') {
    case 'reproduce':
      return metadata.written === 'written' ? [] : [reproduceNext];
    case 'improve':
      return [explainNext];
    case 'explain':
      return [improveNext];
    default:
      return [reproduceNext];
  }
}

/**
 * Answers `/check`: whether the tests of the workspace are ready to be submitted, as far as R tells.
 * No model is asked.
 *
 * @throws HumanError, Cancelled
 */
async function check({ open, view, stream, work }: Turn): Promise<void> {
  stream.progress(vscode.l10n.t('Checking the candidate on R'));
  const candidate = await patchOfEditors(open, work.signal);
  const { title, placeHolder, entries } = submissionPick(
    await checkSubmission(view, candidate, { ...work, format: 'unified' }),
  );
  const answer = new vscode.MarkdownString('', true);
  answer.appendMarkdown(`**${title}**\n\n`);
  for (const { label, detail } of entries) {
    answer.appendMarkdown(`- ${label}  \n  ${escapeMarkdown(detail)}\n`);
  }
  answer.appendMarkdown(`\n${escapeMarkdown(placeHolder)}\n`);
  stream.markdown(answer);
}
