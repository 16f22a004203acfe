import { isScope, isTestId } from '../../domain/testId';
import * as vscode from 'vscode';
import type { CandidateTests } from './candidateTests';
import { HumanError } from '../../domain/work';
import { InlineResults } from './inlineResults';
import { inlineCommandIds } from '../shell/names';
import type { InstanceSource, LatestVerdict, Revealing } from '../instance/instanceRoles';
import { openOutputs, showOutputs } from './showOutputs';
import { TestHover } from './testHover';
import { TestLenses } from './testLenses';
import { TestProblems } from './testProblems';
import type { TestsUnderWay } from './testsUnderWay';

/** Runs one test; the Testing view implements it. */
interface RunsTests {
  /** Runs one test with the profile of that name; resolves when the run has ended. */
  runTest(how: 'reproduce' | 'base' | 'fixed' | 'debug', test: string): Promise<void>;
}

type InlineCommand = (typeof inlineCommandIds)[keyof typeof inlineCommandIds];

/** Everything that is shown beside the tests in an editor, and the commands about one test. */
export class Inline implements vscode.Disposable {
  private readonly subscriptions: readonly vscode.Disposable[];

  /** @param outputChanged fires for documents of outputs that VS Code must read again */
  constructor(
    private readonly open: LatestVerdict & InstanceSource & Revealing,
    private readonly tests: CandidateTests,
    underWay: TestsUnderWay,
    private readonly testing: RunsTests,
    outputChanged: (uri: vscode.Uri) => void,
  ) {
    this.subscriptions = [
      new InlineResults(open, tests, underWay),
      new TestHover(open, tests),
      new TestLenses(open, tests, underWay),
      new TestProblems(open, tests),
      open.onDidChange(() => openOutputs().forEach(outputChanged)),
    ];
  }

  /**
   * @param about id of a test, or its row in the Testing view; the test at the cursor if absent
   * @throws HumanError when there is no such test
   */
  async run(command: InlineCommand, about: unknown): Promise<void> {
    const test = idOf(about) ?? this.atCursor();
    if (command === inlineCommandIds.showOutputs) return showOutputs(this.open, test);
    if (test === undefined) {
      throw new HumanError(
        vscode.l10n.t('No added or changed test at the cursor'),
        vscode.l10n.t('Place the cursor in a test that you added or changed'),
      );
    }
    switch (command) {
      case inlineCommandIds.reproduce:
        return this.testing.runTest('reproduce', test);
      case inlineCommandIds.runOnR:
        return this.testing.runTest('base', test);
      case inlineCommandIds.runOnFixed:
        return this.testing.runTest('fixed', test);
      case inlineCommandIds.debugOnR:
        return this.testing.runTest('debug', test);
    }
  }

  private atCursor(): string | undefined {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) return undefined;
    const line = editor.selection.active.line + 1;
    return this.tests
      .list()
      .find((file) => file.uri.toString() === editor.document.uri.toString())
      ?.tests.find(({ range }) => range.startLine <= line && line <= range.endLine)?.id;
  }

  dispose(): void {
    for (const each of this.subscriptions) each.dispose();
  }
}

/** Id of the test of a lens or a row; undefined for the row of a file or class. */
function idOf(about: unknown): string | undefined {
  const id = typeof about === 'object' && about !== null && 'id' in about ? about.id : about;
  return typeof id === 'string' && isTestId(id) && !isScope(id) ? id : undefined;
}
