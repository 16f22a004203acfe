import * as vscode from 'vscode';
import type { StackFrame } from '../../domain/outcome';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { appendPart } from '../shell/draw';
import type { CandidateTests, ListedTest } from './candidateTests';
import { goldenRedactionOf, type GoldenRedaction } from './goldenRedaction';
import { testHoverParts } from './testHoverParts';
import { uriInside } from './testMessages';

/**
 * The results of a test on both sides, in the hover of its definition: outcomes, durations, the
 * failure and its place in R.
 */
export class TestHover implements vscode.Disposable {
  private readonly subscription: vscode.Disposable;

  constructor(open: InstanceSource & Revealing & LatestVerdict, tests: CandidateTests) {
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
        const text =
          test === undefined ? undefined : hoverOf(open, test, await goldenRedactionOf(open));
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

function hoverOf(
  open: InstanceSource & LatestVerdict,
  test: ListedTest,
  shown: GoldenRedaction,
): vscode.MarkdownString | undefined {
  const { folder } = open;
  const parts = testHoverParts({
    test,
    known: open.casesOf(test.id),
    shown: (each) => shown.both(each),
    isInside: (path) => uriInside(folder, path) !== undefined,
  });
  if (parts === undefined) return undefined;
  const markdown = new vscode.MarkdownString();
  for (const part of parts) {
    if ('places' in part) {
      const links = part.places.flatMap((frame) => linkTo(folder, frame) ?? []);
      markdown.appendMarkdown(` ${links.join(' · ')}`);
    } else appendPart(markdown, part);
  }
  return markdown;
}

function linkTo(folder: vscode.WorkspaceFolder, frame: StackFrame): string | undefined {
  const uri = uriInside(folder, frame.path)?.with({ fragment: `L${frame.line}` });
  if (uri === undefined) return undefined;
  const label = `${frame.path}:${frame.line}`.replace(/[\\`*_{}[\]()<>#+\-.!~|&\n]/g, '\\$&');
  // The fragment must stay unencoded, so that VS Code reads the line from it.
  return `[${label}](${uri.with({ fragment: '' }).toString()}#L${frame.line})`;
}
