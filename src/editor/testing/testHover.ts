import * as vscode from 'vscode';
import { isFailure, sides, type Frame, type TestResult } from '../../domain/outcome';
import type { TestTransition } from '../../domain/transition';
import { frameInCode, frameInTest } from '../../evaluation/hints/failurePlace';
import { hintOn, tellingCase } from '../../evaluation/hints/testHints';
import { shownOf, type Shown } from './redactedText';
import type { CandidateTests, ListedTest } from './candidateTests';
import { transitionLook } from './transitionLook';
import { outcomeInWords, transitionInWords, transitionLabel } from './transitionTexts';
import { isFresh } from '../verdict/evaluated';
import { appendPlain } from '../shell/plainText';
import type { OpenInstance } from '../instance/openInstance';
import { uriInside } from './testMessages';
import { adviceOn } from './testProblems';

/** Cases of a parametrised test that a hover has room for. */
const shownCases = 6;
/** Characters of one failure. */
const shownMessage = 1500;

/**
 * What became of a test on both sides, shown over the line of its definition: outcomes, durations, the
 * failure and where in the code of R it arose.
 */
export class TestHover implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;

  constructor(open: OpenInstance, tests: CandidateTests) {
    const selector = {
      scheme: open.folder.uri.scheme,
      pattern: new vscode.RelativePattern(open.folder, '**/*.py'),
    };
    this.subscription = vscode.languages.registerHoverProvider(selector, {
      async provideHover(document, position) {
        const test = tests
          .list()
          .find((each) => each.uri.toString() === document.uri.toString())
          ?.tests.find((each) => each.defLine === position.line + 1);
        const text = test === undefined ? undefined : hoverOf(open, test, await shownOf(open));
        return text === undefined
          ? undefined
          : new vscode.Hover(text, document.lineAt(position.line).range);
      },
    });
  }

  dispose(): void {
    this.subscription.dispose();
  }
}

/**
 * Texts of tests go into code blocks, where markup has no meaning; the only links are our own, to files
 * of the workspace.
 */
function hoverOf(
  open: OpenInstance,
  test: ListedTest,
  shown: Shown,
): vscode.MarkdownString | undefined {
  const known = open.casesOf(test.id);
  const { cases } = known;
  const isStale = !isFresh(known, test);
  const telling = tellingCase(cases);
  const label = transitionLabel(cases);
  if (telling === undefined || label === undefined) return undefined;
  const markdown = new vscode.MarkdownString();
  if (isStale) {
    appendPlain(markdown, vscode.l10n.t('Edited since: this is about the text before.'));
    markdown.appendMarkdown('\n\n');
  }
  const { transition } = telling;
  appendPlain(
    markdown,
    `${transitionLook[transition].symbol} ${label}  ${transitionInWords(vscode.l10n, transition)}`,
  );
  const ordered = [telling, ...cases.filter((each) => each !== telling)];
  for (const each of ordered.slice(0, shownCases)) {
    if (cases.length > 1) {
      markdown.appendCodeblock(`${each.transition}  ${each.test.slice(test.id.length)}`, 'text');
    }
    appendCase(markdown, open.folder, shown.both(each));
  }
  if (ordered.length > shownCases) {
    markdown.appendMarkdown('\n\n');
    appendPlain(markdown, vscode.l10n.t('and {0} more cases', ordered.length - shownCases));
  }
  const hint = test.status === 'kept' || isStale ? undefined : hintOn(cases);
  if (hint !== undefined) {
    markdown.appendMarkdown('\n\n---\n\n');
    appendPlain(markdown, adviceOn(hint));
  }
  return markdown;
}

function appendCase(
  markdown: vscode.MarkdownString,
  folder: vscode.WorkspaceFolder,
  each: TestTransition,
): void {
  for (const side of sides) {
    const result = each[side];
    markdown.appendMarkdown('\n\n');
    appendPlain(markdown, outcomeInWords(vscode.l10n, side, result));
    const failure = isFailure(result) ? failureText(result) : undefined;
    if (failure !== undefined) markdown.appendCodeblock(failure, 'text');
    // The code under test is there as R has it.
    if (side === 'base' && isFailure(result)) appendFrames(markdown, folder, result);
  }
}

function failureText({ exception, message, details }: TestResult): string | undefined {
  const text = message === undefined || message.trim() === '' ? (exception ?? details) : message;
  if (text === undefined) return undefined;
  const isNamed = exception === undefined || text.startsWith(exception);
  const whole = isNamed ? text : `${exception}: ${text}`;
  return whole.length > shownMessage ? `${whole.slice(0, shownMessage)}…` : whole;
}

function appendFrames(
  markdown: vscode.MarkdownString,
  folder: vscode.WorkspaceFolder,
  result: TestResult,
): void {
  const links = [frameInCode(result), frameInTest(result)]
    .filter((frame) => frame !== undefined)
    .map((frame) => linkTo(folder, frame))
    .filter((link) => link !== undefined);
  if (links.length === 0) return;
  markdown.appendMarkdown('\n\n');
  appendPlain(markdown, vscode.l10n.t('Failed at'));
  markdown.appendMarkdown(` ${links.join(' · ')}`);
}

function linkTo(folder: vscode.WorkspaceFolder, frame: Frame): string | undefined {
  const uri = uriInside(folder, frame.path)?.with({ fragment: `L${frame.line}` });
  if (uri === undefined) return undefined;
  const label = `${frame.path}:${frame.line}`.replace(/[\\`*_{}[\]()<>#+\-.!~|&\n]/g, '\\$&');
  // A fragment is kept from encoding, so that VS Code reads the line in it.
  return `[${label}](${uri.with({ fragment: '' }).toString()}#L${frame.line})`;
}
