import * as vscode from 'vscode';
import { isFailure } from '../../domain/outcome';
import { HumanError } from '../../domain/work';
import {
  packFiles,
  candidatePrompt,
  rankFiles,
  callTool,
  type ToolAnswer,
  tools,
} from '../../method/tools';
import { tokenCounter } from '../../method/models';
import { patchOfEditors } from '../instance/patchOfEditors';
import { storageFolder } from '../shell/settings';
import { callsTools } from '../generate/editorModel';
import { Conversation } from './conversation';
import {
  askedFor,
  improveInstructions,
  improveRequest,
  reproduceInstructions,
  reproduceRequest,
  tryAgain,
  wholePatch,
} from './prompts';
import { showCandidate } from './showCandidate';
import { withCandidate, type Turn } from './turn';

/** What a turn did to the candidate. */
export type Written = 'written' | 'unchanged' | 'nothing';

/** Maximum number of answers of a model without tools, until its tests apply and fail on R. */
const mostAnswers = 3;
/**
 * Tokens of a prompt for a model without tools, as for the methods. A smaller context window lowers
 * it.
 */
const contextTokens = 27_000;

/**
 * Answers `/reproduce`: the model writes tests, with the tools if it calls any, else as
 * ZeroShotPlus does. The answer ends with the tests and their outcomes on R.
 *
 * @throws HumanError, ModelProblem, Cancelled
 */
export async function reproduce(turn: Turn): Promise<Written> {
  if (!callsTools(turn.model)) {
    const { system, content } = await promptWithFiles(turn);
    return writeWithoutTools(turn, system, content, true);
  }
  const first = [reproduceRequest(turn.view.repo), askedFor(turn.prompt, turn.attached)];
  const conversation = new Conversation(turn, reproduceInstructions, tools);
  const text = await conversation.say(first.filter(Boolean).join('\n\n'));
  return finish(turn, text, '');
}

/**
 * Answers `/improve`: as `/reproduce`, but the tests of the workspace, unsaved ones too, are the
 * first candidate. Edits outside tests are left out, since outcomes on R count.
 *
 * @throws HumanError when there are no tests; ModelProblem, Cancelled
 */
export async function improve(asked: Turn): Promise<Written> {
  const turn = await withTestsOfWorkspace(asked);
  const patch = await turn.work.candidate.read();
  if (patch === '') {
    throw new HumanError(
      vscode.l10n.t('No test is added or changed in {0}', turn.open.folder.name),
      vscode.l10n.t('Write one first, or ask @swt /reproduce'),
    );
  }
  turn.stream.progress(vscode.l10n.t('Running tests on R'));
  const run = await callWithoutModel(turn, 'run_tests', {});
  const { repo, issue } = turn.view;
  const request = [
    improveRequest({ repo, issue, patch, run: run.text }),
    askedFor(turn.prompt, turn.attached),
  ].filter(Boolean);
  if (!callsTools(turn.model)) {
    const content = [...request, wholePatch].join('\n\n');
    return writeWithoutTools(turn, improveInstructions(false), content, false);
  }
  const text = await new Conversation(turn, improveInstructions(true), tools).say(
    request.join('\n\n'),
  );
  return finish(turn, text, patch);
}

/**
 * A turn whose candidate is the tests of the workspace; it is empty when none is added or changed.
 * Edits outside tests are left out, so that R stays R.
 *
 * @throws HumanError when an editor holds text that a patch cannot express
 */
export async function withTestsOfWorkspace(turn: Turn): Promise<Turn> {
  const { open, view, work } = turn;
  const { signal } = work;
  const edits = await patchOfEditors(open, signal);
  if (edits.trim() === '') return withCandidate(turn, '');
  const read = await view.read(edits, { format: 'unified', testsOnly: true, signal });
  return withCandidate(turn, read.applies && read.files.length > 0 ? read.patch : '');
}

/** Calls a tool without the model and returns the tool's text. */
export async function callWithoutModel(
  { view, work }: Turn,
  name: 'run_tests' | 'apply_candidate',
  input: object,
): Promise<ToolAnswer> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  return callTool(tool, view, input, work);
}

/** Shows the candidate that the model wrote by a tool or at the end of its answer, if any. */
async function finish(turn: Turn, text: string, before: string): Promise<Written> {
  const { stream, view, work } = turn;
  if ((await work.candidate.read()) === before && hasPatch(text)) {
    const read = await view.read(text, { signal: work.signal });
    if (read.applies && read.patch.trim() !== '') await work.candidate.apply(read.patch);
  }
  const patch = await work.candidate.read();
  if (patch === before) {
    if (before !== '') {
      stream.markdown(vscode.l10n.t('The tests stay as they are.'));
      return 'unchanged';
    }
    stream.markdown(vscode.l10n.t('No tests were written.'));
    return 'nothing';
  }
  await showCandidate(turn);
  return 'written';
}

/**
 * Whether a text may contain a patch in any of the formats. Prose without one must not be read as a
 * faulty patch.
 */
const hasPatch = (text: string): boolean =>
  /^(?:--- |diff(?: --git .*)?\s*$|<{4,} ?SEARCH)/m.test(text);

/** Asks a few times, until the tests apply and one of them fails on R. */
async function writeWithoutTools(
  turn: Turn,
  system: string,
  content: string,
  needsPatch: boolean,
): Promise<Written> {
  const { stream, view, work } = turn;
  const before = await work.candidate.read();
  const conversation = new Conversation(turn, system, []);
  stream.progress(vscode.l10n.t('Asking {0}', turn.model.name));
  let text = await conversation.say(content);
  for (let answers = 1; needsPatch || hasPatch(text); answers += 1) {
    const applied = await callWithoutModel(turn, 'apply_candidate', { patch: text });
    let why = applied.isError ? applied.text : undefined;
    if (why === undefined) {
      const { signal, timeoutSeconds, reporter } = work;
      stream.progress(vscode.l10n.t('Running tests on R'));
      const patch = await work.candidate.read();
      const run = await view.runOnR(patch, { signal, timeoutSeconds, reporter });
      if (run.tests.some(isFailure)) break;
      why = (await callWithoutModel(turn, 'run_tests', {})).text;
      why = `${why}\n\nNo test fails, so the tests do not reproduce the issue.`;
    }
    if (answers >= mostAnswers) break;
    stream.progress(vscode.l10n.t('The tests do not reproduce the issue yet. Asking once more'));
    text = await conversation.say(tryAgain(why));
  }
  return finish(turn, '', before);
}

/** The prompt of ZeroShotPlus, with as many files of R as the context window allows. */
async function promptWithFiles(turn: Turn): Promise<{ system: string; content: string }> {
  const { view, stream, model, work } = turn;
  stream.progress(vscode.l10n.t('Searching for relevant files'));
  const { repo, issue, tree, python } = view;
  const more = askedFor(turn.prompt, turn.attached);
  const count = await tokenCounter();
  const promptOf = (files: string): { system: string; content: string } => {
    const { system, messages } = candidatePrompt({ repo, issue, files, format: 'custom' });
    const content = messages.map((each) => each.content);
    return { system, content: [...content, ...(more === '' ? [] : [more])].join('\n\n') };
  };
  const without = promptOf('');
  const most = model.maxInputTokens > 0 ? model.maxInputTokens / 2 : contextTokens;
  const budget = Math.min(contextTokens, most) - count(`${without.system}\n${without.content}`);
  if (budget <= 0) return without;
  const kept = { storage: storageFolder(), instance: turn.open.marker.id };
  const of = { tree, python, issue, isForTests: true };
  const packed = await packFiles(
    of,
    await rankFiles(tree, issue, kept, work.signal),
    budget,
    count,
  );
  return promptOf(packed.text);
}
